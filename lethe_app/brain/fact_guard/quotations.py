"""Locate a verbatim quotation in a session, with the clauses around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from lethe_app.brain.reading.pieces import MessageParts
from lethe_app.language_tables import alternatives, languages_with, load_table
from lethe_app.searchable_text import SPACELESS, fold

_TOKEN = re.compile(rf"{SPACELESS.pattern}|[^\W_]+(?:['’‘`´][^\W_]+)*")
_APOSTROPHES = str.maketrans("", "", "'’‘`´")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\.{3,}|…)\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True)
class MessageClause:
    """Clause of one message."""

    text: str
    is_question: bool
    """True if its sentence is a question."""


@dataclass(frozen=True)
class Quotation:
    """Location of a quotation in a session."""

    message_index: int
    """Index of the message."""
    clauses: tuple[MessageClause, ...]
    """Clauses that the quotation touches, each complete, so that an omitted “I might” is considered."""
    in_story: bool
    """True if the text is in character."""


def find_quotation(quote: str, message_index: int, parts: Sequence[MessageParts]) -> Quotation | None:
    """Return the location of the words of `quote` in this order, preferring the message at `message_index` and then the nearest
    ones.

    Case, accents, white space, punctuation, quotation marks and apostrophes are ignored; “...” stands for omitted words
    within one message. Plain text is searched before in-character text. Return None if no message contains the quotation.
    """
    pieces = [words for piece in _ELLIPSIS.split(quote) if (words := _words(_TOKEN.finditer(piece)))]
    if not pieces:
        return None
    for number in sorted(range(len(parts)), key=lambda number: abs(number - message_index)):
        for text, in_story in ((parts[number].plain, False), (parts[number].in_character, True)):
            if spans := _find_spans(pieces, list(_TOKEN.finditer(text))):
                return Quotation(number, tuple(_overlapping_clauses(text, spans)), in_story)
    return None


def split_clauses(text: str) -> list[MessageClause]:
    """Return the clauses of a message, in order."""
    return [MessageClause(text[start:end].strip(), is_question) for start, end, is_question in _clause_spans(text)]


def _words(tokens: Iterable[re.Match[str]]) -> list[str]:
    return [fold(token[0].translate(_APOSTROPHES)) for token in tokens]


def _find_spans(pieces: Sequence[Sequence[str]], tokens: Sequence[re.Match[str]]) -> list[tuple[int, int]]:
    """Return the character ranges of consecutive pieces; empty unless all pieces occur."""
    words = _words(tokens)
    spans: list[tuple[int, int]] = []
    start = 0
    for piece in pieces:
        last = len(words) - len(piece)
        begin = next((offset for offset in range(start, last + 1) if words[offset : offset + len(piece)] == piece), None)
        if begin is None:
            return []
        start = begin + len(piece)
        spans.append((tokens[begin].start(), tokens[start - 1].end()))
    return spans


def _overlapping_clauses(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[MessageClause]:
    for start, end, is_question in _clause_spans(text):
        if any(first < end and start < last for first, last in spans):
            yield MessageClause(text[start:end].strip(), is_question)


def _clause_spans(text: str) -> Iterator[tuple[int, int, bool]]:
    for start, end in _split_spans(_SENTENCE_END, text, 0, len(text)):
        is_question = text[start:end].rstrip("\"'”’) ").endswith(("?", "？"))
        for first, last in _split_spans(_clause_break(), text, start, end):
            yield first, last, is_question


@cache
def _clause_break() -> re.Pattern[str]:
    """Return what separates clauses: some marks always, a comma or a space before the openings of any language's table."""
    tables = [load_table("claims", language) for language in languages_with("claims.toml")]
    comma, space, joined = (
        alternatives(entry for table in tables for entry in table.get(key, ()))
        for key in ("opening_after_comma", "opening", "subject_after_and")
    )
    return re.compile(
        rf"[;:]\s+|\s+[-–—]+\s+|[、，]|,\s+(?=(?:{comma})\b)|\s+(?=(?:{space})\b)|\s+(?:and|so)\s+(?=(?:{joined})\b)",
        re.IGNORECASE,
    )


def _split_spans(breaks: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of `text` between the breaks that contain at least one word."""
    for match in breaks.finditer(text, start, end):
        if _TOKEN.search(text, start, match.start()):
            yield start, match.start()
        start = match.end()
    if _TOKEN.search(text, start, end):
        yield start, end
