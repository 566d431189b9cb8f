"""Finds where exactly a keyword stands in a text, for showing it; whether it stands there at all is decided in `keywords`."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from lethe_app.brain.expressions import read_expression
from lethe_app.brain.folding import KINDS, edges, fold
from lethe_app.brain.keywords import Keyword, matches

Span = tuple[int, int]
"""From this character up to but not including that one."""


def spots(keyword: Keyword, text: str) -> list[Span]:
    """Every place of `keyword` in `text`, from left to right; none for an expression that is broken or takes too long."""
    expression = read_expression(keyword.text.strip())
    if expression is not None:
        return matches(expression, text)
    wanted = fold(keyword.text, keep_case=keyword.case_sensitive)
    return _words(wanted, keyword, text) if wanted else []


def _words(wanted: str, keyword: Keyword, text: str) -> list[Span]:
    folded, origins = _traced(text, keep_case=keyword.case_sensitive)
    found: list[Span] = []
    start = folded.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not keyword.whole_word or _stands_alone(wanted, folded, start, end):
            found.append((origins[start][0], origins[end - 1][1]))
            start = folded.find(wanted, end)
        else:
            start = folded.find(wanted, start + 1)
    return found


def _stands_alone(wanted: str, folded: str, start: int, end: int) -> bool:
    front, back = edges(wanted)
    before = KINDS[folded[start - 1]] if start else KINDS[" "]
    after = KINDS[folded[end]] if end < len(folded) else KINDS[" "]
    return not (front and before is front) and not (back and after is back)


def _traced(text: str, *, keep_case: bool) -> tuple[str, list[Span]]:
    """The folded text, and for each of its characters where it comes from."""
    folded: list[str] = []
    origins: list[Span] = []
    for start, end in _clusters(text):
        piece = text[start:end]
        plain = fold(piece, keep_case=keep_case)
        if not plain and piece.isspace() and (not folded or folded[-1] != " "):
            plain = " "
        elif not plain:
            continue
        folded += plain
        origins += [(start, end)] * len(plain)
    return "".join(folded), origins


def _clusters(text: str) -> Iterator[Span]:
    """Each character with the marks that belong to it."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not unicodedata.category(text[place]).startswith("M"):
            yield start, place
            start = place
