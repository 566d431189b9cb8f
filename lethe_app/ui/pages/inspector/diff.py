"""Line diff of two prompts, and the position of their first difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from lethe_app.domain.prompt import PromptPart, PromptSpan, join_spans

CONTEXT_LINES = 2
"""Unchanged lines of context shown on either side of a change."""
MAX_MATCHED_LINES = 3000
"""Lines up to which changes are matched line by line; in longer texts all lines count as removed and added."""


class LineChange(StrEnum):
    """State of a line in the comparison."""

    UNCHANGED = "unchanged"
    ADDED = "added"
    REMOVED = "removed"
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


PromptLines = list[tuple[str, PromptPart]]


def split_lines(spans: Sequence[PromptSpan]) -> PromptLines:
    """Return the lines of a prompt, each with the section that has most characters in it; template tokens count least."""
    lines: PromptLines = []
    text, weights = "", dict[PromptPart, int]()
    for span in spans:
        for number, piece in enumerate(span.text.split("\n")):
            if number:
                lines.append((text, _heaviest(weights, span.part)))
                text, weights = "", {}
            text += piece
            if piece:
                weights[span.part] = weights.get(span.part, 0) + (1 if span.part is PromptPart.TEMPLATE else 1000 * len(piece))
    return [*lines, (text, _heaviest(weights, PromptPart.TEMPLATE))] if text else lines


def _heaviest(weights: dict[PromptPart, int], default: PromptPart) -> PromptPart:
    return max(weights, key=lambda part: weights[part]) if weights else default


def common_prefix_length(before: Sequence[PromptSpan], after: Sequence[PromptSpan]) -> int:
    """Return the number of characters of the common prefix."""
    old, new = join_spans(before), join_spans(after)
    shortest = min(len(old), len(new))
    return next((offset for offset in range(shortest) if old[offset] != new[offset]), shortest)


def part_at(spans: Sequence[PromptSpan], offset: int) -> PromptPart | None:
    """Return the section at a character offset, or the section that follows if template tokens are there; None after the
    end.
    """
    for span in spans:
        if offset < len(span.text) and (span.part is not PromptPart.TEMPLATE):
            return span.part
        offset = max(0, offset - len(span.text))
    return None


def compare_prompts(before: Sequence[PromptSpan], after: Sequence[PromptSpan]) -> list[DiffLine]:
    """Return the lines of both prompts in order; long unchanged stretches are replaced by their number of lines."""
    old, new = split_lines(before), split_lines(after)
    # The common beginning and end are cut off first: SequenceMatcher takes quadratic time in the worst case.
    prefix_length = _common_line_count(old, new)
    suffix_length = _common_line_count(old[prefix_length:][::-1], new[prefix_length:][::-1])
    middle = _diff_lines(old[prefix_length : len(old) - suffix_length], new[prefix_length : len(new) - suffix_length])
    head = [DiffLine(LineChange.UNCHANGED, *line) for line in new[:prefix_length]]
    tail = [DiffLine(LineChange.UNCHANGED, *line) for line in new[len(new) - suffix_length :]]
    return _fold_unchanged([*head, *middle, *tail])


def _common_line_count(old: PromptLines, new: PromptLines) -> int:
    """Return the number of lines of the common prefix."""
    shortest = min(len(old), len(new))
    return next((number for number in range(shortest) if old[number][0] != new[number][0]), shortest)


def _diff_lines(old: PromptLines, new: PromptLines) -> list[DiffLine]:
    if max(len(old), len(new)) > MAX_MATCHED_LINES:
        return [*(DiffLine(LineChange.REMOVED, *line) for line in old), *(DiffLine(LineChange.ADDED, *line) for line in new)]
    lines: list[DiffLine] = []
    # SequenceMatcher's default `autojunk` ignores lines that occur often, such as those of the template; without it the
    # comparison would take minutes.
    matcher = SequenceMatcher(None, [text for text, _part in old], [text for text, _part in new])
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            lines += [DiffLine(LineChange.UNCHANGED, *line) for line in new[new_start:new_end]]
        else:
            lines += [DiffLine(LineChange.REMOVED, *line) for line in old[start:end]]
            lines += [DiffLine(LineChange.ADDED, *line) for line in new[new_start:new_end]]
    return lines


def _fold_unchanged(lines: Sequence[DiffLine]) -> list[DiffLine]:
    """Return the lines with unchanged stretches replaced by placeholders, except for the context of changes."""
    context_numbers = {
        close
        for number, line in enumerate(lines)
        if line.change is not LineChange.UNCHANGED
        for close in range(number - CONTEXT_LINES, number + CONTEXT_LINES + 1)
    }
    folded: list[DiffLine] = []
    for index, line in enumerate(lines):
        if line.change is not LineChange.UNCHANGED or index in context_numbers:
            folded.append(line)
        elif folded and folded[-1].change is LineChange.SKIPPED:
            folded[-1] = DiffLine(LineChange.SKIPPED, "", folded[-1].part, folded[-1].count + 1)
        else:
            folded.append(DiffLine(LineChange.SKIPPED, "", line.part))
    return folded
