"""Cuts a conversation into portions that fit a small context, so that a model can read all of it, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from lethe_app.brain.said import Said
from lethe_app.domain.chat import Role

Count = Callable[[list[str]], Awaitable[list[int]]]
"""Tokens of each text."""
NUMBER = 4
"""Tokens that the number before a line and the break after it take at most."""


def spell(said: Said) -> str:
    """As the model reads it: name and words in one line."""
    name = said.name or ("User" if said.role is Role.USER else "Character")
    return f"{name}: {' '.join(said.text.split())}"


def spell_all(lines: Sequence[Said], *, numbered: bool = False) -> str:
    """One line each, with `numbered` counted from 1."""
    return "\n".join(f"{number}. {spell(said)}" if numbered else spell(said) for number, said in enumerate(lines, 1))


async def portion(lines: Sequence[Said], room: int, count: Count, most: int = 0) -> list[list[Said]]:
    """Neighbours together, as many as fit into `room` tokens, and at most `most` unless that is 0; nothing is left out.

    A line that is too long by itself is cut between words into several of the same id. `room` must be at least 16.
    """
    assert room >= 16, "no room for a line"
    pieces: list[Said] = []
    for said, length in zip(lines, await count(list(map(spell, lines))), strict=True):
        pieces += [said] if length + NUMBER <= room else await _cut(said, room, count)
    lengths = [length + NUMBER for length in await count(list(map(spell, pieces)))]
    return [pieces[part] for part in pack(lengths, room, most)]


def pack(lengths: Sequence[int], room: int, most: int = 0) -> list[slice]:
    """Neighbours together as long as their lengths sum up to no more than `room`; what is longer stands alone."""
    found: list[slice] = []
    start, used = 0, 0
    for place, length in enumerate(lengths):
        if place > start and (used + length > room or place - start == most):
            found.append(slice(start, place))
            start, used = place, 0
        used += length
    return [*found, slice(start, len(lengths))] if lengths else []


async def _cut(said: Said, room: int, count: Count) -> list[Said]:
    """Halve until every piece fits; where there is no space to cut at, between letters."""
    text = " ".join(said.text.split())
    (length,) = await count([spell(replace(said, text=text))])
    if length + NUMBER <= room or len(text) < 2:
        return [replace(said, text=text)]
    middle = len(text) // 2
    space = text.rfind(" ", 1, middle + 1)
    place = space if space > 0 else middle
    first, second = (replace(said, text=part.strip()) for part in (text[:place], text[place:]))
    return [*await _cut(first, room, count), *await _cut(second, room, count)]
