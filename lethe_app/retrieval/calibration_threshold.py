"""Choice of a distance threshold that separates wanted pairs from others, or none if they cannot be separated."""

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
"""Standard errors by which wanted pairs must be nearer than others for the difference to count as real."""
MIN_WANTED, MIN_WANTED_SHARE = 5, 0.05
"""Minimum number of wanted pairs, and minimum share of all wanted pairs, that a threshold must let through."""


@dataclass(frozen=True)
class DistanceSample:
    """Distances of pairs, ascending, with labels and weights. A pair with infinite distance passes no threshold."""

    distances: Numbers
    wanted: Mask
    weight: Numbers

    @classmethod
    def from_distances(
        cls, distances: Sequence[float] | Numbers, wanted: Sequence[bool] | Mask, kinds: Sequence[str]
    ) -> DistanceSample:
        """Create a sample in which every kind has a total weight of 1, however many pairs it has."""
        count = {kind: kinds.count(kind) for kind in set(kinds)}
        weight = np.array([1 / count[kind] for kind in kinds], np.float64)
        clipped = np.clip(np.nan_to_num(np.asarray(distances, np.float64), nan=np.inf, posinf=np.inf), 0, np.inf)
        order = np.argsort(clipped, kind="stable")
        return cls(clipped[order], np.asarray(wanted, bool)[order], weight[order])

    def candidate_thresholds(self) -> tuple[Numbers, Numbers, Numbers, Mask]:
        """Return all candidate thresholds, ascending, halfway between neighbouring distances, with three arrays for each.

        The arrays are the wanted weight below it, the total weight below it, and whether enough wanted pairs are below it.
        """
        if not len(self.distances):
            return np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, bool)
        after = np.append(self.distances[1:], np.inf)
        is_cut = np.isfinite(self.distances) & (self.distances < after)
        limits = np.where(np.isfinite(after), (self.distances + after) / 2, self.distances + MARGIN)
        number = np.cumsum(self.wanted)
        has_enough = number >= max(MIN_WANTED, MIN_WANTED_SHARE * number[-1])
        wanted_weight = np.cumsum(self.weight * self.wanted)
        return limits[is_cut], wanted_weight[is_cut], np.cumsum(self.weight)[is_cut], has_enough[is_cut]

    def is_separable(self) -> bool:
        """Return whether the wanted pairs are significantly nearer, by the rank-sum test of Mann and Whitney (1947), with
        ties counted half.
        """
        wanted, others = self.distances[self.wanted], self.distances[~self.wanted]
        if not len(wanted) or not len(others):
            return False
        below = np.searchsorted(others, wanted, "left")
        not_above = np.searchsorted(others, wanted, "right")
        nearer = 1 - float((below + not_above).mean()) / 2 / len(others)
        error = float(np.sqrt((len(wanted) + len(others) + 1) / (12 * len(wanted) * len(others))))
        return nearer - 0.5 >= MIN_STANDARD_ERRORS * error

    def find_precise(self, target: float, min_precision: float) -> float | None:
        """Return the largest threshold with a precision of at least `target`.

        If none reaches it, return the most precise one, or None if its precision is below `min_precision`.
        """
        limits, wanted_weight, total_weight, has_enough = self.candidate_thresholds()
        if not has_enough.any():
            return None
        precision = np.where(has_enough, wanted_weight / total_weight, 0)
        reached = min(target, float(precision.max()))
        if reached < min_precision:
            return None
        return float(limits[np.flatnonzero(precision >= reached)[-1]])

    def find_separating(self) -> float | None:
        """Return the threshold that maximises wanted minus unwanted weight below it, where both are equally dense; None if
        none gains.
        """
        limits, wanted_weight, total_weight, has_enough = self.candidate_thresholds()
        if not has_enough.any():
            return None
        gain = np.where(has_enough, 2 * wanted_weight - total_weight, -np.inf)
        return float(limits[int(gain.argmax())]) if gain.max() > 0 else None

    def precision_and_recall(self, limit: float) -> tuple[float, float]:
        """Return precision and recall below a threshold. The precision is 1 if nothing passes."""
        passed = self.distances < limit
        passed_wanted = float(self.weight[passed & self.wanted].sum())
        passed_weight, wanted = float(self.weight[passed].sum()), float(self.weight[self.wanted].sum())
        return (passed_wanted / passed_weight if passed_weight else 1.0), (passed_wanted / wanted if wanted else 0.0)


MARGIN = 1e-6
"""Margin by which a threshold exceeds the farthest pair that it lets through."""
