"""Seams of an edited KV cache: positions whose tokens were computed behind other text than now precedes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lethe_app.llm.kv_cache.diff import Run

MOST_JOINTS = 8
"""Maximum number of seams before the cache is recomputed."""
MOST_CHANGED = 0.5
"""Maximum share of the context, in tokens removed or inserted at seams, before the cache is recomputed."""
MENDED = 512
"""Maximum number of tokens behind an edit that are recomputed at once."""


@dataclass(frozen=True)
class Seam:
    """Position from which tokens were computed behind other text than now precedes them."""

    place: int
    changed: int
    """Tokens removed or inserted at the seam since the tokens behind it were computed."""


def rejoin(joints: Sequence[Seam], runs: Sequence[Run]) -> list[Seam]:
    """Return the seams of a text made of `runs` of the cached one, the first of which is its prefix."""
    result: list[Seam] = []
    end_cached = end_wanted = 0
    for number, run in enumerate(runs):
        if number:
            # Seams inside the removed text count towards the new one: the tokens behind it were computed with them too.
            inside = sum(joint.changed for joint in joints if end_cached <= joint.place <= run.cached)
            result.append(Seam(run.wanted, run.cached - end_cached + run.wanted - end_wanted + inside))
        moved = run.wanted - run.cached
        # A seam exactly at the start of a later run is contained in the new one.
        first = run.cached if number == 0 else run.cached + 1
        result += [Seam(joint.place + moved, joint.changed) for joint in joints if first <= joint.place < run.cached_end]
        end_cached, end_wanted = run.cached_end, run.wanted_end
    return result


def mend(runs: Sequence[Run], joints: Sequence[Seam]) -> tuple[list[Run], list[Seam]]:
    """Shorten long runs by the tokens right behind an edit, which depend most on the removed text and are recomputed.

    The number recomputed is that of the tokens removed or inserted, at most `MENDED`. `joints` are the seams of the text
    made of `runs`; those in a recomputed stretch move behind it. After a cut in the history this reduces the divergence by a
    third, in all turns that follow.
    """
    kept, moved = [runs[0]], list(joints)
    for before, run in pairwise(runs):
        changed = run.cached - before.cached_end + run.wanted - before.wanted_end
        count = min(MENDED, changed) if run.length > 2 * MENDED else 0
        kept.append(run.without_head(count))
        moved = _pushed(moved, run.wanted, run.wanted + count)
    return kept, moved


def _pushed(joints: Sequence[Seam], start: int, end: int) -> list[Seam]:
    """Merge the seams between `start` and `end` into one at `end`."""
    inside = [joint for joint in joints if start <= joint.place <= end]
    one = [Seam(end, sum(joint.changed for joint in inside))] if inside else []
    return [
        *(joint for joint in joints if joint.place < start),
        *one,
        *(joint for joint in joints if joint.place > end),
    ]


def is_too_much(joints: Sequence[Seam], room: int) -> bool:
    """Return whether so much was edited that the output would differ noticeably from that of a fully evaluated prompt."""
    return len(joints) > MOST_JOINTS or sum(joint.changed for joint in joints) > MOST_CHANGED * room
