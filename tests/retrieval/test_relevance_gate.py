"""Questions, greetings and old answers bring nothing up again; what the user stated does, in any script."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.assertions import MAX_WORDS, classify_line, is_evidence, is_request, split_query, strip_small_talk
from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.storage.index.passages import Passages
from tests.retrieval.conftest import embed, sure_hits

AT = datetime(2026, 6, 5, 18, tzinfo=UTC)
BY = pytest.mark.parametrize("by", [embed, None], ids=["by meaning", "by words"])


@pytest.mark.parametrize(
    ("text", "is_stated"),
    [
        ("What was my dog's name again?", False),
        ("hey mira, what was my dog called", False),
        ("I forgot what my sister does", False),
        ("remind me where i live", False),
        ("whats my cats name", False),
        ("how many dogs do i have", False),
        ("Good morning!", False),
        ("haha ok", False),
        ("That's great, thanks!", False),
        ("I moved last week", True),
        ("I have a dog, remember?", True),
        ("When I was ten, I lived in Porto", True),
        ("What I love is sailing", True),
        ("What a day! My boss fired me.", True),
        ("私の犬はポチです。", True),
        ("私の犬の名前は何ですか？", False),
    ],
)
def test_a_line_is_known_by_what_it_states(text: str, is_stated: bool):
    assert classify_line(text).has_statement is is_stated
    assert classify_line(f'Tomas said, "{text}"').has_statement is is_stated


def test_what_a_persona_says_of_the_user_is_no_evidence_and_what_it_says_of_itself_is():
    def hers(text: str, before: str = "") -> bool:
        return is_evidence(text, "Mira", {"Mira"}, before)

    assert hers("I grew up in the keeper's cottage.", "Where did you grow up?")
    assert not hers("Your dog is called Rex, of course!")
    assert not hers("That would be Rex the labrador!", "What was my dog called?")
    assert is_evidence("My dog is called Rex.", "Tomas", {"Mira"})
    assert not is_evidence("Did the labrador like Porto?", "Tomas", {"Mira"})
    assert is_evidence("Did the labrador like Porto?", "Tomas", ()), "people ask each other about what they know of"


def test_a_message_is_searched_for_without_its_courtesies():
    assert (
        strip_small_talk("Thanks, Mira! It was so hard to get sponsors. How are you?", ["Mira"])
        == "It was so hard to get sponsors."
    )
    assert strip_small_talk("Hey, how's it going?") == "Hey, how's it going?"
    assert strip_small_talk("Good night, Mira! See you tomorrow.", ["Mira"]) == ""
    assert strip_small_talk("Thank you so much for the lighthouse.") == "Thank you so much for the lighthouse."


@pytest.mark.parametrize(
    ("text", "is_asking"),
    [
        ("Where does my sister live?", True),
        ("We sailed to Porto. What was my boat called again?", True),
        ("I forgot what my sister does", True),
        ("We sailed to Porto. Have you been there?", False),
        ("We sailed to Porto.", False),
    ],
)
def test_a_message_that_asks_for_memory_is_a_request(text: str, is_asking: bool):
    assert is_request(text) is is_asking


def test_a_long_message_is_searched_for_in_parts_beginning_with_its_last_question():
    filler = " ".join(f"The lantern number {number} hangs over the quay." for number in range(MAX_WORDS))

    parts = split_query(f"{filler} What is my boat called? Thanks!")

    assert parts[0] == "What is my boat called?"
    assert 2 <= len(parts) <= 7
    assert split_query("What is my boat called?") == ["What is my boat called?"]


async def said(passages: Passages, by: Embed | None, *sessions: list[tuple[str, str]]) -> tuple[MemoryIndex, list[UUID]]:
    """Each session a week after the one before."""
    recall, guids = MemoryIndex(passages, by, "toy" if by else ""), [uuid4() for _session in sessions]
    for week, (guid, lines) in enumerate(zip(guids, sessions, strict=True)):
        for place, (name, text) in enumerate(lines):
            when = AT - timedelta(weeks=len(sessions) - week)
            await recall.replace([], passage_builder.message_passages("mira", guid, uuid4(), place, name, text, when))
    while await recall.embed_pending():
        pass
    return recall, guids


TOLD = [("Tomas", "My dog Rex is a labrador, he loves the harbour."), ("Mira", "A labrador by the sea, lovely.")]
ASKED = [("Tomas", "What breed is my dog Rex?"), ("Mira", "Rex is a labrador, your dog loves the harbour!")]


@BY
async def test_asked_again_what_was_told_comes_first_and_never_the_old_question_or_its_answer(
    passages: Passages, by: Embed | None
):
    recall, (reported, asked) = await said(passages, by, TOLD, ASKED)

    found = await recall.search(["mira"], "What breed is my dog Rex?", at=AT, participants=["Tomas", "Mira"], personas=["Mira"])

    assert [hit.source for hit in sure_hits(found)] == [reported]
    leads = await passages.read([lead.passage for lead in found.hits[0].leads])
    assert leads[found.hits[0].leads[0].passage].speaker == "Tomas"
    assert all(not hit.is_sure for hit in found.hits if hit.source == asked)


@BY
async def test_a_question_in_a_long_pasted_text_finds_its_answer(passages: Passages, by: Embed | None):
    recall, (reported,) = await said(passages, by, TOLD)
    pasted = " ".join(f"Paragraph {number} of the printed manual explains valves and gaskets." for number in range(12))

    found = await recall.search(["mira"], f"{pasted} By the way, what breed is my dog Rex?", at=AT)

    assert [hit.source for hit in sure_hits(found)] == [reported]


JAPANESE = {
    "dog": ["うちの犬の名前はポチです。柴犬を飼っています。", "ポチは公園で走るのが好きです。"],
    "sister": ["妹は大阪で看護師をしています。", "来月、妹が結婚します。"],
    "trip": ["夏に北海道へ旅行しました。", "札幌のラーメンがとても美味しかったです。"],
    "work": ["新しい会社で経理の仕事を始めました。", "上司は厳しいけど優しい人です。"],
    "piano": ["子供の頃からピアノを習っています。", "ショパンの曲を練習しています。"],
    "knee": ["先週、膝を怪我して病院に行きました。", "医者に走るなと言われました。"],
    "garden": ["庭にトマトと胡瓜を植えました。", "今年は雨が多いです。"],
    "movie": ["昨日、宮崎駿の映画を見ました。", "猫のバスが可愛かったです。"],
}


@BY
@pytest.mark.parametrize(
    ("text", "wanted"),
    [("柴犬の名前は何ですか？", "dog"), ("妹はどこで看護師をしていますか？", "sister"), ("北海道の旅行はいつ？", "trip"),
     ("ショパンを練習しているのは誰？", "piano"), ("トマトを植えたのはどこ？", "garden")],
)  # fmt: skip
async def test_a_japanese_question_finds_its_session(passages: Passages, by: Embed | None, text: str, wanted: str):
    recall, guids = await said(passages, by, *([("太郎", line) for line in lines] for lines in JAPANESE.values()))

    found = await recall.search(["mira"], text, at=AT)

    assert found.hits[0].source == guids[list(JAPANESE).index(wanted)]
    assert found.hits[0].is_sure


@BY
@pytest.mark.parametrize(
    "text", ["おはようございます！", "今日はいい天気ですね。", "ありがとう、また明日。", "元気ですか？", "そうですね。"]
)
async def test_japanese_small_talk_brings_up_nothing(passages: Passages, by: Embed | None, text: str):
    recall, _guids = await said(passages, by, *([("太郎", line) for line in lines] for lines in JAPANESE.values()))

    assert sure_hits(await recall.search(["mira"], text, at=AT)) == []
