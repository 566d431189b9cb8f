"""Features of candidate passages: cosine, BM25, and the query words they contain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lethe_app.retrieval.term_statistics import TermSpread
from lethe_app.retrieval.vectors.columns import ColumnSnapshot, Rows
from lethe_app.retrieval.vectors.top_k import highest_first, mark_first
from lethe_app.storage.index.term_positions import Occurrences

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

MAX_COMPARED = (100, 100, 60, 100)
"""Passages of each group (messages, facts, summaries, standalone) that are compared token by token."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""k1 and b of BM25."""


@dataclass(frozen=True)
class WordOccurrences:
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
    """Candidate sources, as positions in `ColumnSnapshot.sources`."""
    suppressed: Flags
    """True for a passage that states nothing (see `assertions`) and therefore does not count."""

    def suppress(self, suppressed: Flags) -> PassageFeatures:
        """Return the features with cosine, BM25 and words of the `suppressed` passages set to those of no match."""
        return replace(
            self,
            cosine=np.where(suppressed, self.cosine.min() if len(self.cosine) else 0, self.cosine).astype(np.float32),
            bm25=np.where(suppressed, np.float32(0), self.bm25),
            shares=self.shares & ~suppressed,
            suppressed=suppressed,
        )

    @property
    def words_by_source(self) -> Flags:
        """Whether each word (row) occurs anywhere in each candidate source (column)."""
        return max_by_owner(self.shares.astype(np.float32), self.source, len(self.sources)) > 0


def gather_features(
    columns: ColumnSnapshot,
    rows: Rows,
    occurrences: WordOccurrences,
    spread: TermSpread,
    nearest: tuple[Rows, Floats],
) -> PassageFeatures:
    """Combine cosines (`nearest`: passage numbers and cosines) and word occurrences into features of these rows, which must
    ascend.
    """
    sources, source = np.unique(columns.source[rows], return_inverse=True)
    word, index = _locate_occurrences(columns.number[rows], occurrences)
    word_count = len(spread.rarity)
    counts = np.bincount(word * len(rows) + index, minlength=word_count * len(rows))
    frequency = counts.reshape(word_count, len(rows)).astype(np.float32)
    return PassageFeatures(
        rows=rows,
        group=columns.group[rows],
        source=source,
        # A passage whose cosine was not measured is not among the nearest, so the lowest measured cosine is its upper bound.
        cosine=lookup_cosines(columns.number[rows], *nearest, default=float(nearest[1].min()) if len(nearest[1]) else 0.0),
        bm25=_bm25_scores(frequency, columns.length[rows] / columns.mean_length, spread.rarity),
        shares=frequency > 0,
        rarity_in_passages=spread.rarity_in_passages,
        sources=sources,
        suppressed=np.zeros(len(rows), bool),
    )


def standardise(values: Floats) -> Floats:
    """Return the z-scores of the values; zeros if all are alike."""
    if len(values) == 0:
        return np.zeros(0, np.float32)
    deviations = values - values.mean()
    spread = float(np.sqrt((deviations * deviations).mean()))
    return (deviations / spread).astype(np.float32) if spread > 1e-6 else np.zeros(len(values), np.float32)


def to_word_occurrences(occurrences: Occurrences) -> WordOccurrences:
    """Convert occurrences as storage returns them to NumPy columns."""
    return WordOccurrences(np.array(occurrences.word, np.int64), np.array(occurrences.passage, np.int64))


def select_compared(group: NDArray[np.int8], cosine: Floats, word_scores: Floats) -> Rows:
    """Return the passages to compare token by token, chosen within each group by cosine and word score."""
    chosen = []
    for number, limit in enumerate(MAX_COMPARED):
        members = np.flatnonzero(group == number)
        score = standardise(cosine[members]) + standardise(word_scores[members])
        chosen.append(members[highest_first(score, limit)])
    return np.concatenate(chosen)


def max_by_owner(values: Floats, owner: Rows, owners: int) -> Floats:
    """Return the highest value of each owner along the last axis; 0 for owners without values."""
    if values.ndim == 1:
        best = np.full(owners, -np.inf, np.float32)
        np.maximum.at(best, owner, values)
        best[best == -np.inf] = 0
        return best
    result = np.zeros((*values.shape[:-1], owners), np.float32)
    if values.shape[-1]:
        order = np.argsort(owner, kind="stable")
        ordered = owner[order]
        starts = np.flatnonzero(mark_first(ordered))
        result[..., ordered[starts]] = np.maximum.reduceat(values[..., order], starts, axis=-1)
    return result


def _locate_occurrences(numbers: Rows, occurrences: WordOccurrences) -> tuple[Rows, Rows]:
    """Return the occurrences in these passages, with passage numbers replaced by indices."""
    position = np.minimum(np.searchsorted(numbers, occurrences.passage), max(0, len(numbers) - 1))
    known = numbers[position] == occurrences.passage if len(numbers) else np.zeros(len(position), bool)
    return occurrences.word[known], position[known]


def lookup_cosines(numbers: Rows, measured_numbers: Rows, cosines: Floats, default: float = 0.0) -> Floats:
    """Return the cosine of each passage, or `default` where it was not measured."""
    result = np.full(len(numbers), default, np.float32)
    if len(numbers):
        index = np.minimum(np.searchsorted(numbers, measured_numbers), len(numbers) - 1)
        known = numbers[index] == measured_numbers
        result[index[known]] = cosines[known]
    return result


def length_term(length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the length-dependent term of BM25's denominator; `length` is relative to the mean."""
    term: NDArray[np.float64] = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length)
    return term


def _bm25_scores(counts: Floats, length: NDArray[np.float64], rarity: Floats) -> Floats:
    """Return the BM25 score (Robertson) of each passage. Length is measured in characters, which serves as well as words."""
    term = length_term(length)
    score: Floats = (rarity[:, None] * counts * (SATURATION + 1) / (counts + term)).sum(0).astype(np.float32)
    return score
