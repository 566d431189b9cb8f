"""Whoever is there is named in every other sentence: their names lead nowhere, all others do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lethe_app.domain.passage import PassageKind
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.query_terms import parse_query, strip_addressing
from lethe_app.searchable_text import fold
from lethe_app.storage.index.passages import Passages
from tests.retrieval.conftest import embed, sure_hits

AT = datetime(2026, 6, 5, 18, tzinfo=UTC)
PRESENT = ("Mira", "Tomas")
BY = pytest.mark.parametrize("by", [embed, None], ids=["by meaning", "by words"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mira, are you at the harbour?", ("harbour",)),
        ("mira are you at the harbour", ("harbour",)),
        ("What did Caroline say about Mira's lighthouse?", ("caroline", "lighthouse")),
        ("MIRA! Tomas here.", ()),
        ("The miracle of Miranda", ("miracle", "miranda")),
    ],
)
def test_names_of_those_present_lead_nowhere_and_others_do(text: str, words: tuple[str, ...]):
    kept = tuple(word for word in parse_query(text, PRESENT).words if word != "say")

    assert kept == words


def test_a_thing_that_is_called_like_somebody_present_leads_somewhere():
    assert parse_query("Where did I plant the rose, Rose?", ["Rose"]).words == ("plant", "rose")
    assert "hope" in parse_query("I hope so", ["Hope"]).words


def test_any_part_of_a_long_name_is_a_name_but_no_character_of_a_script_without_spaces():
    assert parse_query("Captain Brannoch, the storm!", ["Old Brannoch"]).words == ("captain", "storm")
    assert parse_query("美咲、美しい海は?", ["美咲"]).words == ("美", "海")


def test_an_accent_more_or_less_is_the_same_name():
    assert parse_query("Zoe, the storm!", ["Zoë"]).words == ("storm",)


@pytest.mark.parametrize(
    ("name", "short", "is_short"),
    [("Melanie", "Mel", True), ("Deborah", "Debbie", True), ("Thomas", "Tommy", False), ("Tom", "Tommy", True),
     ("Melanie", "melon", False), ("Carol", "car", False), ("Joanna", "Jo", True), ("Melanie", "Mellow", False)],
)  # fmt: skip
def test_short_forms_of_names_are_names(name: str, short: str, is_short: bool):
    assert parse_query(f"the storm, {short}, passed", [name]).words == (
        ("storm", "passed") if is_short else ("storm", fold(short), "passed")
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Mira, are you there?", "are you there?"),
        ("Good morning, Mira!", "Good morning !"),
        ("I was with Mira at the harbour.", "I was with Mira at the harbour."),
        ("What of Mira's sister?", "What of Mira's sister?"),
        ("Mira?", "?"),
        ("Mira", "Mira"),
        ("Miranda?", "Miranda?"),
    ],
)
def test_whom_a_text_addresses_is_no_part_of_what_it_means(text: str, left: str):
    assert strip_addressing(text, PRESENT) == left


@given(st.text(), st.lists(st.text(), max_size=3))
def test_no_text_and_no_name_is_refused(text: str, present: list[str]):
    assert all(word == fold(word) for word in parse_query(text, present).words)
    assert parse_query(text, []) == parse_query(text)
    assert bool(strip_addressing(text, present)) == bool(text)


async def remembering(passages: Passages, by: Embed | None, *memories: str) -> tuple[MemoryIndex, list[UUID]]:
    recall, guids = MemoryIndex(passages, by, "toy" if by else ""), [uuid4() for _memory in memories]
    for guid, text in zip(guids, memories, strict=True):
        await recall.replace(
            [], passage_builder.memory_passages(PassageKind.MEMORY, "mira", guid, "", text, AT - timedelta(days=4))
        )
    while await recall.embed_pending():
        pass
    return recall, guids


@BY
@pytest.mark.parametrize("text", ["Mira, are you there?", "Mira?", "So good to see you, Mira!", "mira :)"])
async def test_a_lone_memory_that_names_who_is_there_is_not_brought_up_by_the_name(
    passages: Passages, by: Embed | None, text: str
):
    recall, _guids = await remembering(passages, by, "Mira is afraid of thunder.")

    assert sure_hits(await recall.search(["mira"], text, at=AT, participants=PRESENT)) == []


@BY
async def test_the_name_of_somebody_who_is_not_there_brings_a_memory_up(passages: Passages, by: Embed | None):
    recall, guids = await remembering(passages, by, "Mira is afraid of thunder.", "Brannoch is afraid of thunder.")

    found = await recall.search(["mira"], "Mira, is Brannoch afraid of thunder?", at=AT, participants=PRESENT)

    assert found.hits[0].source == guids[1]
    assert found.hits[0].is_sure


@BY
async def test_what_was_told_about_a_sister_is_found_whoever_is_asked(passages: Passages, by: Embed | None):
    reported = ("Tomas has a sister called Ana.", "Mira told Tomas about tides.", "Tomas mended the net for Mira.")
    recall, guids = await remembering(passages, by, *reported)

    for text in ("What did I tell you about my sister?", "Mira, what did I tell you about my sister?"):
        best, before = [(await recall.search(["mira"], text, at=AT, participants=some)).hits[0] for some in (PRESENT, ())]
        assert best.source == guids[0], text
        assert best.likelihood >= before.likelihood
