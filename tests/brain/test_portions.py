"""Cutting a conversation into portions that fit."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.brain.portions import NUMBER, pack, portion, spell, spell_all
from lethe_app.brain.said import Said
from lethe_app.domain.chat import Role

LONG_AGO = datetime(2026, 5, 2, tzinfo=UTC)


def said(text: str, name: str = "Mira") -> Said:
    return Said(uuid4(), Role.ASSISTANT, name, text, LONG_AGO)


async def letters(texts: list[str]) -> list[int]:
    """A tokenizer for which four letters are a token."""
    return [len(text) // 4 + 1 for text in texts]


def test_lines_are_spelled_with_names_and_numbers():
    lines = [said("Good\n\nevening."), said("Hello.", "")]

    assert spell_all(lines) == "Mira: Good evening.\nCharacter: Hello."
    assert spell_all(lines, numbered=True) == "1. Mira: Good evening.\n2. Character: Hello."


@given(st.lists(st.integers(1, 50)), st.integers(1, 60), st.integers(0, 5))
def test_packing_keeps_order_and_all(lengths: list[int], room: int, most: int):
    slices = pack(lengths, room, most)

    assert [length for part in slices for length in lengths[part]] == lengths
    for part in slices:
        assert sum(lengths[part]) <= room or len(lengths[part]) == 1
        assert 1 <= len(lengths[part]) <= (most or len(lengths))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab .日"), min_size=1, max_size=400), max_size=8), st.integers(16, 60))
async def test_nothing_is_left_out_and_everything_fits(texts: list[str], room: int):
    lines = [said(text) for text in texts]

    portions = await portion(lines, room, letters)

    for part in portions:
        assert sum(await letters(list(map(spell, part)))) + NUMBER * len(part) <= room
    kept = {line.id: "" for line in lines}
    for part in portions:
        for piece in part:
            kept[piece.id] += piece.text
    for line in lines:
        assert "".join(kept[line.id].split()) == "".join(line.text.split())


async def test_a_long_line_is_cut_between_words():
    line = said("the river flows " * 40)

    portions = await portion([line], 32, letters)

    assert len(portions) > 3
    assert all(piece.id == line.id for part in portions for piece in part)
    assert {word for part in portions for piece in part for word in piece.text.split()} == {"the", "river", "flows"}
