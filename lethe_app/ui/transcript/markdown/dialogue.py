"""Detect speech by its quotation marks, also across lines and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum

from lethe_app.ui.transcript.markdown.spans import LINE_BREAK, TextSpan, Voice, merged

REACH_SPANS = 80
"""Number of spans searched for the end of a quotation."""
MARKS_OF_SPEECH = 800
"""Maximum number of quotation marks in a paragraph; in one with more, speech is not detected."""

_MARKS = re.compile(r'["“”„«»「」\u2028]')
_CLOSERS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」"}


class End(Enum):
    """Where a quotation ends, seen from its start."""

    HERE = "on its own line"
    LATER = "on a later line"
    OPEN = "not in this paragraph, but nothing speaks against a later one"
    NOWHERE = "an action or another quotation comes first"


def voiced(spans: Sequence[TextSpan], closers: str = "", *, goes_on: bool = False) -> tuple[tuple[TextSpan, ...], str]:
    """Mark the speech in the spans of a paragraph; return them with the marks that would close a quotation still open at the
    end.

    `closers` ends a quotation that was opened in an earlier paragraph and is known to end; `goes_on` says that one left open
    here ends in a later paragraph. A quotation that is never closed ends with its line, or where an action begins, because
    its end may not be generated yet, or was forgotten.
    """
    marks = sum(len(_MARKS.findall(span.text)) for span in spans)
    if not (closers or marks) or marks > MARKS_OF_SPEECH:
        return tuple(spans), ""
    reader = _Reader(spans, closers, goes_on=goes_on)
    return tuple(merged(reader.read())), reader.left_open


def unvoiced(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Reset the voices of spans to what they were before speech was detected."""
    return merged(replace(span, voice=Voice.ACTION if span.italic else Voice.NARRATION) for span in spans)


def end_of(closers: str, spans: Iterable[TextSpan], before: str = "", *, is_own_line: bool = False) -> End:
    """Find where the quotation that `closers` end is closed in `spans`; `before` is the character in front of them."""
    has_acted = False
    for span in spans:
        if span.code:
            # Code counts as a letter, so that a straight mark right behind it closes a quotation.
            before = "x"
            continue
        has_acted = has_acted or span.voice is Voice.ACTION
        for found in _MARKS.finditer(span.text):
            at, mark = found.start(), found.group()
            if mark == LINE_BREAK:
                is_own_line = False
            elif is_own_line and mark in closers:
                return End.HERE
            elif not is_own_line:
                is_end = mark in closers and not _is_gap(span.text[at - 1] if at else before, mark)
                return End.LATER if is_end and not has_acted else End.NOWHERE
            if mark == LINE_BREAK and has_acted:
                return End.NOWHERE
        before = span.text[-1:]
    return End.NOWHERE if has_acted else End.OPEN


def _is_gap(before: str, mark: str) -> bool:
    """Return whether a straight quotation mark opens a quotation here, because a space or nothing precedes it."""
    return mark == '"' and (not before or before.isspace())


class _Reader:
    """Splits the spans of one paragraph at quotation marks."""

    def __init__(self, spans: Sequence[TextSpan], closers: str, *, goes_on: bool) -> None:
        self._spans, self._closers, self._goes_on = spans, closers, goes_on
        self._end = End.LATER if closers else End.NOWHERE
        self._before = ""
        self.left_open = ""

    def read(self) -> Iterator[TextSpan]:
        for number, span in enumerate(self._spans):
            if span.code:
                yield span
            else:
                if span.voice is Voice.ACTION and self._end is not End.HERE:
                    self._closers = ""
                yield from self._split(number, span)
            self._before = span.text[-1:]

    def _split(self, number: int, span: TextSpan) -> Iterator[TextSpan]:
        start = 0
        for found in _MARKS.finditer(span.text):
            at, mark = found.start(), found.group()
            if self._closers and self._is_over(mark):
                end = at if mark == LINE_BREAK else at + 1
                yield replace(span, text=span.text[start:end], voice=Voice.SPEECH)
                start, self._closers = end, ""
            # A mark right behind a letter or digit opens no quotation; it may stand for inches.
            elif not self._closers and mark in _CLOSERS and not (span.text[at - 1] if at else self._before).isalnum():
                yield replace(span, text=span.text[start:at])
                start = at
                self._begin(mark, span, at, number)
        yield replace(span, text=span.text[start:], voice=Voice.SPEECH if self._closers else span.voice)

    def _is_over(self, mark: str) -> bool:
        return self._end is not End.LATER if mark == LINE_BREAK else mark in self._closers

    def _begin(self, mark: str, span: TextSpan, at: int, number: int) -> None:
        self._closers = _CLOSERS[mark]
        rest = [replace(span, text=span.text[at + 1 :]), *self._spans[number + 1 : number + REACH_SPANS]]
        self._end = end_of(self._closers, rest, mark, is_own_line=True)
        self.left_open = self._closers if self._end is End.OPEN else ""
        if self._end is End.OPEN and self._goes_on:
            self._end = End.LATER
