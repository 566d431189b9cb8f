"""Rarity (inverse document frequency) of query words, and selection of passages to rank where there are very many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from lethe_app.retrieval.query_terms import EVERYDAY
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import LINES, SAMPLE, Columns, Rows
from lethe_app.retrieval.vectors.top_k import begins, distinct, highest_first
from lethe_app.storage.index.term_positions import Listed, Occurrences

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

NEAREST, WORDIEST, IN_TIME = 250, 250, 100
"""Candidates taken from a large memory: the nearest passages, those with the rarest words, and those of the named time."""
BACKGROUND, PASSAGES_TO_A_SOURCE = 25, 40
"""Minimum number of sources, and passages per source, that rarity is computed for: in a young memory almost every word would
look rare.
"""
IN_SOURCES, IN_PASSAGES = 0.5, 0.02
"""Assumed share of the missing sources and passages that contain an everyday word."""
SPEAKER = 3
"""Token offset up to which a word of a message is its speaker: the text is preceded by its date in three words, then the
speaker's name.
"""


@dataclass(frozen=True)
class Spread:
    """Passages in which the query words occur, as far as known, and the rarity of the words."""

    word: Rows
    """Index of the query word."""
    row: Rows
    rarity: Floats
    """Per word: inverse document frequency over sources."""
    rarity_in_passages: Floats
    """Per word: inverse document frequency over passages."""


def rarity_of(found_in: Rows | Floats | NDArray[np.float64], of: int) -> Floats:
    """Return the inverse document frequency after Robertson and Spärck Jones, kept non-negative by adding 1 inside the
    logarithm.
    """
    rarity: Floats = np.log(1 + (of - found_in + 0.5) / (found_in + 0.5)).astype(np.float32)
    return rarity


def spread_of_all(columns: Columns, allowed: Flags, occurrences: Occurrences, words: Sequence[str]) -> Spread:
    """Count document frequencies exactly, from all occurrences of all words."""
    rows, known = columns.rows_of(np.array(occurrences.passage, np.int64))
    known &= allowed[rows] if len(allowed) else False
    every, offset = np.stack([np.array(occurrences.word, np.int64)[known], rows[known]]), np.array(occurrences.offset)[known]
    word, row = np.unique(every, axis=1)
    in_sources = np.unique(np.stack([word, columns.source[row]]), axis=1)[0]
    sources, passages = (np.bincount(found, minlength=len(words)) for found in (in_sources, word))
    # A word that mostly occurs as the speaker's name will occur in as large a share of all future lines, and is not rare in
    # a young memory.
    opening = np.bincount(every[0, (offset <= SPEAKER) & (columns.group[every[1]] == LINES)], minlength=len(words))
    return _spread(columns, (word, row), (sources, passages), 2 * opening > passages, words)


def spread_of_some(columns: Columns, allowed: Flags, listed: Listed, words: Sequence[str]) -> Spread:
    """Count document frequencies of rare words; estimate those of common words, whose lists are cut off, from the newest
    passages.
    """
    word, row, passages, sources = [], [], [], []
    for place, (numbers, complete) in enumerate(zip(listed.passages, listed.complete, strict=True)):
        known = np.fromstring(numbers, np.int64, sep=",")[::-1] if numbers else np.zeros(0, np.int64)
        rows, mine = columns.rows_of(known)
        found = rows[mine]
        in_passages, in_sources = _counted(columns, found, None if complete else int(known[0]))
        passages.append(in_passages)
        sources.append(in_sources)
        found = found[allowed[found]]
        word.append(np.full(len(found), place))
        row.append(found)
    none = [np.zeros(0, np.int64)]
    places = np.concatenate(word or none), np.concatenate(row or none)
    counts = np.array(sources, np.float32), np.array(passages, np.float32)
    return _spread(columns, places, counts, ~np.array(listed.complete, bool), words)


def _spread(
    columns: Columns,
    places: tuple[Rows, Rows],
    found: tuple[Rows | Floats, Rows | Floats],
    steady: Flags,
    words: Sequence[str],
) -> Spread:
    """Compute rarities from document frequencies. `steady` words are assumed to stay as frequent as the memory grows."""
    everyday = np.array([word in EVERYDAY for word in words], bool)
    in_sources, in_passages = found
    return Spread(
        *places,
        _rarity_so_far(in_sources, max(1, columns.source_count), BACKGROUND, steady, everyday * IN_SOURCES),
        _rarity_so_far(
            in_passages, max(1, len(columns.number)), BACKGROUND * PASSAGES_TO_A_SOURCE, steady, everyday * IN_PASSAGES
        ),
    )


def _rarity_so_far(found_in: Rows | Floats, of: int, at_least: int, steady: Flags, share: NDArray[np.float64]) -> Floats:
    """Return the rarity as if there were `at_least` documents.

    The missing documents contain a steady word as often as the present ones, and any other word in `share` of them.
    """
    missing = max(0, at_least - of)
    return rarity_of(found_in + missing * np.where(steady, found_in / of, share), max(of, at_least))


def promising(columns: Columns, allowed: Flags, spread: Spread, near: Rows, moment: TimeReference) -> tuple[Rows, Floats]:
    """Return the rows of the candidates of a large memory, ascending, and the word score of each."""
    nearest, known = columns.rows_of(near[:NEAREST])
    order = np.argsort(spread.row, kind="stable")
    row, word = spread.row[order], spread.word[order]
    fresh = begins(row)
    rows, length = row[fresh], columns.length[row] / columns.mean_length
    score = np.bincount(np.cumsum(fresh) - 1, spread.rarity_in_passages[word] / (1 + length), len(rows)).astype(np.float32)
    wordiest = rows[highest_first(score, WORDIEST)]
    chosen = distinct(np.concatenate([nearest[known], wordiest, *_in_time(columns, moment)]))
    chosen = chosen[allowed[chosen]]
    worth = np.zeros(len(chosen), np.float32)
    if len(rows):
        place = np.minimum(np.searchsorted(rows, chosen), len(rows) - 1)
        worth = np.where(rows[place] == chosen, score[place], worth)
    return chosen, worth


def _counted(columns: Columns, found: Rows, since: int | None) -> tuple[float, float]:
    """Return the numbers of passages and sources with a word that was found in these rows.

    If only passages from number `since` on were listed, the counts are extrapolated from them.
    """
    if since is None:
        return len(found), len(distinct(columns.source[found]))
    start = max(int(np.searchsorted(columns.number, since)), len(columns.number) - SAMPLE)
    found, looked_at = found[found >= start], len(columns.number) - start
    sources = int(np.count_nonzero(columns.last_row >= start))
    of_passages, of_sources = len(found) / max(1, looked_at), len(distinct(columns.source[found])) / max(1, sources)
    return of_passages * len(columns.number), of_sources * columns.source_count


def _in_time(columns: Columns, moment: TimeReference) -> list[Rows]:
    """Return rows of the time that is named: best-fitting days, first days, last days."""
    found: list[Rows] = []
    if moment.spans:
        first = int(columns.day.min())
        days = np.flatnonzero(np.bincount(columns.day - first))
        fit = np.zeros(int(days[-1]) + 1, np.float32)
        fit[days] = [moment.fit(date.fromordinal(first + day))[0] for day in days.tolist()]
        rows = np.flatnonzero((fit > 0)[columns.day - first])
        found.append(rows[np.argsort(-fit[columns.day[rows] - first], kind="stable")[:IN_TIME]])
    if moment.beginning:
        found.append(_least(columns.day))
    if moment.lately:
        found.append(_least(-columns.day))
    return found


def _least(values: NDArray[np.int32]) -> Rows:
    return np.argpartition(values, IN_TIME)[:IN_TIME] if len(values) > IN_TIME else np.arange(len(values))
