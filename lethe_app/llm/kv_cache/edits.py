"""Keeps the account of a cache that was cut and mended: where text stands behind other text than it was computed behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lethe_app.llm.kv_cache.diff import Run

MOST_JOINTS = 8
"""Cuts a cache may hold before it is computed anew."""
MOST_CHANGED = 0.5
"""Share of the context that may have been cut out or put in before it is computed anew."""
MENDED = 512
"""Tokens behind a cut that are computed anew, at most."""


@dataclass(frozen=True)
class Seam:
    """From `place` on, tokens were computed when something else stood before them."""

    place: int
    changed: int
    """Tokens cut out or put in there since they were computed."""


def rejoin(joints: Sequence[Seam], runs: Sequence[Run]) -> list[Seam]:
    """The joints of a text that is made of `runs` of the old one, the first of which is its beginning."""
    result: list[Seam] = []
    end_cached = end_wanted = 0
    for number, run in enumerate(runs):
        if number:
            inside = sum(joint.changed for joint in joints if end_cached <= joint.place <= run.cached)
            result.append(Seam(run.wanted, run.cached - end_cached + run.wanted - end_wanted + inside))
        moved = run.wanted - run.cached
        first = run.cached if number == 0 else run.cached + 1
        result += [Seam(joint.place + moved, joint.changed) for joint in joints if first <= joint.place < run.cached_end]
        end_cached, end_wanted = run.cached_end, run.wanted_end
    return result


def mend(runs: Sequence[Run], joints: Sequence[Seam]) -> tuple[list[Run], list[Seam]]:
    """Leave out of long runs what stands right behind a cut, to be computed anew: it leant most on what is gone.

    As much as was cut out or put in, and no more than `MENDED`. `joints` are those of a text made of the runs, whose joints
    move up with what is left. Of a history cut it takes a third of the divergence away, in all the turns that follow.
    """
    kept, moved = [runs[0]], list(joints)
    for before, run in pairwise(runs):
        changed = run.cached - before.cached_end + run.wanted - before.wanted_end
        count = min(MENDED, changed) if run.length > 2 * MENDED else 0
        kept.append(run.without_head(count))
        moved = _pushed(moved, run.wanted, run.wanted + count)
    return kept, moved


def _pushed(joints: Sequence[Seam], start: int, end: int) -> list[Seam]:
    """Those from `start` on up to `end` become one that stands there."""
    inside = [joint for joint in joints if start <= joint.place <= end]
    one = [Seam(end, sum(joint.changed for joint in inside))] if inside else []
    return [
        *(joint for joint in joints if joint.place < start),
        *one,
        *(joint for joint in joints if joint.place > end),
    ]


def is_too_much(joints: Sequence[Seam], room: int) -> bool:
    """Has so much been cut that the model would no longer say what it says after reading the whole text?"""
    return len(joints) > MOST_JOINTS or sum(joint.changed for joint in joints) > MOST_CHANGED * room
