"""Attribution of every character of a rendered prompt to a prompt part, independent of what the chat template does.

The turns are rendered a second time with a marker in place of each content, which shows all text that the template itself
adds. The contents lie between those texts in the rendered prompt, whole or trimmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from lethe_app.domain.prompt import PromptPart, PromptSpan, PromptTurn, join_spans
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.layout import PlacedTurn

RenderTurns = Callable[[list[PromptTurn]], str]
_MARK = re.compile("\ue0f2(\\d+)\ue0f3")
"""Marker of private-use characters. Contents cannot be confused with it, because they are absent from the rendering it is
searched in.
"""


def slice_spans(spans: Sequence[PromptSpan], start: int, end: int) -> list[PromptSpan]:
    """Return the spans of the characters from `start` to `end`, without empty ones."""
    found: list[PromptSpan] = []
    position = 0
    for span in spans:
        text = span.text[max(start - position, 0) : max(end - position, 0)]
        position += len(span.text)
        if text:
            found.append(replace(span, text=text))
    return found


def rewrite_spans(spans: Sequence[PromptSpan], change: Callable[[str], str]) -> list[PromptSpan]:
    """Return the spans after `change`, which may only insert characters into the whole text, as the disarming of control
    tokens does.

    Disarming the whole text also catches a control token that is split across two parts.
    """
    before = join_spans(spans)
    after = change(before)
    if after == before:
        return list(spans)
    ends: list[int] = []
    position = 0
    for span in spans:
        for letter in span.text:
            while after[position] != letter:
                position += 1
            position += 1
        ends.append(position)
    ends[-1:] = [len(after)]
    starts = [0, *ends]
    return [replace(span, text=after[start:end]) for span, start, end in zip(spans, starts, ends, strict=False) if end > start]


def label_spans(text: str, placed_turns: Sequence[PlacedTurn], render: RenderTurns) -> tuple[PromptSpan, ...]:
    """Return `text` as spans. `render` rendered it from `placed_turns` and is called once more."""
    spans = _align_spans(text, placed_turns, render)
    spans = _search_contents(text, placed_turns) if spans is None else spans
    assert join_spans(spans) == text, "the spans must add up to the text"
    return tuple(spans)


def _align_spans(text: str, placed_turns: Sequence[PlacedTurn], render: RenderTurns) -> list[PromptSpan] | None:
    """Return spans found by rendering with markers; None if the template reacts to contents and its text differs around a
    marker.
    """
    marked = [_mark_turn(number, placed) for number, placed in enumerate(placed_turns)]
    try:
        pieces = _MARK.split(render([turn for turn, _content in marked]))
    except TemplateUnusable:
        return None
    spans = [PromptSpan(PromptPart.TEMPLATE, pieces[0])]
    position = len(pieces[0])
    if not text.startswith(pieces[0]):
        return None
    for number, following in zip(pieces[1::2], pieces[2::2], strict=True):
        content = marked[int(number)][1]
        found = _find_content(text, position, join_spans(content), following)
        if found is None:
            return None
        start, length = found
        spans += [*slice_spans(content, start, start + length), PromptSpan(PromptPart.TEMPLATE, following)]
        position += length + len(following)
    return [span for span in spans if span.text] if position == len(text) else None


def _find_content(text: str, position: int, content: str, following: str) -> tuple[int, int] | None:
    """Return start and length of the part of `content` that lies at `position` before `following`; None if not found."""
    left, right = len(content) - len(content.lstrip()), len(content.rstrip())
    # Templates insert contents as they are, or trimmed on both sides or on one.
    for start, end in ((0, len(content)), (left, right), (left, len(content)), (0, right)):
        length = end - start
        if length >= 0 and text.startswith(content[start:end], position) and text.startswith(following, position + length):
            return start, length
    end = text.find(following, position) if following else len(text)
    start = content.rfind(text[position:end]) if end >= position else -1  # a template cuts thinking off the front
    return (start, end - position) if start >= 0 else None


def _search_contents(text: str, placed_turns: Sequence[PlacedTurn]) -> list[PromptSpan]:
    """Return spans found by searching for each content after the previous one; whatever is not found counts as template
    text.
    """
    spans: list[PromptSpan] = []
    position = 0
    for placed_turn in placed_turns:
        content = join_spans(placed_turn.spans)
        content_text = content.strip()
        found = text.find(content_text, position) if content_text else -1
        if found >= 0:
            start = content.index(content_text)
            spans += [
                PromptSpan(PromptPart.TEMPLATE, text[position:found]),
                *slice_spans(placed_turn.spans, start, start + len(content_text)),
            ]
            position = found + len(content_text)
    spans.append(PromptSpan(PromptPart.TEMPLATE, text[position:]))
    return [span for span in spans if span.text]


def _mark_turn(number: int, placed: PlacedTurn) -> tuple[PromptTurn, list[PromptSpan]]:
    """Return the turn with a marker in its content, and the spans that the marker replaces: those within brackets, which a
    format that puts notes in brackets leaves as they are, else all of them.

    Blank contents stay, because templates treat them differently from text.
    """
    text = join_spans(placed.spans)
    stripped = text.strip()
    if not stripped:
        return placed.to_turn, []
    start, end = 0, len(text)
    if placed.role not in {"user", "assistant"} and len(stripped) > 1 and stripped[0] == "[" and stripped[-1] == "]":
        start, end = text.index("[") + 1, text.rindex("]")
    turn = PromptTurn(placed.role, f"{text[:start]}\ue0f2{number}\ue0f3{text[end:]}", placed.name)
    return turn, slice_spans(placed.spans, start, end)
