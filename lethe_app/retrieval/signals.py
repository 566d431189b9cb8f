"""Ranking signals of a source (session, memory, World Info entry) for a query, and their weighted sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from lethe_app.retrieval.candidates import Looked
from lethe_app.retrieval.features import Flags, Floats, PassageFeatures, highest, standard
from lethe_app.retrieval.term_statistics import BACKGROUND
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import ALONE, FACTS, LINES, SUMMARIES, Columns, Rows

CHANCE = 0.03
"""Squared similarity of a token pair that an unrelated source reaches by chance."""
MOST_TOKENS = 16
"""Tokens of a long query that are combined into pairs; the ones with the highest weight are used."""


ENOUGH = 5
"""Facts per source from which the fact signal has its full weight; with fewer it is reduced in proportion."""


@dataclass(frozen=True)
class Signal:
    """A ranking signal: its weight, and whether it is standardised first."""

    weight: float
    scaled: bool
    by_facts: bool = False
    """True if the signal is scaled by how many facts the sources have."""


SIGNALS = {
    "together": Signal(0.8, True),
    "said": Signal(0.3, True),
    "about": Signal(0.3, True, by_facts=True),
    "summary": Signal(0.3, True),
    "date": Signal(2.0, False),
    "beginning": Signal(4.0, False),
    "lately": Signal(0.5, False),
}
"""Weights fitted by listwise softmax regression on conversations, with the many facts and summaries of a large model as well
as with the few of the built-in rules, and rounded. The weights of `beginning` and `lately` were chosen by hand. With them
the LoCoMo benchmark reaches R@1 75.9, R@5 92.1 and MRR 90.0 with given facts (docs/benchmarks.md).
"""
RIVALS = 4
"""Number of next-best sources whose mean a source must exceed to stand out."""
USUAL = 0.1
"""`said` value of an unrelated source, used in place of rivals where there are too few sources."""


@dataclass(frozen=True)
class WeighedSources:
    """Signal values and scores of every candidate source, and the late-interaction score of each compared passage."""

    values: dict[str, Floats]
    """Signal name → unscaled value per source. It also holds the inputs of the relevance gate that are no ranking signals."""
    parts: dict[str, Floats]
    """Signal name → contribution to the score of each source."""
    score: Floats
    late: Floats
    """Per compared passage: weighted mean similarity of the query tokens to their nearest token, 0 to 1."""


def weigh(columns: Columns, looked: Looked, near: Floats, weight: Floats, moment: TimeReference) -> WeighedSources:
    """Compute all signals of all candidate sources. `near` has shape (query tokens, compared passages).

    Standalone passages count as line, fact and summary of their source at once, because their source has nothing else.
    """
    evidence, compared = looked.evidence, looked.compared
    count = len(evidence.sources)
    owner = evidence.source[compared]
    late = (weight @ near / max(float(weight.sum()), 1e-9)).astype(np.float32)
    of = {group: (evidence.group == group) | (evidence.group == ALONE) for group in (LINES, FACTS, SUMMARIES)}
    best = {group: _best(evidence.cosine, evidence.source, members, count) for group, members in of.items()}
    said = highest(late, owner, count)
    values = {
        "together": _together(near, weight, owner, count),
        "said": said,
        "about": best[FACTS],
        "summary": best[SUMMARIES],
        **_in_time(columns, evidence, moment),
        # The rest is for the relevance gate only. It is not standardised, so a value means the same for every query.
        "known": np.full(count, _known(columns), np.float32),
        "matter": _mean_of_known(best[LINES], best[SUMMARIES]),
        "nearest": highest(evidence.cosine, evidence.source, count),
        "ahead": ahead(said),
        "words": highest(evidence.bm25, evidence.source, count),
    }
    parts = shares(values)
    return WeighedSources(values, parts, _sum(parts.values()), late)


def shares(values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the contribution of each signal to the score of each source."""
    return {
        name: np.float32(signal.weight)
        * (standard(values[name]) if signal.scaled else values[name])
        * (values["known"] if signal.by_facts else np.float32(1))
        for name, signal in SIGNALS.items()
    }


def fused(values: Mapping[str, Floats], without: str = "") -> Floats:
    """Return the score of every source, optionally leaving out one signal."""
    return _sum(share for name, share in shares(values).items() if name != without)


def _sum(parts: Iterable[Floats]) -> Floats:
    score: Floats = np.sum(list(parts), axis=0, dtype=np.float32)
    return score


def _known(columns: Columns) -> float:
    """Return how completely facts cover the sources, from 0 to 1. A standalone passage counts as fully covered."""
    return min(1.0, (columns.of_group[FACTS] / ENOUGH + columns.of_group[ALONE]) / max(1, columns.source_count))


def _mean_of_known(line: Floats, summary: Floats) -> Floats:
    """Return the mean of both signals where a source has both, else the one it has."""
    both = (line != 0) & (summary != 0)
    mean: Floats = np.where(both, (line + summary) / 2, np.maximum(line, summary))
    return mean


def ahead(said: Floats) -> Floats:
    """Return by how much each source's `said` exceeds the mean of the `RIVALS` sources after its best rival.

    A statement that all sources share then singles out none of them.
    """
    # Padded with the value of unrelated sources, so that there are always enough rivals.
    ordered = np.sort(np.concatenate([said, np.full(RIVALS + 2, USUAL, np.float32)]))[::-1]
    among_best = said >= ordered[RIVALS]
    top = ordered[: RIVALS + 2].sum()
    others = np.where(among_best, top - said, top - ordered[RIVALS + 1]) - np.where(said >= ordered[0], ordered[1], ordered[0])
    by: Floats = (said - others / RIVALS).astype(np.float32)
    return by


def _best(values: Floats, owner: Rows, of: Flags, count: int) -> Floats:
    """Return the best value of each source among the passages of one group."""
    return highest(values[of], owner[of], count)


def _together(near: Floats, weight: Floats, owner: Rows, owners: int) -> Floats:
    """Return for each source how well it covers the token pairs of the query; pairs that rarely occur together count more.

    A pair counts only within one passage, but a source collects its pairs from several passages, so that one line may
    contribute the person and another the thing.
    """
    kept = np.argsort(-weight, kind="stable")[:MOST_TOKENS]
    first, second = np.triu_indices(len(kept), 1)
    # A query with a single token has no pairs; its late-interaction score takes their place.
    if len(first) == 0:
        return highest((weight @ near / max(float(weight.sum()), 1e-9)).astype(np.float32), owner, owners)
    best = highest(near[kept[first]] * near[kept[second]], owner, owners)
    # In a young memory, the sources missing to `BACKGROUND` are assumed to match by chance; otherwise a pair that its only
    # source contains would look common.
    usual = (np.sum(best**2, axis=1) + max(0, BACKGROUND - owners) * CHANCE) / max(owners, BACKGROUND)
    rare = np.maximum(-np.log(usual + 1e-3), 1e-3)
    gathered: Floats = (rare @ best / rare.sum()).astype(np.float32)
    return gathered


def _in_time(columns: Columns, evidence: PassageFeatures, moment: TimeReference) -> dict[str, Floats]:
    """Return the signals that depend on when a source began."""
    count = len(evidence.sources)
    day = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(day, evidence.source, columns.day[evidence.rows])
    rank = np.argsort(np.argsort(day, kind="stable"), kind="stable").astype(np.float32)
    fits = {ordinal: moment.fit(date.fromordinal(ordinal))[0] for ordinal in set(day.tolist())} if moment.spans else {}
    return {
        "date": np.array([fits[ordinal] for ordinal in day.tolist()] if fits else np.zeros(count), np.float32),
        "beginning": np.float32(moment.beginning) / (1 + rank),
        "lately": np.float32(moment.lately) / (1 + (count - 1 - rank)),
    }
