"""How a prompt is to be made of what is cached: what was wished for, and what of the cache serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.llm.kv_cache.diff import SHORTEST, Run, common_prefix, plan
from lethe_app.llm.kv_cache.edits import Seam, is_too_much, mend, rejoin


@dataclass(frozen=True)
class ReuseOptions:
    """What whoever asks allows."""

    surgery: bool = True
    """Keep stretches behind cuts, until there were too many; else only the common beginning that no cut has touched."""
    shortest: int = SHORTEST
    """Tokens of a stretch below which it is rather computed anew."""
    exact: bool = False
    """Compute anew everything behind the first cut; what is not reached before a stop is kept as it was."""


PLAIN = ReuseOptions()


@dataclass(frozen=True)
class Layout:
    """What of a cache serves."""

    runs: list[Run]
    """What to keep, its beginning first."""
    joints: list[Seam]
    """Where it will then have been cut and mended."""
    anew: bool = False
    """Is everything behind the beginning to be computed anew, and serves only until it is?"""

    @property
    def reused(self) -> int:
        """Tokens that need not be computed."""
        return self.runs[0].length if self.anew else sum(run.length for run in self.runs)


def lay_out(
    held: list[int], joints: Sequence[Seam], wanted: list[int], wishes: ReuseOptions, room: int, *, can_shift: bool
) -> Layout:
    """What of the tokens held, with these joints, serves for those wanted in a context of `room` tokens."""
    clean = min((joint.place for joint in joints), default=len(held))
    if not (wishes.surgery and can_shift):
        return Layout([Run(0, 0, min(common_prefix(held, wanted), max(len(wanted) - 1, 0), clean))], [])
    runs = plan(held, wanted, wishes.shortest)
    planned, beginning = rejoin(joints, runs), runs[0]
    if wishes.exact:
        if clean < beginning.length:
            runs = [Run(0, 0, clean), beginning.without_head(clean), *runs[1:]]
        return Layout(runs, planned, anew=True)
    if is_too_much(planned, room):  # and would be so again after a stop: then nothing but the beginning is worth keeping
        return Layout([Run(0, 0, min(clean, beginning.length))], [])
    return Layout(*mend(runs, planned))


SEAM = 12
"""Tokens at the end of what was read ahead behind which the next prompt may go on otherwise: where it opens the user's words,
notes may come to stand. Fewer than what is worth writing a conversation down once more."""


class DivergenceLog:
    """Of one cache: whoever has it read or say something tells it."""

    def __init__(self) -> None:
        self._last = 0
        self._has_spoken = False

    def has_read(self, shared: int, total: int) -> None:
        """A prompt of `total` tokens that begins with so many of those cached. The same one again parts where it did before."""
        if shared < total - 1:
            self._last = shared
        self._has_spoken = False

    def has_spoken(self) -> None:
        """What the prompt brought up for this turn alone now stands before what was said."""
        self._has_spoken = True

    def stays(self, length: int) -> int:
        """With how much of what is cached the next prompt will surely begin."""
        return min(self._last, length) if self._has_spoken else max(length - SEAM, 0)


def ways_back(shared: int, total: int) -> set[int]:
    """Where one should be able to go back to that reads a prompt of `total` tokens of which so many were there: where it parts
    from the one before, for the next will part from this one not far behind; before the seam, for there it parts from what was
    read ahead; and before the last token, for the same prompt once more.
    """
    return {shared, max(shared, total - SEAM), total - 1}
