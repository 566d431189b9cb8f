"""Locate a verbatim quotation in a session, with the clauses around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lethe_app.brain.dialogue.dialogue_acts import MessageParts
from lethe_app.retrieval.query_terms import SPACELESS, fold

_TOKEN = re.compile(rf"{SPACELESS.pattern}|[^\W_]+(?:['’‘`´][^\W_]+)*")
_APOSTROPHES = str.maketrans("", "", "'’‘`´")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\.{3,}|…)\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|(?<=[。！？])|\n+")
_CLAUSE_BREAK = re.compile(
    r"[;:]\s+|\s+[-–—]+\s+|[、，]|,\s+(?=(?:but|so|because|and|or|which|who|where|although|though|then|while|whereas|aber|"
    r"weil|denn|und|wo|der|die|das|mais|car|parce|et|où|qui|pero|porque|y|donde|I|I'm|we|my|our|she|he|they)\b)"
    r"|\s+(?=(?:but|because|although|though|whereas|aber|weil|mais|parce que|pero|porque)\b)"
    r"|\s+(?:and|so)\s+(?=(?:I|I'm|I've|we|my|our|she|he|they)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Clause:
    """Clause of one message."""

    text: str
    asks: bool
    """True if its sentence is a question."""


@dataclass(frozen=True)
class Quotation:
    """Location of a quotation in a session."""

    place: int
    """Index of the message."""
    clauses: tuple[Clause, ...]
    """Clauses that the quotation touches, each complete, so that an omitted “I might” is considered."""
    in_story: bool
    """True if the text is in character."""


@dataclass(frozen=True)
class _Token:
    word: str
    start: int
    end: int


def find_quotation(quote: str, place: int, parts: Sequence[MessageParts]) -> Quotation | None:
    """Return the location of the words of `quote` in this order, preferring the message at `place` and then the nearest
    ones.

    Case, accents, white space, punctuation, quotation marks and apostrophes are ignored; “...” stands for omitted words
    within one message. Plain text is searched before in-character text. Return None if no message contains the quotation.
    """
    pieces = [words for piece in _ELLIPSIS.split(quote) if (words := [token.word for token in _tokens(piece)])]
    if not pieces:
        return None
    for number in sorted(range(len(parts)), key=lambda number: abs(number - place)):
        for text, in_story in ((parts[number].plain, False), (parts[number].in_character, True)):
            if spans := _spans(pieces, _tokens(text)):
                return Quotation(number, tuple(_touched(text, spans)), in_story)
    return None


def clauses_of(text: str) -> list[Clause]:
    """Return the clauses of a message, in order."""
    return [Clause(text[start:end].strip(), asks) for start, end, asks in _clause_spans(text)]


def _tokens(text: str) -> list[_Token]:
    return [_Token(fold(found[0].translate(_APOSTROPHES)), found.start(), found.end()) for found in _TOKEN.finditer(text)]


def _spans(pieces: Sequence[Sequence[str]], tokens: Sequence[_Token]) -> list[tuple[int, int]]:
    """Return the character ranges of consecutive pieces; empty unless all pieces occur."""
    words = [token.word for token in tokens]
    found: list[tuple[int, int]] = []
    start = 0
    for piece in pieces:
        last = len(words) - len(piece)
        begin = next((at for at in range(start, last + 1) if words[at : at + len(piece)] == piece), None)
        if begin is None:
            return []
        start = begin + len(piece)
        found.append((tokens[begin].start, tokens[start - 1].end))
    return found


def _touched(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Clause]:
    for start, end, asks in _clause_spans(text):
        if any(first < end and start < last for first, last in spans):
            yield Clause(text[start:end].strip(), asks)


def _clause_spans(text: str) -> Iterator[tuple[int, int, bool]]:
    for start, end in _between(_SENTENCE_END, text, 0, len(text)):
        asks = text[start:end].rstrip("\"'”’) ").endswith(("?", "？"))
        for first, last in _between(_CLAUSE_BREAK, text, start, end):
            yield first, last, asks


def _between(breaks: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of `text` between the breaks that contain at least one word."""
    for found in breaks.finditer(text, start, end):
        if _TOKEN.search(text, start, found.start()):
            yield start, found.start()
        start = found.end()
    if _TOKEN.search(text, start, end):
        yield start, end
