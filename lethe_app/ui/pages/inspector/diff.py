"""Line diff of two prompts, and the section at a place in a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from lethe_app.domain.prompt import PromptPart, PromptSpan

CONTEXT_LINES = 2
"""Unchanged lines of context shown on either side of a change."""
MAX_MATCHED_LINES = 3000
"""Lines up to which changes are matched line by line; in longer texts all lines count as removed and added."""


class LineChange(StrEnum):
    """State of a line in the comparison, by the character before it."""

    UNCHANGED = " "
    ADDED = "+"
    REMOVED = "−"
    SKIPPED = "⋯"
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


def common_prefix_length(old: Sequence[object], new: Sequence[object]) -> int:
    """Return the number of characters of the common prefix of two texts, or of the lines of two lists."""
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
    texts = [[text for text, _part in lines] for lines in (old, new)]
    # The common beginning and end are cut off first: SequenceMatcher takes quadratic time in the worst case.
    start = max(0, common_prefix_length(*texts) - CONTEXT_LINES)
    rest = max(0, common_prefix_length(*(lines[start:][::-1] for lines in texts)) - CONTEXT_LINES)
    old_part, new_part = old[start : len(old) - rest], new[start : len(new) - rest]
    lines, shown = list[DiffLine](), 0
    for group in _group_changes(*(lines[start : len(lines) - rest] for lines in texts)):
        lines += _skip(new[shown : start + group[0][3]])
        for tag, old_start, old_end, new_start, new_end in group:
            if tag != "equal":
                lines += [DiffLine(LineChange.REMOVED, *line) for line in old_part[old_start:old_end]]
            change = LineChange.UNCHANGED if tag == "equal" else LineChange.ADDED
            lines += [DiffLine(change, *line) for line in new_part[new_start:new_end]]
        shown = start + group[-1][4]
    return [*lines, *_skip(new[shown:])]


def _group_changes(old: list[str], new: list[str]) -> Iterable[Sequence[tuple[str, int, int, int, int]]]:
    """Return the changes with their context as groups of opcodes of difflib."""
    if max(len(old), len(new)) > MAX_MATCHED_LINES:
        return [[("replace", 0, len(old), 0, len(new))]]
    # The default `autojunk` ignores lines that occur often, such as those of the template; without it the comparison would
    # take minutes.
    return SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT_LINES)


def _skip(lines: PromptLines) -> list[DiffLine]:
    return [DiffLine(LineChange.SKIPPED, "", lines[0][1], len(lines))] if lines else []
