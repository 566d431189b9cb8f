"""Detect speech by its quotation marks, also across lines and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum

from lethe_app.ui.transcript.markdown.spans import LINE_BREAK, TextKind, TextSpan, merge_spans

MAX_QUOTE_SPANS = 80
"""Number of spans searched for the end of a quotation."""
MAX_QUOTATION_MARKS = 800
"""Maximum number of quotation marks in a paragraph; in one with more, speech is not detected."""

_MARKS = re.compile(r'["“”„«»「」\u2028]')
_CLOSERS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」"}


class QuotationEnd(Enum):
    """Where a quotation ends, seen from its start."""

    SAME_LINE = "on its own line"
    LATER_LINE = "on a later line"
    OPEN = "not in this paragraph, but nothing speaks against a later one"
    NONE = "an action or another quotation comes first"


def mark_speech(
    spans: Sequence[TextSpan], closers: str = "", *, continues_later: bool = False
) -> tuple[tuple[TextSpan, ...], str]:
    """Mark the speech in the spans of a paragraph; return them with the marks that would close a quotation still open at the
    end.

    `closers` ends a quotation that was opened in an earlier paragraph and is known to end; `continues_later` says that one left
    open here ends in a later paragraph. A quotation that is never closed ends with its line, or where an action begins, because
    its end may not be generated yet, or was forgotten.
    """
    marks = sum(len(_MARKS.findall(span.text)) for span in spans)
    if not (closers or marks) or marks > MAX_QUOTATION_MARKS:
        return tuple(spans), ""
    reader = _Reader(spans, closers, continues_later=continues_later)
    return tuple(merge_spans(reader.split_spans())), reader.open_closers


def unmark_speech(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Reset the voices of spans to what they were before speech was detected."""
    return merge_spans(replace(span, text_kind=TextKind.ACTION if span.italic else TextKind.NARRATION) for span in spans)


def find_quote_end(
    closers: str, spans: Iterable[TextSpan], previous_character: str = "", *, is_own_line: bool = False
) -> QuotationEnd:
    """Find where the quotation that `closers` end is closed in `spans`; `previous_character` precedes them."""
    has_action = False
    for span in spans:
        if span.code:
            # Code counts as a letter, so that a straight mark right behind it closes a quotation.
            previous_character = "x"
            continue
        has_action = has_action or span.text_kind is TextKind.ACTION
        for match in _MARKS.finditer(span.text):
            at, mark = match.start(), match.group()
            if mark == LINE_BREAK:
                is_own_line = False
            elif is_own_line and mark in closers:
                return QuotationEnd.SAME_LINE
            elif not is_own_line:
                is_end = mark in closers and not _is_opening_mark(span.text[at - 1] if at else previous_character, mark)
                return QuotationEnd.LATER_LINE if is_end and not has_action else QuotationEnd.NONE
            if mark == LINE_BREAK and has_action:
                return QuotationEnd.NONE
        previous_character = span.text[-1:]
    return QuotationEnd.NONE if has_action else QuotationEnd.OPEN


def _is_opening_mark(previous_character: str, mark: str) -> bool:
    """Return whether a straight quotation mark opens a quotation here, because a space or nothing precedes it."""
    return mark == '"' and (not previous_character or previous_character.isspace())


class _Reader:
    """Splits the spans of one paragraph at quotation marks."""

    def __init__(self, spans: Sequence[TextSpan], closers: str, *, continues_later: bool) -> None:
        self._spans, self._closers, self._continues_later = spans, closers, continues_later
        self._quote_end = QuotationEnd.LATER_LINE if closers else QuotationEnd.NONE
        self._previous_character = ""
        self.open_closers = ""

    def split_spans(self) -> Iterator[TextSpan]:
        for number, span in enumerate(self._spans):
            if span.code:
                yield span
            else:
                if span.text_kind is TextKind.ACTION and self._quote_end is not QuotationEnd.SAME_LINE:
                    self._closers = ""
                yield from self._split_span(number, span)
            self._previous_character = span.text[-1:]

    def _split_span(self, number: int, span: TextSpan) -> Iterator[TextSpan]:
        start = 0
        for match in _MARKS.finditer(span.text):
            at, mark = match.start(), match.group()
            if self._closers and self._is_quote_end(mark):
                end = at if mark == LINE_BREAK else at + 1
                yield replace(span, text=span.text[start:end], text_kind=TextKind.SPEECH)
                start, self._closers = end, ""
            # A mark right behind a letter or digit opens no quotation; it may stand for inches.
            elif (
                not self._closers and mark in _CLOSERS and not (span.text[at - 1] if at else self._previous_character).isalnum()
            ):
                yield replace(span, text=span.text[start:at])
                start = at
                self._open_quote(mark, span, at, number)
        yield replace(span, text=span.text[start:], text_kind=TextKind.SPEECH if self._closers else span.text_kind)

    def _is_quote_end(self, mark: str) -> bool:
        return self._quote_end is not QuotationEnd.LATER_LINE if mark == LINE_BREAK else mark in self._closers

    def _open_quote(self, mark: str, span: TextSpan, at: int, number: int) -> None:
        self._closers = _CLOSERS[mark]
        rest = [replace(span, text=span.text[at + 1 :]), *self._spans[number + 1 : number + MAX_QUOTE_SPANS]]
        self._quote_end = find_quote_end(self._closers, rest, mark, is_own_line=True)
        self.open_closers = self._closers if self._quote_end is QuotationEnd.OPEN else ""
        if self._quote_end is QuotationEnd.OPEN and self._continues_later:
            self._quote_end = QuotationEnd.LATER_LINE
