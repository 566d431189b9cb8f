"""How a prompt is to be made of what is cached: what was wished for, and what of the cache serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.llm.joints import Joint, is_too_much, mend, rejoin
from lethe_app.llm.splices import SHORTEST, Run, common_prefix, plan


@dataclass(frozen=True)
class Wishes:
    """What whoever asks allows."""

    surgery: bool = True
    """Keep stretches behind cuts, until there were too many; else only the common beginning that no cut has touched."""
    shortest: int = SHORTEST
    """Tokens of a stretch below which it is rather computed anew."""
    exact: bool = False
    """Compute anew everything behind the first cut; what is not reached before a stop is kept as it was."""


PLAIN = Wishes()


@dataclass(frozen=True)
class Layout:
    """What of a cache serves."""

    runs: list[Run]
    """What to keep, its beginning first."""
    joints: list[Joint]
    """Where it will then have been cut and mended."""
    anew: bool = False
    """Is everything behind the beginning to be computed anew, and serves only until it is?"""

    @property
    def reused(self) -> int:
        """Tokens that need not be computed."""
        return self.runs[0].length if self.anew else sum(run.length for run in self.runs)


def lay_out(
    held: list[int], joints: Sequence[Joint], wanted: list[int], wishes: Wishes, room: int, *, can_shift: bool
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
