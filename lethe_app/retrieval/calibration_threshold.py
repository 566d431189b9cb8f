"""Choice of a distance threshold that separates positive pairs from negative ones; none if they cannot be separated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FARTHEST = 2.0
"""Cosine distance of opposite unit vectors."""
MIN_STANDARD_ERRORS = 3.0
"""Standard errors by which positive pairs must be nearer than negative ones for the difference to count as real."""
MIN_POSITIVES, MIN_POSITIVE_SHARE = 5, 0.05
"""Minimum number of positive pairs, and minimum share of all positive pairs, that a threshold must let through."""
MARGIN = 1e-6
"""Margin by which a threshold exceeds the farthest pair that it lets through."""


@dataclass(frozen=True)
class DistanceSample:
    """Distances of pairs, ascending, with labels and weights. A pair with infinite distance passes no threshold."""

    distances: Numbers
    positive: Mask
    weight: Numbers

    @classmethod
    def from_distances(
        cls, distances: Sequence[float] | Numbers, positive: Sequence[bool] | Mask, kinds: Sequence[str]
    ) -> DistanceSample:
        """Create a sample in which every kind has a total weight of 1, however many pairs it has."""
        count = {kind: kinds.count(kind) for kind in set(kinds)}
        weight = np.array([1 / count[kind] for kind in kinds], np.float64)
        clipped = np.clip(np.nan_to_num(np.asarray(distances, np.float64), nan=np.inf, posinf=np.inf), 0, np.inf)
        order = np.argsort(clipped, kind="stable")
        return cls(clipped[order], np.asarray(positive, bool)[order], weight[order])

    def candidate_thresholds(self) -> tuple[Numbers, Numbers, Numbers, Mask]:
        """Return all candidate thresholds, ascending, halfway between neighbouring distances, with three arrays for each.

        The arrays are the positive weight below it, the total weight below it, and whether enough positive pairs are below it.
        """
        if not len(self.distances):
            return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, bool)
        after = np.append(self.distances[1:], np.inf)
        is_cut = np.isfinite(self.distances) & (self.distances < after)
        limits = np.where(np.isfinite(after), (self.distances + after) / 2, self.distances + MARGIN)
        number = np.cumsum(self.positive)
        has_enough = number >= max(MIN_POSITIVES, MIN_POSITIVE_SHARE * number[-1])
        positive_weight = np.cumsum(self.weight * self.positive)
        return limits[is_cut], positive_weight[is_cut], np.cumsum(self.weight)[is_cut], has_enough[is_cut]

    def is_separable(self) -> bool:
        """Return whether the positive pairs are significantly nearer, by the rank-sum test of Mann and Whitney (1947), with
        ties counted half.
        """
        positive, others = self.distances[self.positive], self.distances[~self.positive]
        if not len(positive) or not len(others):
            return False
        below = np.searchsorted(others, positive, "left")
        not_above = np.searchsorted(others, positive, "right")
        nearer = 1 - float((below + not_above).mean()) / 2 / len(others)
        error = float(np.sqrt((len(positive) + len(others) + 1) / (12 * len(positive) * len(others))))
        return nearer - 0.5 >= MIN_STANDARD_ERRORS * error

    def find_threshold(self, target: float, min_precision: float) -> float | None:
        """Return the largest threshold with a precision of at least `target`.

        If none reaches it, return the most precise one, or None if its precision is below `min_precision`.
        """
        limits, positive_weight, total_weight, has_enough = self.candidate_thresholds()
        if not has_enough.any():
            return None
        precision = np.where(has_enough, positive_weight / total_weight, 0)
        reached = min(target, float(precision.max()))
        if reached < min_precision:
            return None
        return float(limits[np.flatnonzero(precision >= reached)[-1]])

    def find_separating_threshold(self) -> float | None:
        """Return the threshold that maximises positive minus negative weight below it, where both are equally dense; None if
        none gains.
        """
        limits, positive_weight, total_weight, has_enough = self.candidate_thresholds()
        if not has_enough.any():
            return None
        gain = np.where(has_enough, 2 * positive_weight - total_weight, -np.inf)
        return float(limits[int(gain.argmax())]) if gain.max() > 0 else None

    def precision_and_recall(self, limit: float) -> tuple[float, float]:
        """Return precision and recall below a threshold. The precision is 1 if nothing passes."""
        passed = self.distances < limit
        true_positive_weight = float(self.weight[passed & self.positive].sum())
        passed_weight, positive_weight = float(self.weight[passed].sum()), float(self.weight[self.positive].sum())
        precision = true_positive_weight / passed_weight if passed_weight else 1.0
        return precision, true_positive_weight / positive_weight if positive_weight else 0.0
