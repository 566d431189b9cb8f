"""Line diff of two prompts, and the position of their first difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from lethe_app.domain.prompt import PromptPart, PromptSpan

AROUND = 2
"""Unchanged lines of context shown on either side of a change."""
MOST = 3000
"""Lines up to which changes are matched line by line; in longer texts all lines count as removed and added."""


class LineChange(StrEnum):
    """State of a line in the comparison."""

    STAYED = "stayed"
    CAME = "came"
    WENT = "went"
    SKIPPED = "skipped"
    """Placeholder for several unchanged lines."""


@dataclass(frozen=True)
class DiffLine:
    """Line of the comparison, or a placeholder for several."""

    change: LineChange
    text: str
    part: PromptPart
    count: int = 1
    """Number of lines that a placeholder stands for."""


Pieces = list[tuple[str, PromptPart]]


def lines_of(spans: Sequence[PromptSpan]) -> Pieces:
    """Return the lines of a prompt, each with the section that has most characters in it; template tokens count least."""
    found: Pieces = []
    text, weights = "", dict[PromptPart, int]()
    for span in spans:
        for place, piece in enumerate(span.text.split("\n")):
            if place:
                found.append((text, _heaviest(weights, span.part)))
                text, weights = "", {}
            text += piece
            if piece:
                weights[span.part] = weights.get(span.part, 0) + (1 if span.part is PromptPart.TEMPLATE else 1000 * len(piece))
    return [*found, (text, _heaviest(weights, PromptPart.TEMPLATE))] if text else found


def _heaviest(weights: dict[PromptPart, int], otherwise: PromptPart) -> PromptPart:
    return max(weights, key=lambda part: weights[part]) if weights else otherwise


def text_of(spans: Sequence[PromptSpan]) -> str:
    """Return the concatenated text of the spans."""
    return "".join(span.text for span in spans)


def shared_beginning(before: Sequence[PromptSpan], after: Sequence[PromptSpan]) -> int:
    """Return the number of characters of the common prefix."""
    old, new = text_of(before), text_of(after)
    shortest = min(len(old), len(new))
    return next((place for place in range(shortest) if old[place] != new[place]), shortest)


def part_at(spans: Sequence[PromptSpan], place: int) -> PromptPart | None:
    """Return the section at a character offset, or the section that follows if template tokens are there; None after the
    end.
    """
    for span in spans:
        if place < len(span.text) and (span.part is not PromptPart.TEMPLATE):
            return span.part
        place = max(0, place - len(span.text))
    return None


def compare(before: Sequence[PromptSpan], after: Sequence[PromptSpan]) -> list[DiffLine]:
    """Return the lines of both prompts in order; long unchanged stretches are replaced by their number of lines."""
    old, new = lines_of(before), lines_of(after)
    # The common beginning and end are cut off first: SequenceMatcher takes quadratic time in the worst case.
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    middle = _changed(old[first : len(old) - last], new[first : len(new) - last])
    head = [DiffLine(LineChange.STAYED, *piece) for piece in new[:first]]
    tail = [DiffLine(LineChange.STAYED, *piece) for piece in new[len(new) - last :]]
    return _folded([*head, *middle, *tail])


def _common(old: Pieces, new: Pieces) -> int:
    """Return the number of lines of the common prefix."""
    shortest = min(len(old), len(new))
    return next((place for place in range(shortest) if old[place][0] != new[place][0]), shortest)


def _changed(old: Pieces, new: Pieces) -> list[DiffLine]:
    if max(len(old), len(new)) > MOST:
        return [*(DiffLine(LineChange.WENT, *piece) for piece in old), *(DiffLine(LineChange.CAME, *piece) for piece in new)]
    lines: list[DiffLine] = []
    # SequenceMatcher's default `autojunk` ignores lines that occur often, such as those of the template; without it the
    # comparison would take minutes.
    matcher = SequenceMatcher(None, [text for text, _part in old], [text for text, _part in new])
    for what, start, end, new_start, new_end in matcher.get_opcodes():
        if what == "equal":
            lines += [DiffLine(LineChange.STAYED, *piece) for piece in new[new_start:new_end]]
        else:
            lines += [DiffLine(LineChange.WENT, *piece) for piece in old[start:end]]
            lines += [DiffLine(LineChange.CAME, *piece) for piece in new[new_start:new_end]]
    return lines


def _folded(lines: Sequence[DiffLine]) -> list[DiffLine]:
    """Return the lines with unchanged stretches replaced by placeholders, except for the context of changes."""
    near = {
        close
        for place, line in enumerate(lines)
        if line.change is not LineChange.STAYED
        for close in range(place - AROUND, place + AROUND + 1)
    }
    folded: list[DiffLine] = []
    for place, line in enumerate(lines):
        if line.change is not LineChange.STAYED or place in near:
            folded.append(line)
        elif folded and folded[-1].change is LineChange.SKIPPED:
            folded[-1] = DiffLine(LineChange.SKIPPED, "", folded[-1].part, folded[-1].count + 1)
        else:
            folded.append(DiffLine(LineChange.SKIPPED, "", line.part))
    return folded
