"""How rare the words of a question are, and which passages deserve to be weighed, also where there are very many."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from lethe_app.retrieval.shelf import Columns, Rows
from lethe_app.retrieval.when import Moment
from lethe_app.storage.passage_words import Listed, Occurrences

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]

NEAREST, WORDIEST, IN_TIME = 250, 250, 100
"""Of very many passages so many are weighed: the nearest, those with the rarest words, those of the time that is named."""
SAMPLE = 50_000
"""Newest passages by which the rarity of common words is estimated."""


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
    sources: int
    """How many sources neighbouring words were looked for in."""


def rarity_of(found_in: Rows | Floats, of: int) -> Floats:
    """Inverse document frequency after Robertson and Spärck Jones, never negative."""
    rarity: Floats = np.log(1 + (of - found_in + 0.5) / (found_in + 0.5)).astype(np.float32)
    return rarity


def spread_of_all(columns: Columns, allowed: Flags, occurrences: Occurrences, words: int) -> Spread:
    """Counted exactly, where every place of every word is known."""
    rows, known = columns.rows_of(np.array(occurrences.passage, np.int64))
    known &= allowed[rows] if len(allowed) else False
    pairs = np.unique(np.stack([np.array(occurrences.word, np.int64)[known], rows[known]]), axis=1)
    word, row = pairs
    in_sources = np.unique(np.stack([word, columns.source[row]]), axis=1)[0]
    return Spread(
        word,
        row,
        rarity_of(np.bincount(in_sources, minlength=words), columns.source_count),
        rarity_of(np.bincount(word, minlength=words), max(1, len(columns.number))),
        columns.source_count,
    )


def spread_of_some(columns: Columns, allowed: Flags, listed: Listed) -> Spread:
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
    return Spread(
        np.concatenate(word or none),
        np.concatenate(row or none),
        rarity_of(np.array(sources, np.float32), columns.source_count),
        rarity_of(np.array(passages, np.float32), max(1, len(columns.number))),
        min(columns.source_count, NEAREST + WORDIEST + IN_TIME),
    )


def promising(columns: Columns, allowed: Flags, spread: Spread, near: Rows, moment: Moment) -> tuple[Rows, Floats]:
    """Rows worth weighing of very many, in rising order, and how much the words in each are worth."""
    nearest, known = columns.rows_of(near[:NEAREST])
    rows, place = np.unique(spread.row, return_inverse=True)
    length = columns.length[spread.row] / columns.mean_length
    score = np.bincount(place, spread.rarity_in_passages[spread.word] / (1 + length), len(rows)).astype(np.float32)
    wordiest = rows[np.argsort(-score, kind="stable")[:WORDIEST]]
    chosen = np.unique(np.concatenate([nearest[known], wordiest, *_in_time(columns, moment)]))
    chosen = chosen[allowed[chosen]]
    worth = np.zeros(len(chosen), np.float32)
    if len(rows):
        place = np.minimum(np.searchsorted(rows, chosen), len(rows) - 1)
        worth = np.where(rows[place] == chosen, score[place], worth)
    return chosen, worth


def _counted(columns: Columns, found: Rows, since: int | None) -> tuple[float, float]:
    """Passages and sources with a word that was found in these rows; only rows from number `since` on were looked at."""
    if since is None:
        return len(found), len(np.unique(columns.source[found]))
    start = max(int(np.searchsorted(columns.number, since)), len(columns.number) - SAMPLE)
    window, found = columns.source[start:], found[found >= start]
    sources = np.count_nonzero(np.bincount(window)) if len(window) else 1
    of_passages, of_sources = len(found) / max(1, len(window)), len(np.unique(columns.source[found])) / max(1, sources)
    return of_passages * len(columns.number), of_sources * columns.source_count


def _in_time(columns: Columns, moment: Moment) -> list[Rows]:
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
