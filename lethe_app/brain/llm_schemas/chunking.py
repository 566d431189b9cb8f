"""Cuts a conversation into portions that fit a small context, so that a model can read all of it, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.retrieval.query_terms import MONTHS
from lethe_app.retrieval.time_expressions import WEEKDAYS

DAY = 14
"""Tokens of a day above the lines said on it, at most."""
Count = Callable[[list[str]], Awaitable[list[int]]]
"""Tokens of each text."""
NUMBER = 4
"""Tokens that the number before a line and the break after it take at most."""


def spell(said: Utterance) -> str:
    """As the model reads it: name and words in one line."""
    name = said.name or ("User" if said.role is Role.USER else "Character")
    return f"{name}: {' '.join(said.text.split())}"


def spell_all(lines: Sequence[Utterance], *, numbered: bool = False, dated: bool = False) -> str:
    """One line each, with `numbered` counted from 1, with `dated` under the day on which they were said."""
    found: list[str] = []
    for place, said in enumerate(lines):
        if dated and (not place or said.time.date() != lines[place - 1].time.date()):
            found.append(spell_day(said))
        found.append(f"{place + 1}. {spell(said)}" if numbered else spell(said))
    return "\n".join(found)


def spell_day(said: Utterance) -> str:
    """Return the day of a line, such as “Monday, 23 November 2026”."""
    day = said.time.date()
    return f"{WEEKDAYS[day.weekday()].capitalize()}, {day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


async def portion(
    lines: Sequence[Utterance], room: int, count: Count, most: int = 0, overlap: int = 0
) -> list[list[Utterance]]:
    """Neighbours together, as many as fit into `room` tokens, and at most `most` unless that is 0; nothing is left out.

    Each portion begins with up to `overlap` lines of the one before, which count as well. A line that is too long by itself
    is cut between words into several of the same id. `room` must be at least 32; a portion's days are counted in it.
    """
    assert room >= 32, "no room for a line"
    room -= DAY
    pieces: list[Utterance] = []
    for said, length in zip(lines, await count(list(map(spell, lines))), strict=True):
        pieces += [said] if length + NUMBER <= room else await _cut(said, room, count)
    lengths = [length + NUMBER for length in await count(list(map(spell, pieces)))]
    days = [DAY if place and said.time.date() != pieces[place - 1].time.date() else 0 for place, said in enumerate(pieces)]
    sizes = [length + day for length, day in zip(lengths, days, strict=True)]
    return [pieces[part] for part in pack(sizes, room, most, overlap)]


def pack(lengths: Sequence[int], room: int, most: int = 0, overlap: int = 0) -> list[slice]:
    """Neighbours together as long as their lengths sum up to no more than `room`; what is longer stands alone.

    Up to `overlap` of the last ones are taken again into the next, where they leave room for what is new.
    """
    found: list[slice] = []
    start, used = 0, 0
    for place, length in enumerate(lengths):
        if place > start and (used + length > room or place - start == most):
            found.append(slice(start, place))
            again = range(max(start + 1, place - overlap), place)
            start = next((first for first in again if sum(lengths[first : place + 1]) <= room), place)
            used = sum(lengths[start:place])
        used += length
    return [*found, slice(start, len(lengths))] if lengths else []


async def _cut(said: Utterance, room: int, count: Count) -> list[Utterance]:
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
