"""Cutting a conversation into portions that fit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.brain.llm_schemas.chunking import (
    DATE_LINE_TOKENS,
    LINE_NUMBER_TOKENS,
    format_line,
    format_lines,
    pack_slices,
    split_into_portions,
)
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from tests.sweep import examples

LONG_AGO = datetime(2026, 5, 2, tzinfo=UTC)


def said(text: str, name: str = "Mira", days: int = 0) -> Utterance:
    return Utterance(uuid4(), Role.ASSISTANT, name, text, LONG_AGO + timedelta(days))


async def letters(texts: list[str]) -> list[int]:
    """A tokenizer for which four letters are a token."""
    return [len(text) // 4 + 1 for text in texts]


def test_lines_are_spelled_with_names_and_numbers():
    lines = [said("Good\n\nevening."), said("Hello.", "")]

    assert format_lines(lines) == "Mira: Good evening.\nCharacter: Hello."
    assert format_lines(lines, numbered=True) == "1. Mira: Good evening.\n2. Character: Hello."


def test_lines_stand_under_the_day_on_which_they_were_said():
    lines = [said("One."), said("Two."), said("Three.", days=2)]

    text = format_lines(lines, numbered=True, dated=True)

    assert text == "Saturday, 2 May 2026\n1. Mira: One.\n2. Mira: Two.\nMonday, 4 May 2026\n3. Mira: Three."


@given(st.lists(st.integers(1, 50)), st.integers(1, 60), st.integers(2, 6), st.integers(0, 3))
def test_parts_that_overlap_begin_with_the_end_of_the_part_before(lengths: list[int], room: int, most: int, overlap: int):
    slices = pack_slices(lengths, room, most, overlap)

    new = [
        place for part, before in zip(slices, [slice(0, 0), *slices], strict=False) for place in range(before.stop, part.stop)
    ]
    assert new == list(range(len(lengths)))
    for before, part in pairwise(slices):
        assert before.stop - overlap <= part.start <= before.stop < part.stop
        assert sum(lengths[part]) <= room or part.stop - part.start == 1
        assert part.stop - part.start <= most


@given(st.lists(st.integers(1, 50)), st.integers(1, 60), st.integers(0, 5))
def test_packing_keeps_order_and_all(lengths: list[int], room: int, most: int):
    slices = pack_slices(lengths, room, most)

    assert [length for part in slices for length in lengths[part]] == lengths
    for part in slices:
        assert sum(lengths[part]) <= room or len(lengths[part]) == 1
        assert 1 <= len(lengths[part]) <= (most or len(lengths))


@settings(max_examples=examples(50))
@given(st.lists(st.text(st.sampled_from("ab .日"), min_size=1, max_size=400), max_size=8), st.integers(32, 70))
async def test_nothing_is_left_out_and_everything_fits(texts: list[str], room: int):
    lines = [said(text, days=number // 3) for number, text in enumerate(texts)]

    portions = await split_into_portions(lines, room, letters)

    for part in portions:
        days = {line.time.date() for line in part}
        assert (
            sum(await letters(list(map(format_line, part)))) + LINE_NUMBER_TOKENS * len(part) + DATE_LINE_TOKENS * len(days)
            <= room
            or len(part) == 1
        )
    kept = {line.id: "" for line in lines}
    for part in portions:
        for piece in part:
            kept[piece.id] += piece.text
    for line in lines:
        assert "".join(kept[line.id].split()) == "".join(line.text.split())


async def test_a_long_line_is_cut_between_words():
    line = said("the river flows " * 40)

    portions = await split_into_portions([line], 46, letters)

    assert len(portions) > 3
    assert all(piece.id == line.id for part in portions for piece in part)
    assert {word for part in portions for piece in part for word in piece.text.split()} == {"the", "river", "flows"}
