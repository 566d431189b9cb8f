"""Seams of an edited KV cache: positions whose tokens were computed after a different text than now precedes them.

The limits below are checked by tests/bench/cache_drift.py: over 60 turns with cuts at a context of 4,096 tokens, the likeliest
first token of a reply was that of a fully evaluated prompt in 96.7 % of the turns if the user answered at once, and in all of
them if there was time to recompute (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lethe_app.llm.kv_cache.diff import TokenRun

MAX_SEAMS = 8
"""Maximum number of seams before the cache is recomputed."""
MAX_CHANGED_SHARE = 0.5
"""Maximum share of the context, in tokens removed or inserted at seams, before the cache is recomputed."""
MAX_RECOMPUTED = 512
"""Maximum number of tokens after an edit that are recomputed at once."""


@dataclass(frozen=True)
class Seam:
    """Position from which tokens were computed after a different text than now precedes them."""

    position: int
    changed_tokens: int
    """Tokens removed or inserted at the seam since the tokens after it were computed."""


def compute_seams(seams: Sequence[Seam], runs: Sequence[TokenRun]) -> list[Seam]:
    """Return the seams of a text made of `runs` of the cached one, the first of which is its prefix."""
    result: list[Seam] = []
    end_cached = end_target = 0
    for number, run in enumerate(runs):
        if number:
            # Seams inside the removed text count towards the new one: the tokens after it were computed with them too.
            inside = sum(seam.changed_tokens for seam in seams if end_cached <= seam.position <= run.cached_start)
            result.append(Seam(run.target_start, run.cached_start - end_cached + run.target_start - end_target + inside))
        offset = run.target_start - run.cached_start
        # A seam exactly at the start of a later run is contained in the new one.
        first = run.cached_start if number == 0 else run.cached_start + 1
        result += [
            Seam(seam.position + offset, seam.changed_tokens) for seam in seams if first <= seam.position < run.cached_end
        ]
        end_cached, end_target = run.cached_end, run.target_end
    return result


def shorten_runs(runs: Sequence[TokenRun], seams: Sequence[Seam]) -> tuple[list[TokenRun], list[Seam]]:
    """Shorten long runs by the tokens right after an edit, which depend most on the removed text and are recomputed.

    The number recomputed is that of the tokens removed or inserted, at most `MAX_RECOMPUTED`. `seams` are the seams of the text
    made of `runs`; those in a recomputed run move after it. After a cut in the history this reduces the divergence by a
    third, in all turns that follow.
    """
    kept, moved_seams = [runs[0]], list(seams)
    for previous, run in pairwise(runs):
        changed = run.cached_start - previous.cached_end + run.target_start - previous.target_end
        count = min(MAX_RECOMPUTED, changed) if run.length > 2 * MAX_RECOMPUTED else 0
        kept.append(run.without_head(count))
        moved_seams = _merge_seams(moved_seams, run.target_start, run.target_start + count)
    return kept, moved_seams


def _merge_seams(seams: Sequence[Seam], start: int, end: int) -> list[Seam]:
    """Merge the seams between `start` and `end` into one at `end`."""
    inside = [seam for seam in seams if start <= seam.position <= end]
    merged = [Seam(end, sum(seam.changed_tokens for seam in inside))] if inside else []
    return [
        *(seam for seam in seams if seam.position < start),
        *merged,
        *(seam for seam in seams if seam.position > end),
    ]


def has_too_many_edits(seams: Sequence[Seam], context_size: int) -> bool:
    """Return whether so much was edited that the output would differ noticeably from that of a fully evaluated prompt."""
    return len(seams) > MAX_SEAMS or sum(seam.changed_tokens for seam in seams) > MAX_CHANGED_SHARE * context_size
