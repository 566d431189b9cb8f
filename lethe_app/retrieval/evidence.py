"""What speaks for each passage: nearness of meaning, words in common, and where those words stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lethe_app.retrieval.shelf import Columns, Rows
from lethe_app.storage.passages import Occurrences

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

ALL_UP_TO = 5_000
"""Up to so many passages every one is weighed; of more only those that are near or share words."""
NEAREST, WORDIEST = 400, 400
"""How many of each are weighed then."""
LATE = (100, 100, 60)
"""How many passages of each group (lines, facts, summaries) are compared word by word."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""k1 and b of BM25."""


@dataclass(frozen=True)
class Evidence:
    """Of the passages that are weighed, one entry each; `shares` has a row per word of the question."""

    rows: Rows
    """Their places in the columns."""
    group: Rows
    source: Rows
    """Position in `Columns.sources`."""
    cosine: Floats
    bm25: Floats
    shares: Flags
    """Does this word stand in that passage, in any form?"""
    rarity: Floats
    """Per word: inverse document frequency over sources (Robertson–Spärck Jones, never negative)."""
    rarity_in_passages: Floats
    """The same over single passages."""
    beside: Floats
    """Per weighed source of `sources`: rarity of the neighbouring words of the question that stand together there."""
    covered: Floats
    """Per source: the share of the question's words, by rarity, that stand anywhere in it."""
    sources: Rows
    """The sources that are weighed, by position in `Columns.sources`."""


def gather(
    columns: Columns,
    allowed: Flags,
    words: int,
    neighbours: tuple[tuple[int, int], ...],
    occurrences: Occurrences,
    near: tuple[Rows, Floats],
) -> Evidence:
    """Put together what meaning (`near`: numbers and cosines) and words say; only `allowed` rows count."""
    word, row, offset = _places(columns, allowed, occurrences)
    counts = _counts(len(columns.number), words, word, row)
    stands = np.zeros((words, len(columns.sources)), bool)
    stands[word, columns.source[row]] = True
    rarity = _rarity(stands.sum(1), len(columns.sources))
    in_passages = _rarity((counts > 0).sum(1), max(1, len(columns.number)))
    bm25 = _bm25(counts, columns.length, rarity)
    cosine = np.zeros(len(columns.number), np.float32)
    near_rows, known = columns.rows_of(near[0])
    cosine[near_rows[known]] = near[1][known]
    rows = _weighed(allowed, cosine, bm25)
    sources = np.unique(columns.source[rows])
    covered = (rarity @ stands / max(float(rarity.sum()), 1e-9))[sources] if words else np.zeros(len(sources))
    return Evidence(
        rows=rows,
        group=columns.group[rows],
        source=np.searchsorted(sources, columns.source[rows]),
        cosine=cosine[rows],
        bm25=bm25[rows],
        shares=counts[:, rows] > 0,
        rarity=rarity,
        rarity_in_passages=in_passages,
        beside=_beside(columns, neighbours, word, row, offset)[sources],
        covered=covered.astype(np.float32),
        sources=sources,
    )


def standard(values: Floats) -> Floats:
    """How many standard deviations above the mean; zeros where all are alike."""
    spread = float(values.std()) if len(values) else 0.0
    return ((values - values.mean()) / spread).astype(np.float32) if spread > 1e-6 else np.zeros(len(values), np.float32)


def to_compare(evidence: Evidence) -> Rows:
    """Places in the evidence of the passages that deserve to be compared word by word."""
    chosen = []
    for group, most in enumerate(LATE):
        members = np.flatnonzero(evidence.group == group)
        promise = standard(evidence.cosine[members]) + standard(evidence.bm25[members])
        chosen.append(members[np.argsort(-promise, kind="stable")[:most]])
    return np.concatenate(chosen)


def highest(values: Floats, owner: Rows, owners: int) -> Floats:
    """The highest value of each owner along the last axis; 0 for those who have none."""
    found = np.zeros((*values.shape[:-1], owners), np.float32)
    if values.shape[-1]:
        order = np.argsort(owner, kind="stable")
        present, starts = np.unique(owner[order], return_index=True)
        found[..., present] = np.maximum.reduceat(values[..., order], starts, axis=-1)
    return found


def _places(columns: Columns, allowed: Flags, occurrences: Occurrences) -> tuple[Rows, Rows, Rows]:
    """The occurrences in passages of this persona, by row."""
    rows, known = columns.rows_of(np.array(occurrences.passage, np.int64))
    if len(allowed):
        known &= allowed[rows]
    word, offset = np.array(occurrences.word, np.int64), np.array(occurrences.offset, np.int64)
    return word[known], rows[known], offset[known]


def _counts(passages: int, words: int, word: Rows, row: Rows) -> Floats:
    flat = np.bincount(word * passages + row, minlength=words * passages)
    return flat.reshape(words, passages).astype(np.float32)


def _rarity(found_in: Rows, of: int) -> Floats:
    rarity: Floats = np.log(1 + (of - found_in + 0.5) / (found_in + 0.5)).astype(np.float32)
    return rarity


def _bm25(counts: Floats, length: Rows, rarity: Floats) -> Floats:
    """Robertson's BM25; length in characters serves as well as in words."""
    if counts.size == 0:
        return np.zeros(len(length), np.float32)
    slow = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / max(1.0, float(length.mean())))
    score: Floats = (rarity[:, None] * counts * (SATURATION + 1) / (counts + slow)).sum(0).astype(np.float32)
    return score


def _weighed(allowed: Flags, cosine: Floats, bm25: Floats) -> Rows:
    """Rows worth weighing."""
    if len(allowed) <= ALL_UP_TO:
        return np.flatnonzero(allowed)
    promising = np.zeros(len(allowed), bool)
    for values, most in ((cosine, NEAREST), (bm25, WORDIEST)):
        best = np.argpartition(-values, most)[:most]
        promising[best[values[best] > 0]] = True
    return np.flatnonzero(promising & allowed)


def _beside(columns: Columns, neighbours: tuple[tuple[int, int], ...], word: Rows, row: Rows, offset: Rows) -> Floats:
    """Per source: how rare the pairs of the question are that stand together in a passage of it, in their order."""
    total = np.zeros(len(columns.sources), np.float32)
    step = int(offset.max()) + 8 if len(offset) else 1
    place = row * step + offset
    for left, right in neighbours:
        first, second = place[word == left], place[word == right]
        met = np.concatenate([first[np.isin(first + gap, second)] for gap in (1, 2, 3)])  # stop words may lie between
        there = np.unique(columns.source[met // step])
        if len(there):
            total[there] += _rarity(np.array([len(there)]), len(columns.sources))[0]
    return total
