"""Rarity (inverse document frequency) of query words, and selection of passages to rank where there are very many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from lethe_app.retrieval.query_terms import EVERYDAY_WORDS
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import LINES, SAMPLE, ColumnSnapshot, Rows
from lethe_app.retrieval.vectors.top_k import distinct, highest_first, mark_first
from lethe_app.storage.index.term_positions import Occurrences, TermPassages

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

MAX_NEAREST, MAX_WORDIEST, MAX_IN_TIME = 250, 250, 100
"""Candidates taken from a large memory: the nearest passages, those with the rarest words, and those of the named time."""
MIN_SOURCES, PASSAGES_PER_SOURCE = 25, 40
"""Minimum number of sources, and passages per source, that rarity is computed for: in a young memory almost every word would
look rare.
"""
EVERYDAY_SOURCE_SHARE, EVERYDAY_PASSAGE_SHARE = 0.5, 0.02
"""Assumed share of the missing sources and passages that contain an everyday word."""
MAX_SPEAKER_OFFSET = 3
"""Token offset up to which a word of a message is its speaker: the text is preceded by its date in three words, then the
speaker's name.
"""


@dataclass(frozen=True)
class TermSpread:
    """Passages in which the query words occur, as far as known, and the rarity of the words."""

    word: Rows
    """Index of the query word."""
    row: Rows
    rarity: Floats
    """Per word: inverse document frequency over sources."""
    rarity_in_passages: Floats
    """Per word: inverse document frequency over passages."""


def compute_rarity(document_count: Rows | Floats | NDArray[np.float64], total: int) -> Floats:
    """Return the inverse document frequency after Robertson and Spärck Jones, kept non-negative by adding 1 inside the
    logarithm.
    """
    rarity: Floats = np.log(1 + (total - document_count + 0.5) / (document_count + 0.5)).astype(np.float32)
    return rarity


def count_spread(columns: ColumnSnapshot, allowed: Flags, occurrences: Occurrences, words: Sequence[str]) -> TermSpread:
    """Count document frequencies exactly, from all occurrences of all words."""
    rows, known = columns.rows_of(np.array(occurrences.passage, np.int64))
    known &= allowed[rows] if len(allowed) else False
    known_occurrences, offset = (
        np.stack([np.array(occurrences.word, np.int64)[known], rows[known]]),
        np.array(occurrences.offset)[known],
    )
    word, row = np.unique(known_occurrences, axis=1)
    in_sources = np.unique(np.stack([word, columns.source[row]]), axis=1)[0]
    sources, passages = (np.bincount(found, minlength=len(words)) for found in (in_sources, word))
    # A word that mostly occurs as the speaker's name will occur in as large a share of all future lines, and is not rare in
    # a young memory.
    opening = np.bincount(
        known_occurrences[0, (offset <= MAX_SPEAKER_OFFSET) & (columns.group[known_occurrences[1]] == LINES)],
        minlength=len(words),
    )
    return _build_spread(columns, (word, row), (sources, passages), 2 * opening > passages, words)


def estimate_spread(columns: ColumnSnapshot, allowed: Flags, listed: TermPassages, words: Sequence[str]) -> TermSpread:
    """Count document frequencies of rare words; estimate those of common words, whose lists are cut off, from the newest
    passages.
    """
    word, row, passages, sources = [], [], [], []
    for word_index, (numbers, complete) in enumerate(zip(listed.passages, listed.complete, strict=True)):
        known = np.fromstring(numbers, np.int64, sep=",")[::-1] if numbers else np.zeros(0, np.int64)
        rows, is_known = columns.rows_of(known)
        found = rows[is_known]
        in_passages, in_sources = _count_frequencies(columns, found, None if complete else int(known[0]))
        passages.append(in_passages)
        sources.append(in_sources)
        found = found[allowed[found]]
        word.append(np.full(len(found), word_index))
        row.append(found)
    none = [np.zeros(0, np.int64)]
    occurrences = np.concatenate(word or none), np.concatenate(row or none)
    counts = np.array(sources, np.float32), np.array(passages, np.float32)
    return _build_spread(columns, occurrences, counts, ~np.array(listed.complete, bool), words)


def _build_spread(
    columns: ColumnSnapshot,
    occurrences: tuple[Rows, Rows],
    document_counts: tuple[Rows | Floats, Rows | Floats],
    is_steady: Flags,
    words: Sequence[str],
) -> TermSpread:
    """Compute rarities from document frequencies. `is_steady` words are assumed to stay as frequent as the memory grows."""
    everyday = np.array([word in EVERYDAY_WORDS for word in words], bool)
    in_sources, in_passages = document_counts
    return TermSpread(
        *occurrences,
        _extrapolate_rarity(in_sources, max(1, columns.source_count), MIN_SOURCES, is_steady, everyday * EVERYDAY_SOURCE_SHARE),
        _extrapolate_rarity(
            in_passages,
            max(1, len(columns.number)),
            MIN_SOURCES * PASSAGES_PER_SOURCE,
            is_steady,
            everyday * EVERYDAY_PASSAGE_SHARE,
        ),
    )


def _extrapolate_rarity(
    document_count: Rows | Floats, total: int, min_total: int, is_steady: Flags, share: NDArray[np.float64]
) -> Floats:
    """Return the rarity as if there were `min_total` documents.

    The missing documents contain a steady word as often as the present ones, and any other word in `share` of them.
    """
    missing = max(0, min_total - total)
    return compute_rarity(document_count + missing * np.where(is_steady, document_count / total, share), max(total, min_total))


def select_promising(
    columns: ColumnSnapshot, allowed: Flags, spread: TermSpread, nearest_numbers: Rows, time_reference: TimeReference
) -> tuple[Rows, Floats]:
    """Return the rows of the candidates of a large memory, ascending, and the word score of each."""
    nearest, known = columns.rows_of(nearest_numbers[:MAX_NEAREST])
    order = np.argsort(spread.row, kind="stable")
    row, word = spread.row[order], spread.word[order]
    is_first = mark_first(row)
    rows, length = row[is_first], columns.length[row] / columns.mean_length
    score = np.bincount(np.cumsum(is_first) - 1, spread.rarity_in_passages[word] / (1 + length), len(rows)).astype(np.float32)
    wordiest = rows[highest_first(score, MAX_WORDIEST)]
    chosen = distinct(np.concatenate([nearest[known], wordiest, _rows_in_time(columns, time_reference)]))
    chosen = chosen[allowed[chosen]]
    word_scores = np.zeros(len(chosen), np.float32)
    if len(rows):
        index = np.minimum(np.searchsorted(rows, chosen), len(rows) - 1)
        word_scores = np.where(rows[index] == chosen, score[index], word_scores)
    return chosen, word_scores


def _count_frequencies(columns: ColumnSnapshot, found: Rows, first_listed: int | None) -> tuple[float, float]:
    """Return the numbers of passages and sources with a word that was found in these rows.

    If only passages from number `first_listed` on were listed, the counts are extrapolated from them.
    """
    if first_listed is None:
        return len(found), len(distinct(columns.source[found]))
    start = max(int(np.searchsorted(columns.number, first_listed)), len(columns.number) - SAMPLE)
    found, sample_size = found[found >= start], len(columns.number) - start
    sources = int(np.count_nonzero(columns.last_row >= start))
    of_passages, of_sources = len(found) / max(1, sample_size), len(distinct(columns.source[found])) / max(1, sources)
    return of_passages * len(columns.number), of_sources * columns.source_count


def _rows_in_time(columns: ColumnSnapshot, time_reference: TimeReference) -> Rows:
    """Return the rows of the days that fit the named time best; none without one."""
    if not time_reference.times:
        return np.zeros(0, np.int64)
    first = int(columns.day.min())
    days = np.flatnonzero(np.bincount(columns.day - first))
    fit = np.zeros(int(days[-1]) + 1, np.float32)
    fit[days] = [time_reference.fit(date.fromordinal(first + day))[0] for day in days.tolist()]
    rows = np.flatnonzero((fit > 0)[columns.day - first])
    return rows[np.argsort(-fit[columns.day[rows] - first], kind="stable")[:MAX_IN_TIME]]
