"""Split a session into portions that fit a small context, so that a model can read all of it in sequence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.retrieval.query_terms import MONTHS
from lethe_app.retrieval.time_expressions import WEEKDAYS

DAY = 14
"""Maximum number of tokens of a date line above the messages of a day."""
Count = Callable[[list[str]], Awaitable[list[int]]]
"""Function that returns the number of tokens of each text."""
NUMBER = 4
"""Maximum number of tokens of the line number and line break of each line."""


def spell(said: Utterance) -> str:
    """Return an utterance as one prompt line: name and text."""
    name = said.name or ("User" if said.role is Role.USER else "Character")
    return f"{name}: {' '.join(said.text.split())}"


def spell_all(lines: Sequence[Utterance], *, numbered: bool = False, dated: bool = False) -> str:
    """Return one prompt line per utterance; `numbered` counts from 1, `dated` adds a line before the first message of each
    day.
    """
    found: list[str] = []
    for place, said in enumerate(lines):
        if dated and (not place or said.time.date() != lines[place - 1].time.date()):
            found.append(spell_day(said))
        found.append(f"{place + 1}. {spell(said)}" if numbered else spell(said))
    return "\n".join(found)


def spell_day(said: Utterance) -> str:
    """Return the date of an utterance, such as “Monday, 23 November 2026”."""
    day = said.time.date()
    return f"{WEEKDAYS[day.weekday()].capitalize()}, {day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


async def portion(
    lines: Sequence[Utterance], room: int, count: Count, most: int = 0, overlap: int = 0
) -> list[list[Utterance]]:
    """Split utterances into portions of at most `room` tokens and at most `most` lines (0: unlimited), without omitting any.

    Each portion begins with up to `overlap` lines of the previous one, which count as well. A line that exceeds `room` by
    itself is cut between words into several utterances with the same id. `room` must be at least 32 and includes the date
    lines.
    """
    assert room >= 32, "no room for a line"
    # Every portion begins with a date line; later ones are counted with their messages.
    room -= DAY
    pieces: list[Utterance] = []
    for said, length in zip(lines, await count(list(map(spell, lines))), strict=True):
        pieces += [said] if length + NUMBER <= room else await _cut(said, room, count)
    lengths = [length + NUMBER for length in await count(list(map(spell, pieces)))]
    days = [DAY if place and said.time.date() != pieces[place - 1].time.date() else 0 for place, said in enumerate(pieces)]
    sizes = [length + day for length, day in zip(lengths, days, strict=True)]
    return [pieces[part] for part in pack(sizes, room, most, overlap)]


def pack(lengths: Sequence[int], room: int, most: int = 0, overlap: int = 0) -> list[slice]:
    """Return slices of adjacent items whose lengths sum up to at most `room`; a longer item is a slice of its own.

    Each slice repeats up to `overlap` of the last items of the previous one, as far as they leave room for the next item.
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
    """Halve an utterance until every piece fits, at a space if possible, otherwise between characters."""
    text = " ".join(said.text.split())
    (length,) = await count([spell(replace(said, text=text))])
    if length + NUMBER <= room or len(text) < 2:
        return [replace(said, text=text)]
    middle = len(text) // 2
    space = text.rfind(" ", 1, middle + 1)
    place = space if space > 0 else middle
    first, second = (replace(said, text=part.strip()) for part in (text[:place], text[place:]))
    return [*await _cut(first, room, count), *await _cut(second, room, count)]
