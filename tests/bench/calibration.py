"""How well distances and words of the starter embedder tell duplicates, updates and what a message means.

Every decision is cross-validated: limits are fitted on all topics but one and judged on that one (`cv`), so no figure stems
from a pair that its limit has seen. The word lists of `retrieval/contradictions.py` were written beside these pairs, half of
the topics in view. Precision counts every kind of pair alike; in a real memory most near facts are related ones. `dated` is the
distance of duplicates as stored, each with another day.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from lethe_app.paths import shipped_root
from lethe_app.retrieval.calibration import (
    FACT_KINDS,
    MESSAGE_KINDS,
    ORIGINAL,
    CalibrationPair,
    PairKind,
    Thresholds,
    add_unrelated_pairs,
    fit_thresholds,
    load_pairs,
    measure_distances,
)
from lethe_app.retrieval.embedding_geometry import Embed
from lethe_app.retrieval.fact_relation import FactRelation, classify_relation
from lethe_app.retrieval.query_terms import format_day
from tests.bench._setup import with_embedder
from tests.bench.report import Figures, run

FIRST_DAY = datetime(2023, 5, 8, tzinfo=UTC)
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
SAME, SAME_OR_CHANGED, MEANT = {PairKind.DUPLICATE}, {PairKind.DUPLICATE, PairKind.UPDATE}, {PairKind.QUESTION}
DECISIONS = {
    "same_words": (FACT_KINDS, SAME), "same_memory": (FACT_KINDS, SAME_OR_CHANGED),
    "update": (FACT_KINDS, SAME_OR_CHANGED), "natural": (MESSAGE_KINDS, MEANT),
    "rag_limit": (MESSAGE_KINDS, MEANT),
}  # fmt: skip
"""Limit → the kinds it chooses among, and those it should let through."""
Row = tuple[CalibrationPair, float, Thresholds]
"""A pair, its distance, and limits fitted without its topic."""


async def measure(pairs: Sequence[CalibrationPair], embed: Embed) -> tuple[list[float], list[float]]:
    """Distances of all pairs, and of the duplicates with a day before each text."""
    dated = [
        pair.model_copy(
            update={
                "first": f"({format_day(FIRST_DAY)}) {pair.first}",
                "second": f"({format_day(FIRST_DAY + timedelta(days=17 * number))}) {pair.second}",
            }
        )
        for number, pair in enumerate(pairs, 1)
        if pair.kind is PairKind.DUPLICATE
    ]
    return await measure_distances(embed, pairs), await measure_distances(embed, dated)


def cross_validated(pairs: Sequence[CalibrationPair], distances: Sequence[float]) -> list[Row]:
    """Each pair with limits that have not seen its topic."""
    rows: list[Row] = []
    for topic in dict.fromkeys(pair.topic for pair in pairs):
        others = [(pair, far) for pair, far in zip(pairs, distances, strict=True) if pair.topic != topic]
        limits = fit_thresholds([pair for pair, _far in others], [far for _pair, far in others])
        rows += [(pair, far, limits) for pair, far in zip(pairs, distances, strict=True) if pair.topic == topic]
    return rows


def passing(rows: Sequence[Row], name: str) -> dict[PairKind, float]:
    """The share of each kind that passes a limit, in percent."""
    hits: dict[PairKind, list[bool]] = {}
    for pair, far, limits in rows:
        if pair.kind in DECISIONS[name][0]:
            hits.setdefault(pair.kind, []).append(far < getattr(limits, name))
    return {kind: 100 * float(np.mean(some)) for kind, some in hits.items()}


def precision(shares: dict[PairKind, float], wanted: set[PairKind]) -> float:
    """Of what passes, in percent, when every kind is as frequent; strangers, told by themselves, left out."""
    counted = {kind: share for kind, share in shares.items() if kind is not PairKind.QUESTION_STRANGER}
    every = sum(counted.values())
    return 100 * sum(share for kind, share in counted.items() if kind in wanted) / every if every else 100.0


def related(rows: Sequence[Row]) -> dict[FactRelation, dict[PairKind, int]]:
    """How many pairs of each kind `relation` takes for what, told first text first."""
    table = {found: dict.fromkeys(FACT_KINDS, 0) for found in FactRelation}
    for pair, far, limits in rows:
        if pair.kind in FACT_KINDS:
            table[classify_relation(pair.first, pair.second, far, limits)][pair.kind] += 1
    return table


def by_distance_alone(rows: Sequence[Row]) -> dict[FactRelation, dict[PairKind, int]]:
    """The same decided as the original does, below one limit the same and below the next an update."""
    table = {found: dict.fromkeys(FACT_KINDS, 0) for found in FactRelation}
    for pair, far, limits in rows:
        if pair.kind in FACT_KINDS:
            near = FactRelation.UPDATE if far < limits.update else FactRelation.NEW
            table[FactRelation.SAME if far < limits.same_words else near][pair.kind] += 1
    return table


def show_table(title: str, table: dict[FactRelation, dict[PairKind, int]]) -> dict[str, float]:
    """Print a table of decisions; returns the precision and recall of the first two."""
    print(f"\n{title:<24}" + "".join(f"{kind.value:>12}" for kind in FACT_KINDS))
    figures = {}
    for found, counts in table.items():
        print(f"  {found.value:<22}" + "".join(f"{counts[kind]:>12}" for kind in FACT_KINDS))
    for found, kind in ((FactRelation.SAME, PairKind.DUPLICATE), (FactRelation.UPDATE, PairKind.UPDATE)):
        right, chosen = table[found][kind], sum(table[found].values())
        figures[f"{found.value}_precision"] = 100 * right / chosen if chosen else 100.0
        figures[f"{found.value}_recall"] = 100 * right / sum(some[kind] for some in table.values())
    return figures


def compare() -> Figures:
    """Measure, and print the tables."""
    pairs = add_unrelated_pairs(load_pairs(shipped_root() / "resources" / "calibration" / "pairs.json"))
    distances, dated = asyncio.run(with_embedder(lambda embed: measure(pairs, embed)))
    spread = {kind.value: [far for pair, far in zip(pairs, distances, strict=True) if pair.kind is kind] for kind in PairKind}
    print(f"{'distances':<20}{'n':>6}" + "".join(f"{100 * share:>7.0f}%" for share in QUANTILES))
    for name, some in {**spread, "duplicate dated": dated}.items():
        print(f"{name:<20}{len(some):>6}" + "".join(f"{value:8.3f}" for value in np.quantile(some, QUANTILES)))
    limits, rows = fit_thresholds(pairs, distances), cross_validated(pairs, distances)
    figures: dict[str, float] = {}
    print(f"\n{'limit':<16}{'original':>9}{'fitted':>8}{'cv: precision':>15}{'recall':>8}   share of each kind that passes")
    for name, (_among, right) in DECISIONS.items():
        shares = passing(rows, name)
        fitted, good = getattr(limits, name), precision(shares, right)
        recall = float(np.mean([shares[kind] for kind in right]))
        figures |= {name: fitted, f"{name}_cv_precision": good, f"{name}_cv_recall": recall}
        told = "  ".join(f"{kind.value} {share:.1f}%" for kind, share in shares.items())
        print(f"{name:<16}{getattr(ORIGINAL, name):>9.3f}{fitted:>8.3f}{good:>14.1f}%{recall:>7.1f}%   {told}")
    figures["same_words"] = limits.same_words
    print(f"{'same_words':<16}{ORIGINAL.same_words:>9.3f}{limits.same_words:>8.3f}   judged by `relation` below")
    first = show_table("distance alone (cv)", by_distance_alone(rows))
    second = show_table("distance and words (cv)", related(rows))
    figures |= {f"distance_{key}": value for key, value in first.items()}
    figures |= {f"relation_{key}": value for key, value in second.items()}
    print("\n" + "\n".join(f"{key:<28}{first[key]:6.1f}% → {value:5.1f}%" for key, value in second.items()))
    return figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: compare())
