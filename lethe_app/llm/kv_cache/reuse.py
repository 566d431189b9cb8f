"""Decision how much of the KV cache a prompt reuses, from the request's options and the seams of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.llm.kv_cache.diff import SHORTEST, Run, common_prefix, plan
from lethe_app.llm.kv_cache.edits import Seam, is_too_much, mend, rejoin


@dataclass(frozen=True)
class ReuseOptions:
    """Options of a request for the reuse of cached tokens."""

    surgery: bool = True
    """Reuse stretches behind edits while there are not too many seams; if False, only the common prefix before the first
    seam.
    """
    shortest: int = SHORTEST
    """Minimum length in tokens of a stretch reused behind an edit; shorter ones are recomputed."""
    exact: bool = False
    """Recompute everything behind the first seam; what a stop leaves undone keeps its old cells."""


PLAIN = ReuseOptions()


@dataclass(frozen=True)
class Layout:
    """Runs of the cache to reuse, with the seams that result."""

    runs: list[Run]
    """Runs to reuse; the first is the common prefix."""
    joints: list[Seam]
    """Seams of the cache once the runs are in place."""
    anew: bool = False
    """True if everything behind the first run is recomputed, and the old cells serve only until that is done."""

    @property
    def reused(self) -> int:
        """Number of tokens that need not be computed."""
        return self.runs[0].length if self.anew else sum(run.length for run in self.runs)


def lay_out(
    held: list[int], joints: Sequence[Seam], wanted: list[int], wishes: ReuseOptions, room: int, *, can_shift: bool
) -> Layout:
    """Return what to reuse of the tokens `held`, with these seams, for the `wanted` ones in a context of `room` tokens."""
    # Up to the first seam, the cache is exactly what evaluating the text from its beginning gives.
    clean = min((joint.place for joint in joints), default=len(held))
    if not (wishes.surgery and can_shift):
        return Layout([Run(0, 0, min(common_prefix(held, wanted), max(len(wanted) - 1, 0), clean))], [])
    runs = plan(held, wanted, wishes.shortest)
    planned, beginning = rejoin(joints, runs), runs[0]
    if wishes.exact:
        # The prefix is split at the first seam, so that the part behind it is recomputed as well.
        if clean < beginning.length:
            runs = [Run(0, 0, clean), beginning.without_head(clean), *runs[1:]]
        return Layout(runs, planned, anew=True)
    if is_too_much(planned, room):  # and would be so again after a stop: then nothing but the beginning is worth keeping
        return Layout([Run(0, 0, min(clean, beginning.length))], [])
    return Layout(*mend(runs, planned))


SEAM = 12
"""Number of tokens at the end of a prefilled prompt that the next prompt may not share: notes may be inserted where the
prefilled prompt opens the user's message. It must be less than the number of new tokens that causes a new save.
"""


class DivergenceLog:
    """Track where consecutive prompts diverge, for one cache, which reports every prompt and every sampled token."""

    def __init__(self) -> None:
        self._last = 0
        self._has_spoken = False

    def has_read(self, shared: int, total: int) -> None:
        """Record a prompt of `total` tokens, of which the first `shared` were cached. Repeating a prompt keeps the previous
        divergence.
        """
        if shared < total - 1:
            self._last = shared
        self._has_spoken = False

    def has_spoken(self) -> None:
        """Record that a reply token was evaluated: the notes of this turn now precede the reply and will be absent from the
        next prompt.
        """
        self._has_spoken = True

    def stays(self, length: int) -> int:
        """Return how many of the first `length` cached tokens the next prompt will certainly begin with."""
        return min(self._last, length) if self._has_spoken else max(length - SEAM, 0)


def ways_back(shared: int, total: int) -> set[int]:
    """Return the positions for checkpoints while a prompt of `total` tokens is evaluated, `shared` of which are cached.

    These are where it diverges from the previous prompt, since the next prompt diverges from this one not far behind; before
    the last `SEAM` tokens, where the next prompt diverges from a prefilled one; and before the last token, for the same
    prompt again.
    """
    return {shared, max(shared, total - SEAM), total - 1}
