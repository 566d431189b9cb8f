"""Tells for every character of a finished prompt which part it belongs to, whatever a model's template makes of the texts.

The same turns are rendered once more with a mark in the place of each content, which shows everything that the template itself
writes. Between that stand the contents in the finished prompt, whole or trimmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lethe_app.domain.prompt import PromptPart, PromptSpan, PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.layout import PlacedTurn

Spell = Callable[[list[PromptTurn]], str]
_MARK = re.compile("\ue0f2(\\d+)\ue0f3")
"""Private-use characters, so nobody else writes them; and the contents, which might, are not there when it is looked for."""


def joined(spans: Sequence[PromptSpan]) -> str:
    """The text they make."""
    return "".join(span.text for span in spans)


def cut_out(spans: Sequence[PromptSpan], start: int, end: int) -> list[PromptSpan]:
    """What stands from one character to another, empty stretches left out."""
    found: list[PromptSpan] = []
    place = 0
    for span in spans:
        text = span.text[max(start - place, 0) : max(end - place, 0)]
        place += len(span.text)
        if text:
            found.append(PromptSpan(span.part, text))
    return found


def rewritten(spans: Sequence[PromptSpan], change: Callable[[str], str]) -> list[PromptSpan]:
    """The same after `change` has put letters into the whole text, such as those that disarm control tokens."""
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
    """`text` in spans; `spell` made it of the turns of `placed`, and is asked once more."""
    spans = _aligned(text, placed, spell)
    spans = _searched(text, placed) if spans is None else spans
    assert joined(spans) == text, "spans tell the same text"
    return tuple(spans)


def _aligned(text: str, placed: Sequence[PlacedTurn], spell: Spell) -> list[PromptSpan] | None:
    """None where the template looks at what it is given, and writes other things around a mark."""
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
    """What of `content` stands at that place, before what follows: where it begins in it, and its length."""
    left, right = len(content) - len(content.lstrip()), len(content.rstrip())
    for start, end in ((0, len(content)), (left, right), (left, len(content)), (0, right)):
        length = end - start
        if length >= 0 and text.startswith(content[start:end], place) and text.startswith(following, place + length):
            return start, length
    end = text.find(following, place) if following else len(text)
    start = content.rfind(text[place:end]) if end >= place else -1  # a template cuts thinking off the front
    return (start, end - place) if start >= 0 else None


def _searched(text: str, placed: Sequence[PlacedTurn]) -> list[PromptSpan]:
    """Each content looked for behind the one before it; whatever is not found counts as the template's."""
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
    """Blank contents stay, for formats treat them otherwise than words."""
    content = joined(placed.spans)
    if not content.strip():
        return placed.turn
    mark = f"\ue0f2{number}\ue0f3"
    return PromptTurn(placed.role, f"[{mark}]" if _in_brackets(placed) else mark, placed.name)


def _content(placed: PlacedTurn) -> list[PromptSpan]:
    """What its mark stands for."""
    text = joined(placed.spans)
    if not _in_brackets(placed):
        return list(placed.spans)
    return cut_out(placed.spans, text.index("[") + 1, text.rindex("]"))


def _in_brackets(placed: PlacedTurn) -> bool:
    """Would a format that puts notes into brackets leave it as it is?"""
    text = joined(placed.spans).strip()
    return placed.role not in {"user", "assistant"} and text.startswith("[") and text.endswith("]") and len(text) > 1
