"""Decision how much of the KV cache a prompt reuses, from the request's options and the seams of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.llm.kv_cache.diff import MIN_RUN_LENGTH, TokenRun, common_prefix_length, plan_reuse
from lethe_app.llm.kv_cache.edits import Seam, compute_seams, has_too_many_edits, shorten_runs


@dataclass(frozen=True)
class ReuseOptions:
    """Options of a request for the reuse of cached tokens."""

    surgery: bool = True
    """Reuse runs after edits while there are not too many seams; if False, only the common prefix before the first
    seam.
    """
    min_run_length: int = MIN_RUN_LENGTH
    """Minimum length in tokens of a run reused after an edit; shorter ones are recomputed."""
    exact: bool = False
    """Recompute everything after the first seam; what a stop leaves undone keeps its old cells."""


DEFAULT_OPTIONS = ReuseOptions()


@dataclass(frozen=True)
class ReusePlan:
    """Runs of the cache to reuse, with the seams that result."""

    runs: list[TokenRun]
    """Runs to reuse; the first is the common prefix."""
    seams: list[Seam]
    """Seams of the cache once the runs are in place."""
    recompute: bool = False
    """True if everything after the first run is recomputed, and the old cells serve only until that is done."""

    @property
    def reused_tokens(self) -> int:
        """Number of tokens that need not be computed."""
        return self.runs[0].length if self.recompute else sum(run.length for run in self.runs)


def plan_layout(
    cached: list[int], seams: Sequence[Seam], target: list[int], options: ReuseOptions, context_size: int, *, can_shift: bool
) -> ReusePlan:
    """Return what to reuse of the tokens `cached`, with these seams, for the `target` ones in a context of `context_size`
    tokens.
    """
    # Up to the first seam, the cache is exactly what evaluating the text from its beginning gives.
    first_seam = min((seam.position for seam in seams), default=len(cached))
    if not (options.surgery and can_shift):
        # All but the last token at most: its logits are needed, so it is always computed.
        return ReusePlan([TokenRun(0, 0, min(common_prefix_length(cached, target), max(len(target) - 1, 0), first_seam))], [])
    runs = plan_reuse(cached, target, options.min_run_length)
    planned_seams, beginning = compute_seams(seams, runs), runs[0]
    if options.exact:
        # The prefix is split at the first seam, so that the part after it is recomputed as well.
        if first_seam < beginning.length:
            runs = [TokenRun(0, 0, first_seam), beginning.without_head(first_seam), *runs[1:]]
        return ReusePlan(runs, planned_seams, recompute=True)
    # After a stop the cache would again have too many edits, so nothing but the exact beginning is kept.
    if has_too_many_edits(planned_seams, context_size):
        return ReusePlan([TokenRun(0, 0, min(first_seam, beginning.length))], [])
    return ReusePlan(*shorten_runs(runs, planned_seams))


UNSTABLE_TAIL = 12
"""Number of tokens at the end of a prefilled prompt that the next prompt may not share: notes may be inserted where the
prefilled prompt opens the user's message. It must be less than the number of new tokens that causes a new save.
"""


class DivergenceLog:
    """Track where consecutive prompts diverge, for one cache, which reports every prompt and every sampled token."""

    def __init__(self) -> None:
        self._last_divergence = 0
        self._has_reply = False

    def record_prompt(self, shared: int, total: int) -> None:
        """Record a prompt of `total` tokens, of which the first `shared` were cached. Repeating a prompt keeps the previous
        divergence.
        """
        if shared < total - 1:
            self._last_divergence = shared
        self._has_reply = False

    def record_reply(self) -> None:
        """Record that a reply token was evaluated: the notes of this turn now precede the reply and will be absent from the
        next prompt.
        """
        self._has_reply = True

    def stable_length(self, length: int) -> int:
        """Return how many of the first `length` cached tokens the next prompt will certainly begin with."""
        return min(self._last_divergence, length) if self._has_reply else max(length - UNSTABLE_TAIL, 0)


def checkpoint_positions(shared: int, total: int) -> set[int]:
    """Return the positions for checkpoints while a prompt of `total` tokens is evaluated, `shared` of which are cached.

    These are where it diverges from the previous prompt, since the next prompt diverges from this one soon after; before
    the last `UNSTABLE_TAIL` tokens, where the next prompt diverges from a prefilled one; and before the last token, for the
    same prompt again.
    """
    return {shared, max(shared, total - UNSTABLE_TAIL), total - 1}
