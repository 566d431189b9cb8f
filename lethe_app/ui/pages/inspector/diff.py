"""What came and what went between two prompts, line by line, and where the first difference stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from lethe_app.domain.prompt import Part, Span

AROUND = 2
"""Lines that stayed which are shown beside those that changed."""
MOST = 3000
"""Lines up to which what changed is looked at line by line; of more, everything went and came."""


class Change(StrEnum):
    """What became of a line."""

    STAYED = "stayed"
    CAME = "came"
    WENT = "went"
    SKIPPED = "skipped"
    """Stands for many that stayed."""


@dataclass(frozen=True)
class Line:
    """One line of the comparison."""

    change: Change
    text: str
    part: Part
    count: int = 1
    """How many it stands for."""


Pieces = list[tuple[str, Part]]


def lines_of(spans: Sequence[Span]) -> Pieces:
    """The lines of a prompt, each with the part that says most in it; what the template writes counts last."""
    found: Pieces = []
    text, weights = "", dict[Part, int]()
    for span in spans:
        for place, piece in enumerate(span.text.split("\n")):
            if place:
                found.append((text, _heaviest(weights, span.part)))
                text, weights = "", {}
            text += piece
            if piece:
                weights[span.part] = weights.get(span.part, 0) + (1 if span.part is Part.TEMPLATE else 1000 * len(piece))
    return [*found, (text, _heaviest(weights, Part.TEMPLATE))] if text else found


def _heaviest(weights: dict[Part, int], otherwise: Part) -> Part:
    return max(weights, key=lambda part: weights[part]) if weights else otherwise


def text_of(spans: Sequence[Span]) -> str:
    """The text they make."""
    return "".join(span.text for span in spans)


def shared_beginning(before: Sequence[Span], after: Sequence[Span]) -> int:
    """Characters that both begin with."""
    old, new = text_of(before), text_of(after)
    shortest = min(len(old), len(new))
    return next((place for place in range(shortest) if old[place] != new[place]), shortest)


def part_at(spans: Sequence[Span], place: int) -> Part | None:
    """The part in which that character stands, or the one to which the template leads on there; None behind the end."""
    for span in spans:
        if place < len(span.text) and (span.part is not Part.TEMPLATE):
            return span.part
        place = max(0, place - len(span.text))
    return None


def compare(before: Sequence[Span], after: Sequence[Span]) -> list[Line]:
    """The lines of both in order; long stretches that stayed are told by their number."""
    old, new = lines_of(before), lines_of(after)
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    middle = _changed(old[first : len(old) - last], new[first : len(new) - last])
    head = [Line(Change.STAYED, *piece) for piece in new[:first]]
    tail = [Line(Change.STAYED, *piece) for piece in new[len(new) - last :]]
    return _folded([*head, *middle, *tail])


def _common(old: Pieces, new: Pieces) -> int:
    """How many they share at the beginning."""
    shortest = min(len(old), len(new))
    return next((place for place in range(shortest) if old[place][0] != new[place][0]), shortest)


def _changed(old: Pieces, new: Pieces) -> list[Line]:
    if max(len(old), len(new)) > MOST:
        return [*(Line(Change.WENT, *piece) for piece in old), *(Line(Change.CAME, *piece) for piece in new)]
    lines: list[Line] = []
    # lines that stand everywhere, such as those of the template, lead nowhere; with them this would take minutes
    matcher = SequenceMatcher(None, [text for text, _part in old], [text for text, _part in new])
    for what, start, end, new_start, new_end in matcher.get_opcodes():
        if what == "equal":
            lines += [Line(Change.STAYED, *piece) for piece in new[new_start:new_end]]
        else:
            lines += [Line(Change.WENT, *piece) for piece in old[start:end]]
            lines += [Line(Change.CAME, *piece) for piece in new[new_start:new_end]]
    return lines


def _folded(lines: Sequence[Line]) -> list[Line]:
    """Without what stayed and stands beside nothing that changed."""
    near = {
        close
        for place, line in enumerate(lines)
        if line.change is not Change.STAYED
        for close in range(place - AROUND, place + AROUND + 1)
    }
    folded: list[Line] = []
    for place, line in enumerate(lines):
        if line.change is not Change.STAYED or place in near:
            folded.append(line)
        elif folded and folded[-1].change is Change.SKIPPED:
            folded[-1] = Line(Change.SKIPPED, "", folded[-1].part, folded[-1].count + 1)
        else:
            folded.append(Line(Change.SKIPPED, "", line.part))
    return folded
