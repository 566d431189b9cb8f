"""Finds the speech in a paragraph by its quotation marks, also where it goes on over lines and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum

from lethe_app.ui.transcript.markdown.spans import LINE_BREAK, TextSpan, Voice, merged

REACH_SPANS = 80
"""Spans in which the end of a quotation is looked for."""
MARKS_OF_SPEECH = 800
"""Quotation marks of one paragraph up to which speech is told from narration."""

_MARKS = re.compile(r'["“”„«»「」\u2028]')
_CLOSERS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」"}


class End(Enum):
    """Where a quotation ends, as seen from where it begins."""

    HERE = "on its own line"
    LATER = "on a later line"
    OPEN = "not in this paragraph, but nothing speaks against a later one"
    NOWHERE = "an action or another quotation comes first"


def voiced(spans: Sequence[TextSpan], closers: str = "", *, goes_on: bool = False) -> tuple[tuple[TextSpan, ...], str]:
    """The spans of a paragraph with its speech marked, and what would close a quotation that is still open behind it.

    `closers` ends a quotation that was begun before and is known to end; `goes_on` says that one left open here ends later.
    A quotation that is never closed ends with its line, or where an action begins: the mark may be yet to come, or forgotten.
    """
    marks = sum(len(_MARKS.findall(span.text)) for span in spans)
    if not (closers or marks) or marks > MARKS_OF_SPEECH:
        return tuple(spans), ""
    reader = _Reader(spans, closers, goes_on=goes_on)
    return tuple(merged(reader.read())), reader.left_open


def unvoiced(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """The spans as they were before speech was found in them."""
    return merged(replace(span, voice=Voice.ACTION if span.italic else Voice.NARRATION) for span in spans)


def end_of(closers: str, spans: Iterable[TextSpan], before: str = "", *, is_own_line: bool = False) -> End:
    """Where the quotation that `closers` end comes to its end in `spans`; `before` is the letter in front of them."""
    has_acted = False
    for span in spans:
        if span.code:
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
    """Whether a mark that looks the same at both ends begins something here, because nothing stands right before it."""
    return mark == '"' and (not before or before.isspace())


class _Reader:
    """Goes through the spans of one paragraph, in and out of quotations."""

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
