"""Said on Monday, recalled on Friday, with the reason; forgotten is forgotten; small talk reminds of nothing."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.domain.passage import PassageKind
from lethe_app.retrieval import evidence, render
from lethe_app.retrieval.rank import Found
from lethe_app.retrieval.recall import Recall
from lethe_app.storage.database import Database
from lethe_app.storage.passages import Passages
from tests.retrieval.conftest import embed

MONDAY = datetime(2026, 5, 4, 20, 0, tzinfo=UTC)
FRIDAY = MONDAY + timedelta(days=4)
TALKS = {
    "harbour": ("I bought a small boat in the harbour.", "Tomas bought a boat.", MONDAY - timedelta(days=40)),
    "cat": ("My cat Whiskers is afraid of thunder.", "Tomas has a cat called Whiskers.", MONDAY),
    "work": ("The meeting with my boss went badly.", "Tomas had a bad meeting with his boss.", MONDAY - timedelta(days=3)),
    "garden": ("We planted roses and tomatoes together.", "Tomas planted roses.", MONDAY - timedelta(days=90)),
}


async def lived(recall: Recall, *, meaning: bool = True) -> dict[str, UUID]:
    """A few conversations of one persona."""
    sessions = {name: uuid4() for name in TALKS}
    for name, (line, fact, when) in TALKS.items():
        said = render.message("mara", sessions[name], uuid4(), 0, "Tomas", line, when)
        await recall.keep(said + render.fact("mara", sessions[name], uuid4(), fact, when))
    while meaning and await recall.catch_up():
        pass
    return sessions


def sources(found: Found) -> list[UUID]:
    return [hit.source for hit in found.hits]


@pytest.fixture(params=["words and meaning", "words alone"])
def recall(request: pytest.FixtureRequest, passages: Passages) -> Recall:
    return Recall(passages, embed, "toy") if request.param == "words and meaning" else Recall(passages)


async def test_what_was_said_on_monday_is_found_on_friday_with_its_reason(recall: Recall, passages: Passages):
    sessions = await lived(recall)

    found = await recall.search("mara", "What is my cat called?", at=FRIDAY)

    best = found.hits[0]
    assert best.source == sessions["cat"]
    lead = (await passages.read([best.leads[0].passage]))[best.leads[0].passage]
    assert "cat" in lead.text
    assert "cat" in best.leads[0].words
    assert best.reasons[0].part > 0
    assert (await passages.read(found.lines[:1]))[found.lines[0]].text == 'Tomas said, "My cat Whiskers is afraid of thunder."'


async def test_another_word_of_the_same_meaning_finds_it_too(passages: Passages):
    recall = Recall(passages, embed, "toy")
    sessions = await lived(recall)

    assert sources(await recall.search("mara", "Where is the vessel?", at=FRIDAY))[0] == sessions["harbour"]


async def test_time_words_lead_to_their_time(recall: Recall):
    sessions = await lived(recall)

    found = await recall.search("mara", "What did I tell you on 1 May 2026?", at=FRIDAY)

    assert found.hits[0].source == sessions["work"]
    assert found.hits[0].time_words == "1 May 2026"
    assert found.hits[0].reasons[0].name == "date"
    assert sources(await recall.search("mara", "Do you recall when we first met?", at=FRIDAY))[0] == sessions["garden"]


async def test_the_future_keeps_silent_and_what_is_in_view_is_not_repeated(recall: Recall):
    sessions = await lived(recall)

    before = await recall.search("mara", "cat Whiskers", at=MONDAY - timedelta(days=1))
    without = await recall.search("mara", "cat Whiskers", at=FRIDAY, without=[sessions["cat"]])

    assert sessions["cat"] not in sources(before)
    assert sessions["cat"] not in sources(without)


async def test_small_talk_brings_up_nothing(recall: Recall):
    await lived(recall)

    for text in ("ok", "haha", "…", "", "and then?"):
        assert (await recall.search("mara", text, at=FRIDAY)).brought_up(3) == ()


async def test_one_persona_does_not_know_what_another_does(recall: Recall):
    await lived(recall)

    assert await recall.search("tom", "cat Whiskers", at=FRIDAY) == Found()


async def test_forgotten_is_forgotten_also_after_a_restart(recall: Recall, passages: Passages):
    sessions = await lived(recall)

    assert await recall.forget(source=sessions["cat"]) == 2

    for memory in (recall, Recall(passages, embed, "toy")):
        found = await memory.search("mara", "cat Whiskers", at=FRIDAY)
        assert sessions["cat"] not in sources(found)


async def test_nothing_is_lost_when_all_that_is_in_memory_goes(recall: Recall):
    await lived(recall)
    before = await recall.search("mara", "roses in the harbour", at=FRIDAY)

    recall.reload()

    assert await recall.search("mara", "roses in the harbour", at=FRIDAY) == before


async def test_before_its_meaning_is_known_words_find_a_passage(passages: Passages):
    recall = Recall(passages, embed, "toy")
    sessions = await lived(recall, meaning=False)

    assert sources(await recall.search("mara", "cat Whiskers", at=FRIDAY))[0] == sessions["cat"]


async def test_a_memory_stands_for_itself(recall: Recall):
    guid = uuid4()
    await recall.keep(render.memory(PassageKind.MEMORY, "mara", guid, "Lighthouse", "It blinks every nine seconds.", MONDAY))
    await recall.catch_up()

    assert sources(await recall.search("mara", "How often does the lighthouse blink?", at=FRIDAY)) == [guid]


STEPS = st.lists(st.tuples(st.sampled_from(["keep", "forget", "learn", "reload"]), st.integers(0, 3)), max_size=25)


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_memory_and_storage_agree_after_any_sequence(steps: list[tuple[str, int]]):
    async def run(folder: str) -> None:
        database = await Database.open(Path(folder) / "lethe.sqlite3")
        passages = Passages(database)
        recall, sessions = Recall(passages, embed, "toy"), [uuid4() for _ in range(4)]
        for deed, which in steps:
            if deed == "keep":
                await recall.keep(render.fact("mara", sessions[which], uuid4(), f"word{which} {len(steps)}", MONDAY))
            elif deed == "forget":
                await recall.forget(source=sessions[which])
            elif deed == "learn":
                await recall.catch_up()
            else:
                recall.reload()
        for text in ("word1", "word2 word3"):
            mine = await recall.search("mara", text, at=FRIDAY)
            fresh = await Recall(passages, embed, "toy").search("mara", text, at=FRIDAY)
            scores = {hit.source: pytest.approx(hit.score, abs=1e-3) for hit in fresh.hits}
            assert {hit.source: hit.score for hit in mine.hits} == scores
        await database.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder))


async def test_among_very_many_only_the_promising_are_weighed(passages: Passages, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evidence, "ALL_UP_TO", 5)
    monkeypatch.setattr(evidence, "NEAREST", 4)
    monkeypatch.setattr(evidence, "WORDIEST", 4)
    recall = Recall(passages, embed, "toy", exact_up_to=3)
    sessions = await lived(recall)
    for number in range(30):
        await recall.keep(render.fact("mara", uuid4(), uuid4(), f"filler{number} nothing{number}", MONDAY))
    while await recall.catch_up():
        pass

    found = await recall.search("mara", "Is the cat Whiskers afraid?", at=FRIDAY)

    assert found.hits[0].source == sessions["cat"]
    assert len(found.hits) <= 8
