"""Ranking signals of a source (session, memory, World Info entry) for a query, and their weighted sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from lethe_app.retrieval.candidates import CandidateFeatures
from lethe_app.retrieval.features import Floats, PassageFeatures, max_by_owner, standardise
from lethe_app.retrieval.term_statistics import MIN_SOURCES
from lethe_app.retrieval.time_expressions import TimeReference
from lethe_app.retrieval.vectors.columns import FACTS, LINES, STANDALONE, SUMMARIES, ColumnSnapshot, Rows

CHANCE_SIMILARITY = 0.03
"""Squared similarity of a token pair that an unrelated source reaches by chance."""
MAX_TOKENS = 16
"""Tokens of a long query that are combined into pairs; the ones with the highest weight are used. Their pairs grow with the
square: 16 make 120 products per passage.
"""
FULL_FACT_COUNT = 5
"""Facts per source from which the fact signal has its full weight; with fewer it is reduced in proportion."""


@dataclass(frozen=True)
class Signal:
    """A ranking signal: its weight, and whether it is standardised first."""

    weight: float
    is_standardised: bool
    is_scaled_by_facts: bool = False
    """True if the signal is scaled by how many facts the sources have."""


# The names are stored with the reasons of a recalled memory, and worded in services/memory/reason_words.
SIGNALS = {
    "together": Signal(0.8, True),
    "said": Signal(0.3, True),
    "about": Signal(0.3, True, is_scaled_by_facts=True),
    "summary": Signal(0.3, True),
    "date": Signal(2.0, False),
}
"""Weights fitted by listwise softmax regression on conversations, with the many facts and summaries of a large model as well
as with the few of the built-in rules, and rounded. What each earns stands in docs/benchmarks.md.
"""
RIVAL_COUNT = 4
"""Number of next-best sources whose mean a source must exceed to stand out."""
BASELINE_INTERACTION = 0.1
"""`best_interaction` value of an unrelated source, used in place of rivals where there are too few sources."""


@dataclass(frozen=True)
class ScoredSources:
    """Signal values and scores of every candidate source, and the late-interaction score of each compared passage."""

    values: dict[str, Floats]
    """Signal name → unscaled value per source. It also holds the inputs of the relevance gate that are no ranking signals."""
    contributions: dict[str, Floats]
    """Signal name → contribution to the score of each source."""
    score: Floats
    interaction: Floats
    """Per compared passage: weighted mean similarity of the query tokens to their nearest token, 0 to 1."""


def compute_signals(
    columns: ColumnSnapshot, candidates: CandidateFeatures, similarities: Floats, weight: Floats, time_reference: TimeReference
) -> ScoredSources:
    """Compute all signals of all candidate sources. `similarities` has shape (query tokens, compared passages).

    Standalone passages count as line, fact and summary of their source at once, because their source has nothing else.
    """
    features, compared = candidates.features, candidates.compared
    count = len(features.sources)
    owner = features.source[compared]
    interaction = (weight @ similarities / max(float(weight.sum()), 1e-9)).astype(np.float32)
    group_masks = {group: (features.group == group) | (features.group == STANDALONE) for group in (LINES, FACTS, SUMMARIES)}
    best = {
        group: max_by_owner(features.cosine[members], features.source[members], count) for group, members in group_masks.items()
    }
    best_interaction = max_by_owner(interaction, owner, count)
    # Facts cover a source more or less completely; a standalone passage counts as fully covered.
    covered = columns.group_counts[FACTS] / FULL_FACT_COUNT + columns.group_counts[STANDALONE]
    values = {
        "together": _pair_coverage(similarities, weight, owner, count),
        "said": best_interaction,
        "about": best[FACTS],
        "summary": best[SUMMARIES],
        "date": _date_fits(columns, features, time_reference),
    } | {
        # These are for the relevance gate only, which needs values that mean the same for every query. Ranking signals are
        # standardised over the sources of one query, so the best of a hundred unrelated ones would look as good as a match.
        "fact coverage": np.full(count, min(1.0, covered / max(1, columns.source_count)), np.float32),
        "topic": _mean_of_known(best[LINES], best[SUMMARIES]),
        "nearest": max_by_owner(features.cosine, features.source, count),
        "lead": compute_margin(best_interaction),
        "words": max_by_owner(features.bm25, features.source, count),
    }
    contributions = compute_contributions(values)
    score: Floats = np.sum(list(contributions.values()), axis=0, dtype=np.float32)
    return ScoredSources(values, contributions, score, interaction)


def compute_contributions(values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the contribution of each signal to the score of each source."""
    return {
        name: np.float32(signal.weight)
        * (standardise(values[name]) if signal.is_standardised else values[name])
        * (values["fact coverage"] if signal.is_scaled_by_facts else np.float32(1))
        for name, signal in SIGNALS.items()
    }


def _mean_of_known(line: Floats, summary: Floats) -> Floats:
    """Return the mean of both signals where a source has both, else the one it has."""
    both = (line != 0) & (summary != 0)
    mean: Floats = np.where(both, (line + summary) / 2, np.maximum(line, summary))
    return mean


def compute_margin(best_interaction: Floats) -> Floats:
    """Return by how much each source's `best_interaction` exceeds the mean of the `RIVAL_COUNT` sources after its best rival.

    A statement that all sources share then singles out none of them.
    """
    # Padded with the value of unrelated sources, so that there are always enough rivals.
    ordered = np.sort(np.concatenate([best_interaction, np.full(RIVAL_COUNT + 2, BASELINE_INTERACTION, np.float32)]))[::-1]
    among_best = best_interaction >= ordered[RIVAL_COUNT]
    top = ordered[: RIVAL_COUNT + 2].sum()
    others = np.where(among_best, top - best_interaction, top - ordered[RIVAL_COUNT + 1]) - np.where(
        best_interaction >= ordered[0], ordered[1], ordered[0]
    )
    lead: Floats = (best_interaction - others / RIVAL_COUNT).astype(np.float32)
    return lead


def _pair_coverage(similarities: Floats, weight: Floats, owner: Rows, owners: int) -> Floats:
    """Return for each source how well it covers the token pairs of the query; pairs that rarely occur together count more.

    A pair counts only within one passage, but a source collects its pairs from several passages, so that one line may
    contribute the person and another the thing.
    """
    kept = np.argsort(-weight, kind="stable")[:MAX_TOKENS]
    first, second = np.triu_indices(len(kept), 1)
    # A query with a single token has no pairs; its late-interaction score takes their place.
    if len(first) == 0:
        return max_by_owner((weight @ similarities / max(float(weight.sum()), 1e-9)).astype(np.float32), owner, owners)
    best = max_by_owner(similarities[kept[first]] * similarities[kept[second]], owner, owners)
    # In a young memory, the sources missing to `MIN_SOURCES` are assumed to match by chance; otherwise a pair that its only
    # source contains would look common.
    frequency = (np.sum(best**2, axis=1) + max(0, MIN_SOURCES - owners) * CHANCE_SIMILARITY) / max(owners, MIN_SOURCES)
    # A pair that no source covers would weigh infinitely, and one that all cover nothing at all; both are bounded.
    rarity = np.maximum(-np.log(frequency + 1e-3), 1e-3)
    coverage: Floats = (rarity @ best / rarity.sum()).astype(np.float32)
    return coverage


def _date_fits(columns: ColumnSnapshot, features: PassageFeatures, time_reference: TimeReference) -> Floats:
    """Return how well the day on which each source began fits the time that is named."""
    day = np.full(len(features.sources), np.iinfo(np.int64).max)
    if not time_reference.times:
        return np.zeros(len(day), np.float32)
    np.minimum.at(day, features.source, columns.day[features.rows])
    fits = {ordinal: time_reference.fit(date.fromordinal(ordinal))[0] for ordinal in set(day.tolist())}
    return np.array([fits[ordinal] for ordinal in day.tolist()], np.float32)
