"""Features of candidate passages: cosine, BM25, and the query words they contain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lethe_app.retrieval.term_statistics import Spread
from lethe_app.retrieval.vectors.columns import Columns, Rows
from lethe_app.retrieval.vectors.top_k import begins, highest_first
from lethe_app.storage.index.term_positions import Occurrences

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

LATE = (100, 100, 60, 100)
"""Passages of each group (messages, facts, summaries, standalone) that are compared token by token."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""k1 and b of BM25."""


@dataclass(frozen=True)
class Places:
    """Occurrences of query words in passages, one entry each."""

    word: Rows
    """Index of the query word."""
    passage: Rows
    """Passage number."""


@dataclass(frozen=True)
class PassageFeatures:
    """Features of the candidate passages, one entry each; `shares` has a row per query word."""

    rows: Rows
    """Rows of the passages in the columns."""
    group: NDArray[np.int8]
    source: Rows
    """Index into `sources` of this object."""
    cosine: Floats
    bm25: Floats
    shares: Flags
    """Whether the word occurs in the passage, in any inflection."""
    rarity_in_passages: Floats
    """Per word: inverse document frequency over passages (Robertson–Spärck Jones, never negative)."""
    sources: NDArray[np.int32]
    """Candidate sources, as positions in `Columns.sources`."""
    silent: Flags
    """True for a passage that states nothing (see `assertions`) and therefore does not count."""

    def without(self, silent: Flags) -> PassageFeatures:
        """Return the features with those of `silent` passages neutralised."""
        return replace(
            self,
            cosine=np.where(silent, self.cosine.min() if len(self.cosine) else 0, self.cosine).astype(np.float32),
            bm25=np.where(silent, np.float32(0), self.bm25),
            shares=self.shares & ~silent,
            silent=silent,
        )

    @property
    def stands(self) -> Flags:
        """Whether each word (row) occurs anywhere in each candidate source (column)."""
        return highest(self.shares.astype(np.float32), self.source, len(self.sources)) > 0


def gather(
    columns: Columns,
    rows: Rows,
    places: Places,
    spread: Spread,
    near: tuple[Rows, Floats],
) -> PassageFeatures:
    """Combine cosines (`near`: passage numbers and cosines) and word occurrences into features of these rows, which must
    ascend.
    """
    sources, source = np.unique(columns.source[rows], return_inverse=True)
    word, place = _known(columns.number[rows], places)
    words = len(spread.rarity)
    counts = np.bincount(word * len(rows) + place, minlength=words * len(rows)).reshape(words, len(rows)).astype(np.float32)
    return PassageFeatures(
        rows=rows,
        group=columns.group[rows],
        source=source,
        # A passage whose cosine was not measured is not among the nearest, so the lowest measured cosine is its upper bound.
        cosine=cosines_of(columns.number[rows], *near, otherwise=float(near[1].min()) if len(near[1]) else 0.0),
        bm25=_bm25(counts, columns.length[rows] / columns.mean_length, spread.rarity),
        shares=counts > 0,
        rarity_in_passages=spread.rarity_in_passages,
        sources=sources,
        silent=np.zeros(len(rows), bool),
    )


def standard(values: Floats) -> Floats:
    """Return the z-scores of the values; zeros if all are alike."""
    if len(values) == 0:
        return np.zeros(0, np.float32)
    apart = values - values.mean()
    spread = float(np.sqrt((apart * apart).mean()))
    return (apart / spread).astype(np.float32) if spread > 1e-6 else np.zeros(len(values), np.float32)


def places_of(occurrences: Occurrences) -> Places:
    """Return the occurrences as columns."""
    return Places(np.array(occurrences.word, np.int64), np.array(occurrences.passage, np.int64))


def to_compare(group: NDArray[np.int8], cosine: Floats, worth: Floats) -> Rows:
    """Return the passages to compare token by token, chosen within each group by cosine and word score."""
    chosen = []
    for number, most in enumerate(LATE):
        members = np.flatnonzero(group == number)
        promise = standard(cosine[members]) + standard(worth[members])
        chosen.append(members[highest_first(promise, most)])
    return np.concatenate(chosen)


def highest(values: Floats, owner: Rows, owners: int) -> Floats:
    """Return the highest value of each owner along the last axis; 0 for owners without values."""
    if values.ndim == 1:
        best = np.full(owners, -np.inf, np.float32)
        np.maximum.at(best, owner, values)
        best[best == -np.inf] = 0
        return best
    found = np.zeros((*values.shape[:-1], owners), np.float32)
    if values.shape[-1]:
        order = np.argsort(owner, kind="stable")
        ordered = owner[order]
        starts = np.flatnonzero(begins(ordered))
        found[..., ordered[starts]] = np.maximum.reduceat(values[..., order], starts, axis=-1)
    return found


def _known(numbers: Rows, places: Places) -> tuple[Rows, Rows]:
    """Return the occurrences in these passages, with passage numbers replaced by indices."""
    position = np.minimum(np.searchsorted(numbers, places.passage), max(0, len(numbers) - 1))
    known = numbers[position] == places.passage if len(numbers) else np.zeros(len(position), bool)
    return places.word[known], position[known]


def cosines_of(numbers: Rows, near: Rows, cosines: Floats, otherwise: float = 0.0) -> Floats:
    """Return the cosine of each passage, or `otherwise` where it was not measured."""
    found = np.full(len(numbers), otherwise, np.float32)
    if len(numbers):
        place = np.minimum(np.searchsorted(numbers, near), len(numbers) - 1)
        known = numbers[place] == near
        found[place[known]] = cosines[known]
    return found


def slowed(length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the length-dependent term of BM25's denominator; `length` is relative to the mean."""
    slow: NDArray[np.float64] = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length)
    return slow


def _bm25(counts: Floats, length: NDArray[np.float64], rarity: Floats) -> Floats:
    """Return the BM25 score (Robertson) of each passage. Length is measured in characters, which serves as well as words."""
    slow = slowed(length)
    score: Floats = (rarity[:, None] * counts * (SATURATION + 1) / (counts + slow)).sum(0).astype(np.float32)
    return score
