"""Split a session into portions that fit a small context, so that a model can read all of it in sequence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from lethe_app.domain.clock import MONTHS, WEEKDAYS

DATE_LINE_TOKENS = 14
"""Maximum number of tokens of a date line above the messages of a day."""
CountTokens = Callable[[list[str]], Awaitable[list[int]]]
"""Function that returns the number of tokens of each text."""
LINE_NUMBER_TOKENS = 4
"""Maximum number of tokens of the line number and line break of each line."""


def format_line(utterance: Utterance) -> str:
    """Return an utterance as one prompt line: name and text."""
    name = utterance.name or ("User" if utterance.role is Role.USER else "Character")
    return f"{name}: {' '.join(utterance.text.split())}"


def format_lines(lines: Sequence[Utterance], *, numbered: bool = False, dated: bool = False) -> str:
    """Return one prompt line per utterance; `numbered` counts from 1, `dated` adds a line before the first message of each
    day.
    """
    rows: list[str] = []
    for index, utterance in enumerate(lines):
        if dated and (not index or utterance.time.date() != lines[index - 1].time.date()):
            rows.append(format_date_line(utterance))
        rows.append(f"{index + 1}. {format_line(utterance)}" if numbered else format_line(utterance))
    return "\n".join(rows)


def format_date_line(utterance: Utterance) -> str:
    """Return the date of an utterance, such as “Monday, 23 November 2026”."""
    day = utterance.time.date()
    return f"{WEEKDAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]} {day.year}"


async def split_into_portions(
    lines: Sequence[Utterance], token_limit: int, count: CountTokens, max_lines: int = 0, overlap: int = 0
) -> list[list[Utterance]]:
    """Split utterances into portions of at most `token_limit` tokens and at most `max_lines` lines (0: unlimited), without
    omitting any.

    Each portion begins with up to `overlap` lines of the previous one, which count as well. A line that exceeds
    `token_limit` by itself is cut, between words if possible, into several utterances with the same id. `token_limit` must
    be at least 32 and includes the date lines.
    """
    assert token_limit >= 32, "a line would not fit"
    # Every portion begins with a date line; later ones are counted with their messages.
    token_limit -= DATE_LINE_TOKENS
    utterances: list[Utterance] = []
    for utterance, length in zip(lines, await count(list(map(format_line, lines))), strict=True):
        utterances += (
            [utterance] if length + LINE_NUMBER_TOKENS <= token_limit else await _split_utterance(utterance, token_limit, count)
        )
    lengths = [length + LINE_NUMBER_TOKENS for length in await count(list(map(format_line, utterances)))]
    days = [
        DATE_LINE_TOKENS if index and utterance.time.date() != utterances[index - 1].time.date() else 0
        for index, utterance in enumerate(utterances)
    ]
    sizes = [length + day for length, day in zip(lengths, days, strict=True)]
    return [utterances[part] for part in pack_slices(sizes, token_limit, max_lines, overlap)]


def pack_slices(lengths: Sequence[int], limit: int, max_items: int = 0, overlap: int = 0) -> list[slice]:
    """Return slices of adjacent items whose lengths add up to at most `limit`; a longer item is a slice of its own.

    Each slice repeats up to `overlap` of the last items of the previous one, as far as they leave room for the next item.
    """
    found: list[slice] = []
    start, used = 0, 0
    for index, length in enumerate(lengths):
        if index > start and (used + length > limit or index - start == max_items):
            found.append(slice(start, index))
            overlap_starts = range(max(start + 1, index - overlap), index)
            start = next((first for first in overlap_starts if sum(lengths[first : index + 1]) <= limit), index)
            used = sum(lengths[start:index])
        used += length
    return [*found, slice(start, len(lengths))] if lengths else []


async def _split_utterance(utterance: Utterance, token_limit: int, count: CountTokens) -> list[Utterance]:
    """Halve an utterance until every piece fits, at a space if possible, otherwise between characters."""
    text = " ".join(utterance.text.split())
    (length,) = await count([format_line(replace(utterance, text=text))])
    if length + LINE_NUMBER_TOKENS <= token_limit or len(text) < 2:
        return [replace(utterance, text=text)]
    middle = len(text) // 2
    space = text.rfind(" ", 1, middle + 1)
    position = space if space > 0 else middle
    first, second = (replace(utterance, text=part.strip()) for part in (text[:position], text[position:]))
    return [*await _split_utterance(first, token_limit, count), *await _split_utterance(second, token_limit, count)]
