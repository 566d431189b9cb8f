"""What speaks for each passage: nearness of meaning, words in common, and where those words stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lethe_app.retrieval.order import among, begins, distinct, highest_first
from lethe_app.retrieval.shelf import Columns, Rows
from lethe_app.retrieval.spread import Spread, rarity_of
from lethe_app.storage.passage_words import Occurrences

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

LATE = (100, 100, 60, 100)
"""How many passages of each group (lines, facts, summaries, what stands alone) are compared word by word."""
GAPS = np.array([1, 2, 3])
"""How much farther the second of two neighbours may stand than the first: stop words may lie between."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""k1 and b of BM25."""


@dataclass(frozen=True)
class Places:
    """Where words of the question stand, one entry per place."""

    word: Rows
    """Position of the word in the question."""
    passage: Rows
    """By number."""
    offset: Rows


@dataclass(frozen=True)
class Evidence:
    """Of the passages that are weighed, one entry each; `shares` has a row per word of the question."""

    rows: Rows
    """Their places in the columns."""
    group: NDArray[np.int8]
    source: Rows
    """Position in `sources` of this."""
    cosine: Floats
    bm25: Floats
    shares: Flags
    """Does this word stand in that passage, in any form?"""
    rarity_in_passages: Floats
    """Per word: inverse document frequency over single passages (Robertson–Spärck Jones, never negative)."""
    beside: Floats
    """Per weighed source of `sources`: rarity of the neighbouring words of the question that stand together there."""
    covered: Floats
    """Per source: the share of the question's words, by rarity, that stand anywhere in it."""
    sources: NDArray[np.int32]
    """The sources that are weighed, by position in `Columns.sources`."""

    @property
    def stands(self) -> Flags:
        """Does this word, by row, stand anywhere in that weighed source?"""
        return highest(self.shares.astype(np.float32), self.source, len(self.sources)) > 0


def gather(
    columns: Columns,
    rows: Rows,
    neighbours: tuple[tuple[int, int], ...],
    places: Places,
    spread: Spread,
    near: tuple[Rows, Floats],
) -> Evidence:
    """Put together what meaning (`near`: numbers and cosines) and words say of these rows, which are in rising order."""
    sources, source = np.unique(columns.source[rows], return_inverse=True)
    word, place, offset = _known(columns.number[rows], places)
    words = len(spread.rarity)
    counts = np.bincount(word * len(rows) + place, minlength=words * len(rows)).reshape(words, len(rows)).astype(np.float32)
    return Evidence(
        rows=rows,
        group=columns.group[rows],
        source=source,
        cosine=cosines_of(columns.number[rows], *near),
        bm25=_bm25(counts, columns.length[rows] / columns.mean_length, spread.rarity),
        shares=counts > 0,
        rarity_in_passages=spread.rarity_in_passages,
        beside=_beside(source, len(sources), spread.sources, neighbours, (word, place, offset)),
        covered=_covered(columns, spread, sources),
        sources=sources,
    )


def standard(values: Floats) -> Floats:
    """How many standard deviations above the mean; zeros where all are alike."""
    if len(values) == 0:
        return np.zeros(0, np.float32)
    apart = values - values.mean()
    spread = float(np.sqrt((apart * apart).mean()))
    return (apart / spread).astype(np.float32) if spread > 1e-6 else np.zeros(len(values), np.float32)


def places_of(occurrences: Occurrences) -> Places:
    """As columns."""
    return Places(*(np.array(values, np.int64) for values in (occurrences.word, occurrences.passage, occurrences.offset)))


def to_compare(group: NDArray[np.int8], cosine: Floats, worth: Floats) -> Rows:
    """Which passages deserve to be compared word by word, by nearness and what their words are worth."""
    chosen = []
    for number, most in enumerate(LATE):
        members = np.flatnonzero(group == number)
        promise = standard(cosine[members]) + standard(worth[members])
        chosen.append(members[highest_first(promise, most)])
    return np.concatenate(chosen)


def highest(values: Floats, owner: Rows, owners: int) -> Floats:
    """The highest value of each owner along the last axis; 0 for those who have none."""
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


def _known(numbers: Rows, places: Places) -> tuple[Rows, Rows, Rows]:
    """The places in these passages, by position among them."""
    position = np.minimum(np.searchsorted(numbers, places.passage), max(0, len(numbers) - 1))
    known = numbers[position] == places.passage if len(numbers) else np.zeros(len(position), bool)
    return places.word[known], position[known], places.offset[known]


def cosines_of(numbers: Rows, near: Rows, cosines: Floats, otherwise: float = 0.0) -> Floats:
    """The cosine of each passage, or what is said for those whose was not measured."""
    found = np.full(len(numbers), otherwise, np.float32)
    if len(numbers):
        place = np.minimum(np.searchsorted(numbers, near), len(numbers) - 1)
        known = numbers[place] == near
        found[place[known]] = cosines[known]
    return found


def _bm25(counts: Floats, length: NDArray[np.float64], rarity: Floats) -> Floats:
    """Robertson's BM25; length in characters, against the mean, serves as well as in words."""
    slow = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length)
    score: Floats = (rarity[:, None] * counts * (SATURATION + 1) / (counts + slow)).sum(0).astype(np.float32)
    return score


def _covered(columns: Columns, spread: Spread, sources: NDArray[np.int32]) -> Floats:
    stands = np.zeros((len(spread.rarity), len(sources)), np.float32)
    place = np.full(len(columns.sources), -1, np.int32)
    place[sources] = np.arange(len(sources))
    there = place[columns.source[spread.row]]
    known = there >= 0
    stands[spread.word[known], there[known]] = 1
    share: Floats = (spread.rarity @ stands / max(float(spread.rarity.sum()), 1e-9)).astype(np.float32)
    return share


def _beside(
    source: Rows, sources: int, of: int, neighbours: tuple[tuple[int, int], ...], places: tuple[Rows, Rows, Rows]
) -> Floats:
    """Per source: how rare the pairs of the question are that stand together in a passage of it, in their order."""
    word, place, offset = places
    total = np.zeros(sources, np.float32)
    step = int(offset.max()) + 8 if len(offset) else 1
    spot = place * step + offset
    for left, right in neighbours:
        first, second = spot[word == left], spot[word == right]
        met = first[among(first[:, None] + GAPS, second).any(axis=1)]
        there = distinct(source[met // step])
        if len(there):
            total[there] += rarity_of(np.array([len(there)]), of)[0]
    return total
