"""Attribution of every character of a rendered prompt to a prompt part, independent of what the chat template does.

The turns are rendered a second time with a marker in place of each content, which shows all text that the template itself
adds. The contents lie between those texts in the rendered prompt, whole or trimmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lethe_app.domain.prompt import PromptPart, PromptSpan, PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.layout import PlacedTurn

Spell = Callable[[list[PromptTurn]], str]
_MARK = re.compile("\ue0f2(\\d+)\ue0f3")
"""Marker of private-use characters. Contents cannot be confused with it, because they are absent from the rendering it is
searched in.
"""


def joined(spans: Sequence[PromptSpan]) -> str:
    """Return the concatenated text of the spans."""
    return "".join(span.text for span in spans)


def cut_out(spans: Sequence[PromptSpan], start: int, end: int) -> list[PromptSpan]:
    """Return the spans of the characters from `start` to `end`, without empty ones."""
    found: list[PromptSpan] = []
    place = 0
    for span in spans:
        text = span.text[max(start - place, 0) : max(end - place, 0)]
        place += len(span.text)
        if text:
            found.append(PromptSpan(span.part, text))
    return found


def rewritten(spans: Sequence[PromptSpan], change: Callable[[str], str]) -> list[PromptSpan]:
    """Return the spans after `change`, which may only insert characters into the whole text, as the disarming of control
    tokens does.

    Disarming the whole text also catches a control token that is split across two parts.
    """
    before = joined(spans)
    after = change(before)
    if after == before:
        return list(spans)
    ends: list[int] = []
    place = 0
    for span in spans:
        for letter in span.text:
            while after[place] != letter:
                place += 1
            place += 1
        ends.append(place)
    ends[-1:] = [len(after)]
    starts = [0, *ends]
    return [
        PromptSpan(span.part, after[start:end]) for span, start, end in zip(spans, starts, ends, strict=False) if end > start
    ]


def label(text: str, placed: Sequence[PlacedTurn], spell: Spell) -> tuple[PromptSpan, ...]:
    """Return `text` as spans. `spell` rendered it from the turns of `placed` and is called once more."""
    spans = _aligned(text, placed, spell)
    spans = _searched(text, placed) if spans is None else spans
    assert joined(spans) == text, "spans tell the same text"
    return tuple(spans)


def _aligned(text: str, placed: Sequence[PlacedTurn], spell: Spell) -> list[PromptSpan] | None:
    """Return spans found by rendering with markers; None if the template reacts to contents and its text differs around a
    marker.
    """
    try:
        pieces = _MARK.split(spell([_marked(number, one) for number, one in enumerate(placed)]))
    except TemplateUnusable:
        return None
    spans = [PromptSpan(PromptPart.TEMPLATE, pieces[0])]
    place = len(pieces[0])
    if not text.startswith(pieces[0]):
        return None
    for number, following in zip(pieces[1::2], pieces[2::2], strict=True):
        content = _content(placed[int(number)])
        found = _shown(text, place, joined(content), following)
        if found is None:
            return None
        start, length = found
        spans += [*cut_out(content, start, start + length), PromptSpan(PromptPart.TEMPLATE, following)]
        place += length + len(following)
    return [span for span in spans if span.text] if place == len(text) else None


def _shown(text: str, place: int, content: str, following: str) -> tuple[int, int] | None:
    """Return start and length of the part of `content` that lies at `place` before `following`; None if it cannot be found."""
    left, right = len(content) - len(content.lstrip()), len(content.rstrip())
    # Templates insert contents as they are, or trimmed on both sides or on one.
    for start, end in ((0, len(content)), (left, right), (left, len(content)), (0, right)):
        length = end - start
        if length >= 0 and text.startswith(content[start:end], place) and text.startswith(following, place + length):
            return start, length
    end = text.find(following, place) if following else len(text)
    start = content.rfind(text[place:end]) if end >= place else -1  # a template cuts thinking off the front
    return (start, end - place) if start >= 0 else None


def _searched(text: str, placed: Sequence[PlacedTurn]) -> list[PromptSpan]:
    """Return spans found by searching for each content after the previous one; whatever is not found counts as template
    text.
    """
    spans: list[PromptSpan] = []
    place = 0
    for one in placed:
        content = _content(one)
        words = joined(content).strip()
        found = text.find(words, place) if words else -1
        if found >= 0:
            start = joined(content).index(words)
            spans += [PromptSpan(PromptPart.TEMPLATE, text[place:found]), *cut_out(content, start, start + len(words))]
            place = found + len(words)
    spans.append(PromptSpan(PromptPart.TEMPLATE, text[place:]))
    return [span for span in spans if span.text]


def _marked(number: int, placed: PlacedTurn) -> PromptTurn:
    """Return the turn with a marker as content. Blank contents stay, because templates treat them differently from text."""
    content = joined(placed.spans)
    if not content.strip():
        return placed.turn
    mark = f"\ue0f2{number}\ue0f3"
    return PromptTurn(placed.role, f"[{mark}]" if _in_brackets(placed) else mark, placed.name)


def _content(placed: PlacedTurn) -> list[PromptSpan]:
    """Return the spans that the marker of this turn replaces."""
    text = joined(placed.spans)
    if not _in_brackets(placed):
        return list(placed.spans)
    return cut_out(placed.spans, text.index("[") + 1, text.rindex("]"))


def _in_brackets(placed: PlacedTurn) -> bool:
    """Return whether a format that puts notes in brackets leaves this content as it is."""
    text = joined(placed.spans).strip()
    return placed.role not in {"user", "assistant"} and text.startswith("[") and text.endswith("]") and len(text) > 1
