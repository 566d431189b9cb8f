"""Finds a verbatim quotation in a conversation, and the clauses around it."""

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
    """A clause of one message."""

    text: str
    asks: bool
    """Its sentence is a question."""


@dataclass(frozen=True)
class Quotation:
    """Where a quotation stands."""

    place: int
    """Index of its message."""
    clauses: tuple[Clause, ...]
    """The clauses it touches, each whole: a quotation that leaves out “I might” is read with it."""
    in_story: bool
    """It is said in character."""


@dataclass(frozen=True)
class _Token:
    word: str
    start: int
    end: int


def find_quotation(quote: str, place: int, parts: Sequence[MessageParts]) -> Quotation | None:
    """Return where the words of `quote` stand in this order, in the message at `place` or else in the one nearest to it.

    Case, accents, space, punctuation, quotation marks and apostrophes do not count; “...” stands for words left out within
    one message. What is said plainly goes before what is said in character. None where no message holds it.
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
    """Return the clauses of a message in their order."""
    return [Clause(text[start:end].strip(), asks) for start, end, asks in _clause_spans(text)]


def _tokens(text: str) -> list[_Token]:
    return [_Token(fold(found[0].translate(_APOSTROPHES)), found.start(), found.end()) for found in _TOKEN.finditer(text)]


def _spans(pieces: Sequence[Sequence[str]], tokens: Sequence[_Token]) -> list[tuple[int, int]]:
    """Character ranges of the pieces, one after the other; empty unless all are there."""
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
    """The stretches of `text` between the breaks, those without a word left out."""
    for found in breaks.finditer(text, start, end):
        if _TOKEN.search(text, start, found.start()):
            yield start, found.start()
        start = found.end()
    if _TOKEN.search(text, start, end):
        yield start, end
