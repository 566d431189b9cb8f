"""How rare the words of a question are, and which passages deserve to be weighed, also where there are very many."""

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
"""Of very many passages so many are weighed: the nearest, those with the rarest words, those of the time that is named."""
BACKGROUND, PASSAGES_TO_A_SOURCE = 25, 40
"""Rarity is judged as if so many sources of so many passages were known, for of a few nobody can tell what is rare."""
IN_SOURCES, IN_PASSAGES = 0.5, 0.02
"""In what share of the sources and passages that are not there yet everyday words would stand."""
SPEAKER = 3
"""Before the words of a line stand its day, in three words, and then who speaks."""


@dataclass(frozen=True)
class Spread:
    """In which passages words stand, as far as that is known, and how rare that makes them."""

    word: Rows
    """Position of the word in the question."""
    row: Rows
    rarity: Floats
    """Per word: inverse document frequency over sources."""
    rarity_in_passages: Floats
    """The same over single passages."""


def rarity_of(found_in: Rows | Floats | NDArray[np.float64], of: int) -> Floats:
    """Inverse document frequency after Robertson and Spärck Jones, never negative."""
    rarity: Floats = np.log(1 + (of - found_in + 0.5) / (found_in + 0.5)).astype(np.float32)
    return rarity


def spread_of_all(columns: Columns, allowed: Flags, occurrences: Occurrences, words: Sequence[str]) -> Spread:
    """Counted exactly, where every place of every word is known."""
    rows, known = columns.rows_of(np.array(occurrences.passage, np.int64))
    known &= allowed[rows] if len(allowed) else False
    every, offset = np.stack([np.array(occurrences.word, np.int64)[known], rows[known]]), np.array(occurrences.offset)[known]
    word, row = np.unique(every, axis=1)
    in_sources = np.unique(np.stack([word, columns.source[row]]), axis=1)[0]
    sources, passages = (np.bincount(found, minlength=len(words)) for found in (in_sources, word))
    opening = np.bincount(every[0, (offset <= SPEAKER) & (columns.group[every[1]] == LINES)], minlength=len(words))
    return _spread(columns, (word, row), (sources, passages), 2 * opening > passages, words)


def spread_of_some(columns: Columns, allowed: Flags, listed: Listed, words: Sequence[str]) -> Spread:
    """Counted for rare words; estimated by the newest passages for those that stand in too many to read them all."""
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
    """From the counts of sources and passages with each word; `steady` ones will stand as often in all that is to come."""
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
    """As if there were `at_least` documents, the missing ones with each word as often as steady words stand already, or else
    in that share of them."""
    missing = max(0, at_least - of)
    return rarity_of(found_in + missing * np.where(steady, found_in / of, share), max(of, at_least))


def promising(columns: Columns, allowed: Flags, spread: Spread, near: Rows, moment: TimeReference) -> tuple[Rows, Floats]:
    """Rows worth weighing of very many, in rising order, and how much the words in each are worth."""
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
    """Passages and sources with a word that was found in these rows; only rows from number `since` on were looked at."""
    if since is None:
        return len(found), len(distinct(columns.source[found]))
    start = max(int(np.searchsorted(columns.number, since)), len(columns.number) - SAMPLE)
    found, looked_at = found[found >= start], len(columns.number) - start
    sources = int(np.count_nonzero(columns.last_row >= start))
    of_passages, of_sources = len(found) / max(1, looked_at), len(distinct(columns.source[found])) / max(1, sources)
    return of_passages * len(columns.number), of_sources * columns.source_count


def _in_time(columns: Columns, moment: TimeReference) -> list[Rows]:
    """Rows of the time that is named: the days that fit best, the first days, the last days."""
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
