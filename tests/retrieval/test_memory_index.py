"""Said on Monday, recalled on Friday, with the reason; forgotten is forgotten; small talk reminds of nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest

from lethe_app.domain.passage import PassageKind, TextEmbedding
from lethe_app.errors import ModelCrashed
from lethe_app.language_tables import load_table
from lethe_app.retrieval import candidates, passage_builder, term_statistics
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.ranking import RankedSources
from lethe_app.storage.database import Database
from lethe_app.storage.index.passages import Passages
from tests.retrieval.conftest import SIZE, embed, origins_of, sure_hits

MONDAY = datetime(2026, 5, 4, 20, 0, tzinfo=UTC)
FRIDAY = MONDAY + timedelta(days=4)
TALKS = {
    "harbour": ("I bought a small boat in the harbour.", "Tomas bought a boat.", MONDAY - timedelta(days=40)),
    "cat": ("My cat Whiskers is afraid of thunder.", "Tomas has a cat called Whiskers.", MONDAY),
    "work": ("The meeting with my boss went badly.", "Tomas had a bad meeting with his boss.", MONDAY - timedelta(days=3)),
    "garden": ("We planted roses and tomatoes together.", "Tomas planted roses.", MONDAY - timedelta(days=90)),
}


async def lived(recall: MemoryIndex, *, meaning: bool = True) -> dict[str, UUID]:
    """A few conversations of one persona."""
    sessions = {name: uuid4() for name in TALKS}
    for name, (line, fact, when) in TALKS.items():
        said = passage_builder.message_passages("mara", sessions[name], uuid4(), 0, "Tomas", line, when)
        await recall.replace([], said + passage_builder.fact_passages("mara", sessions[name], uuid4(), fact, when))
    while meaning and await recall.embed_pending():
        pass
    return sessions


def sources(found: RankedSources) -> list[UUID]:
    return [hit.source for hit in found.hits]


@pytest.fixture(params=["words and meaning", "words alone"])
def recall(request: pytest.FixtureRequest, passages: Passages) -> MemoryIndex:
    return MemoryIndex(passages, embed, "toy") if request.param == "words and meaning" else MemoryIndex(passages)


async def test_another_word_of_the_same_meaning_finds_it_too(passages: Passages):
    recall = MemoryIndex(passages, embed, "toy")
    sessions = await lived(recall)

    assert sources(await recall.search(["mara"], "Where is the vessel?", at=FRIDAY))[0] == sessions["harbour"]


@pytest.mark.parametrize(
    "vector", [b"", b"abc", np.zeros(3, np.float32).tobytes(), np.full(SIZE, np.nan, np.float32).tobytes()]
)
@pytest.mark.parametrize("large", [False, True])
async def test_one_unusable_vector_takes_no_search_down_and_is_made_again(
    passages: Passages, database: Database, vector: bytes, large: bool, monkeypatch: pytest.MonkeyPatch
):
    sessions = await lived(MemoryIndex(passages, embed, "toy"))
    await database.run(
        lambda connection: connection.execute(
            "UPDATE passage_vectors SET vector = ?, tokens = ? WHERE passage = 3", (vector, b"ab")
        )
    )
    if large:
        monkeypatch.setattr(candidates, "MAX_COMPLETE", 0)

    recall = MemoryIndex(passages, embed, "toy")
    found = sources(await recall.search(["mara"], "Where is the vessel?", at=FRIDAY))
    while await recall.embed_pending():
        pass
    stored = await passages.vectors("toy", [3])

    assert found[0] == sessions["harbour"]
    assert len(stored[3]) == SIZE * 4
    assert np.isfinite(np.frombuffer(stored[3], np.float32)).all()


async def test_time_words_lead_to_their_time(recall: MemoryIndex):
    sessions = await lived(recall)

    found = await recall.search(["mara"], "What did I tell you on 1 May 2026?", at=FRIDAY)

    assert found.hits[0].source == sessions["work"]
    assert found.hits[0].time_words == "1 May 2026"
    assert found.hits[0].reasons[0].name == "date"


async def test_the_future_keeps_silent_and_what_is_in_view_is_not_repeated(recall: MemoryIndex):
    sessions = await lived(recall)

    before = await recall.search(["mara"], "cat Whiskers", at=MONDAY - timedelta(days=1))
    without = await recall.search(["mara"], "cat Whiskers", at=FRIDAY, excluded=[sessions["cat"]])

    assert sessions["cat"] not in sources(before)
    assert sessions["cat"] not in sources(without)


async def test_small_talk_brings_up_nothing(recall: MemoryIndex):
    await lived(recall)

    for text in ("ok", "haha", "…", "", "and then?"):
        assert sure_hits(await recall.search(["mara"], text, at=FRIDAY)) == []


async def test_a_question_about_oneself_brings_up_what_says_all_its_telling_words(recall: MemoryIndex):
    await lived(recall)
    session = uuid4()
    await recall.replace(
        [], passage_builder.fact_passages("mara", session, uuid4(), "Tomas learns sign language on Thursdays.", FRIDAY)
    )
    while await recall.embed_pending():
        pass

    asked = await recall.search(["mara"], "what do i do on thursdays?", at=FRIDAY)

    assert [hit.source for hit in sure_hits(asked)] == [session]


async def test_one_persona_does_not_know_what_another_does(recall: MemoryIndex):
    await lived(recall)

    assert await recall.search(["tom"], "cat Whiskers", at=FRIDAY) == RankedSources()


async def test_nothing_is_lost_when_all_that_is_in_memory_goes(recall: MemoryIndex):
    await lived(recall)
    before = await recall.search(["mara"], "roses in the harbour", at=FRIDAY)

    recall.reload()

    assert await recall.search(["mara"], "roses in the harbour", at=FRIDAY) == before


async def test_before_its_meaning_is_known_words_find_a_passage(passages: Passages):
    recall = MemoryIndex(passages, embed, "toy")
    sessions = await lived(recall, meaning=False)

    assert sources(await recall.search(["mara"], "cat Whiskers", at=FRIDAY))[0] == sessions["cat"]


async def test_a_memory_stands_for_itself(recall: MemoryIndex):
    guid = uuid4()
    await recall.replace(
        [],
        passage_builder.memory_passages(
            PassageKind.MEMORY, "mara", guid, "Lighthouse", "It blinks every nine seconds.", MONDAY
        ),
    )
    await recall.embed_pending()

    assert sources(await recall.search(["mara"], "How often does the lighthouse blink?", at=FRIDAY)) == [guid]


async def test_a_memory_can_win_against_sessions(recall: MemoryIndex):
    sessions, guid = await lived(recall), uuid4()
    lighthouse = passage_builder.memory_passages(
        PassageKind.MEMORY, "mara", guid, "Cat", "My cat Whiskers is afraid of thunder.", MONDAY
    )
    own_fact = uuid4()
    await recall.replace(
        [],
        [*lighthouse, *passage_builder.fact_passages("mara", own_fact, own_fact, "Tomas sails a red boat named Gull.", MONDAY)],
    )
    while await recall.embed_pending():
        pass

    assert sources(await recall.search(["mara"], "Is the cat Whiskers afraid of thunder?", at=FRIDAY))[:2] == [
        guid,
        sessions["cat"],
    ]
    assert sources(await recall.search(["mara"], "What is the red boat named?", at=FRIDAY))[0] == own_fact


async def test_a_persona_keeps_the_worlds_it_is_bound_to(recall: MemoryIndex, passages: Passages):
    sessions, entry = await lived(recall), uuid4()
    reported = passage_builder.memory_passages(
        PassageKind.WORLD, "world:sea", entry, "Lighthouse", "It blinks every nine seconds.", MONDAY
    )
    before = await recall.search(["mara", "world:sea"], "How often does the lighthouse blink?", at=FRIDAY)
    await recall.replace([], reported)
    await recall.embed_pending()

    bound = await recall.search(["mara", "world:sea"], "How often does the lighthouse blink?", at=FRIDAY)
    alone = await recall.search(["mara"], "How often does the lighthouse blink?", at=FRIDAY)
    both = await recall.search(["world:sea", "mara"], "cat Whiskers", at=FRIDAY)

    assert sources(bound)[0] == entry
    assert entry not in sources(before) + sources(alone)
    assert sources(both)[0] == sessions["cat"]
    (origin,) = await origins_of(passages, "world:sea")
    await recall.replace([origin], [])
    assert entry not in sources(await recall.search(["mara", "world:sea"], "lighthouse", at=FRIDAY))


async def test_what_is_replaced_is_found_by_its_new_words_alone(recall: MemoryIndex, passages: Passages):
    session, message = uuid4(), uuid4()
    same = passage_builder.fact_passages("mara", session, message, "The harbour is closed.", MONDAY)
    await recall.replace([], [*same, *passage_builder.fact_passages("mara", session, message, "Gale warning tonight.", MONDAY)])
    await recall.embed_pending()
    await recall.search(["mara"], "gale", at=FRIDAY)

    await recall.replace(
        [message], [*same, *passage_builder.fact_passages("mara", session, message, "Calm weather tonight.", MONDAY)]
    )

    assert await recall.count_pending() == (1 if recall._embed else 0), "what stayed the same keeps its vector"
    await recall.embed_pending()
    found = (await recall.search(["mara"], "calm weather", at=FRIDAY)).hits[0]
    texts = {lead.text for lead in (await passages.read([lead.passage for lead in found.leads])).values()}
    assert texts == {"The harbour is closed.", "Calm weather tonight."}
    assert not [lead for lead in (await recall.search(["mara"], "gale", at=FRIDAY)).hits[0].leads if "gale" in lead.words]


async def test_the_embedder_comes_and_goes(passages: Passages):
    recall = MemoryIndex(passages)
    sessions = await lived(recall)
    assert await recall.count_pending() == 0
    assert not (await recall.search(["mara"], "vessel", at=FRIDAY)).by_meaning

    recall.set_embedder(embed, "toy")
    waiting = await recall.count_pending()
    while await recall.embed_pending():
        pass
    known = await recall.search(["mara"], "Where is the vessel?", at=FRIDAY)
    recall.set_embedder(None, "")
    words_alone = await recall.search(["mara"], "Where is the vessel?", at=FRIDAY)
    recall.set_embedder(embed, "another")
    unknown = await recall.search(["mara"], "Where is the vessel?", at=FRIDAY)

    assert waiting == 2 * len(TALKS)
    assert (known.by_meaning, words_alone.by_meaning, unknown.by_meaning) == (True, False, False)
    assert sources(known)[0] == sessions["harbour"]
    assert await recall.count_pending() == 2 * len(TALKS)
    await recall.close()


async def fail(_texts: Sequence[str]) -> list[TextEmbedding]:
    raise ModelCrashed("The embedding model ended.")


async def test_when_the_embedder_fails_words_find(passages: Passages):
    recall = MemoryIndex(passages, embed, "toy")
    sessions = await lived(recall)
    recall.set_embedder(fail, "toy")

    found = await recall.search(["mara"], "cat Whiskers", at=FRIDAY)

    assert sources(found)[0] == sessions["cat"]
    assert not found.by_meaning
    assert await recall.embed_query("cat") is None
    assert await recall.distances("cat", list(sessions.values())) == {}
    assert await recall.nearest_origins("mara", "cat", PassageKind.FACT, 3) == []


async def test_a_turn_embeds_its_message_once(passages: Passages):
    asked: list[str] = []

    async def counting(texts: Sequence[str]) -> list[TextEmbedding]:
        asked.extend(texts)
        return await embed(texts)

    recall = MemoryIndex(passages, embed, "toy")
    sessions = await lived(recall)
    guid = uuid4()
    await recall.replace(
        [], passage_builder.memory_passages(PassageKind.MEMORY, "mara", guid, "", "A boat waits in the harbour.", MONDAY)
    )
    await recall.embed_pending()
    recall.set_embedder(counting, "toy")

    meaning = await recall.embed_query("vessel")
    assert meaning is not None
    found = await recall.search(["mara"], "vessel", at=FRIDAY, embedding=meaning)
    distances = await recall.distances(meaning, [guid, uuid4()])

    measured = load_table("unrelated_texts")
    assert asked == ["vessel", *measured["queries"], *measured["passages"]], "besides what tells the scale of this embedder"
    assert sessions["harbour"] in sources(found)
    assert distances.keys() == {guid}


async def test_distances_leave_days_out(passages: Passages):
    recall = MemoryIndex(passages, embed, "toy")
    fact, memory, long = uuid4(), uuid4(), uuid4()
    await recall.replace([], passage_builder.fact_passages("mara", fact, fact, "boat", MONDAY))
    await recall.replace([], passage_builder.memory_passages(PassageKind.MEMORY, "mara", memory, "", "vessel", MONDAY))
    await recall.replace([], passage_builder.memory_passages(PassageKind.MEMORY, "mara", long, "", "cat", MONDAY))
    await recall.replace([], passage_builder.memory_passages(PassageKind.MEMORY, "mara", long, "", "boat cat", MONDAY))
    assert await recall.distances("boat", [fact]) == {}, "nothing is known of it yet"
    await recall.embed_pending()

    distances = await recall.distances("boat", [fact, memory, long])

    assert distances[fact] == pytest.approx(0, abs=1e-5)
    assert distances[memory] == pytest.approx(0, abs=1e-5)
    assert distances[long] == pytest.approx(1 - 1 / 2**0.5, abs=0.1), "the nearer of two passages counts"


async def test_the_nearest_facts_are_told_by_what_they_say_not_by_their_day(passages: Passages):
    recall = MemoryIndex(passages, embed, "toy")
    same, other, often = uuid4(), uuid4(), uuid4()
    text = "Tomas bought a boat"
    await recall.replace([], passage_builder.fact_passages("mara", same, same, text, MONDAY - timedelta(days=900)))
    await recall.replace([], passage_builder.fact_passages("mara", other, other, "Tomas sold a cat", FRIDAY))
    await recall.replace(
        [],
        [
            *passage_builder.fact_passages("mara", often, often, "boat", MONDAY),
            *passage_builder.fact_passages("mara", often, often, "bought", MONDAY),
        ],
    )
    await recall.replace([], passage_builder.message_passages("mara", uuid4(), uuid4(), 0, "Tomas", text, MONDAY))
    await recall.replace([], passage_builder.fact_passages("tom", uuid4(), uuid4(), text, MONDAY))
    await recall.embed_pending()

    near = await recall.nearest_origins("mara", text, PassageKind.FACT, 3)

    assert near[0][0] == same
    assert near[0][1] == pytest.approx(0, abs=1e-5)
    assert {origin for origin, _distance in near} == {same, other, often}
    assert [distance for _origin, distance in near] == sorted(distance for _origin, distance in near)
    assert len(await recall.nearest_origins("mara", text, PassageKind.FACT, 1)) == 1
    assert await recall.nearest_origins("mara", text, PassageKind.WORLD, 3) == []


@pytest.fixture
async def crowd(passages: Passages, monkeypatch: pytest.MonkeyPatch) -> tuple[MemoryIndex, dict[str, UUID]]:
    """The same life among so many other memories that not all of them can be weighed."""
    for module, name, value in (
        (candidates, "MAX_COMPLETE", 5),
        (term_statistics, "MAX_NEAREST", 4),
        (term_statistics, "MAX_WORDIEST", 4),
        (term_statistics, "MAX_IN_TIME", 2),
    ):
        monkeypatch.setattr(module, name, value)
    recall = MemoryIndex(passages, embed, "toy", exact_up_to=3)
    sessions = await lived(recall)
    for number in range(30):
        filler = passage_builder.fact_passages(
            "mara", uuid4(), uuid4(), f"filler{number} nothing{number}", MONDAY - timedelta(days=50 + number % 9)
        )
        await recall.replace([], filler)
    await recall.search(["mara"], "hello")
    while await recall.embed_pending():
        pass
    await recall.wait_until_idle()
    return recall, sessions


async def test_among_very_many_only_the_promising_are_weighed(crowd: tuple[MemoryIndex, dict[str, UUID]]):
    recall, sessions = crowd

    found = await recall.search(["mara"], "Is the cat Whiskers afraid?", at=FRIDAY)

    assert found.by_meaning
    assert found.hits[0].source == sessions["cat"]
    assert {"cat", "whiskers"} <= set(found.hits[0].leads[0].words)
    assert found.hits[0].leads[0].cosine > 0
    assert len(found.hits) <= 8


async def test_among_very_many_time_words_lead_to_their_time(crowd: tuple[MemoryIndex, dict[str, UUID]]):
    recall, sessions = crowd

    dated = await recall.search(["mara"], "What did I tell you on 1 May 2026?", at=FRIDAY)

    assert dated.hits[0].source == sessions["work"]


async def test_among_very_many_small_talk_brings_up_nothing(crowd: tuple[MemoryIndex, dict[str, UUID]]):
    recall, sessions = crowd

    for text in ("ok", "…", "", "and then?"):
        assert sure_hits(await recall.search(["mara"], text, at=FRIDAY)) == []
    assert sessions["cat"] not in sources(await recall.search(["mara"], "cat", at=FRIDAY, excluded=[sessions["cat"]]))
    before = await recall.search(["mara"], "cat", at=MONDAY - timedelta(days=1))
    assert sessions["cat"] not in sources(before)
