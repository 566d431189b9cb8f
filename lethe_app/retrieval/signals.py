"""The signs by which a session is recognised as the one that is meant, each with its weight and its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from lethe_app.retrieval.evidence import Evidence, Flags, Floats, highest, standard
from lethe_app.retrieval.shelf import ALONE, FACTS, LINES, SUMMARIES, Columns, Rows
from lethe_app.retrieval.spread import BACKGROUND
from lethe_app.retrieval.when import Moment

CHANCE = 0.03
"""The square of the nearness of a pair of tokens in a source that is about something else."""
MOST_TOKENS = 16
"""Of a long message only the weightiest tokens are paired."""


ENOUGH = 5
"""With fewer facts to a source than these, facts say less of what it was about."""


@dataclass(frozen=True)
class Signal:
    """One sign: its weight in the sum, whether it is first brought to a common scale, and what it means."""

    weight: float
    scaled: bool
    meaning: str
    by_facts: bool = False
    """Does it count only as far as there are facts?"""


SIGNALS = {
    "together": Signal(0.8, True, "two things the question names occur together, in these words or others"),
    "line": Signal(0.2, True, "a line says, word for word or nearly, what the question says"),
    "fact": Signal(0.2, True, "so does something known", by_facts=True),
    "about": Signal(0.2, True, "something known is about the same", by_facts=True),
    "summary": Signal(0.2, True, "the summary has a sentence about the same"),
    "words": Signal(0.1, True, "a line shares rare words with the question"),
    "phrase": Signal(0.15, True, "words that are neighbours in the question are neighbours there"),
    "covered": Signal(0.1, True, "much of what the question names comes up somewhere"),
    "date": Signal(2.0, False, "it was at the time the question names"),
    "beginning": Signal(4.0, False, "it was among the first meetings, which the question is about"),
    "lately": Signal(0.5, False, "it was lately, which the question is about"),
}
"""Weights fitted by a listwise softmax regression on conversations, with many facts and summaries by a large model as well as
with the few of our own rules, and rounded; those of the last two are chosen."""


@dataclass(frozen=True)
class Weighed:
    """The signals of every weighed source, and how near single passages are."""

    values: dict[str, Floats]
    """By name of the signal, one value per source of the evidence, unscaled; and what else must be known of it."""
    parts: dict[str, Floats]
    """What each signal adds to the score of each source."""
    score: Floats
    late: Floats
    """Per compared passage: how well its words answer those of the question, 0 to 1."""


def weigh(columns: Columns, evidence: Evidence, compared: Rows, near: Floats, weight: Floats, moment: Moment) -> Weighed:
    """All signals of all sources. `near` has a row per token of the question and a column per compared passage.

    What stands alone has neither lines nor a summary: it speaks for itself where others have those.
    """
    count = len(evidence.sources)
    owner = evidence.source[compared]
    total = max(float(weight.sum()), 1e-9)
    late = (weight @ near / total).astype(np.float32)
    together = _together(near, weight, owner, count)
    of = {group: (evidence.group == group) | (evidence.group == ALONE) for group in (LINES, FACTS, SUMMARIES)}
    values = {
        "together": together,
        "line": _best(late, owner, of[LINES][compared], count),
        "fact": _best(late, owner, of[FACTS][compared], count),
        "about": _best(evidence.cosine, evidence.source, of[FACTS], count),
        "summary": _best(evidence.cosine, evidence.source, of[SUMMARIES], count),
        "words": _best(evidence.bm25, evidence.source, of[LINES], count),
        "phrase": evidence.beside,
        "covered": evidence.covered**2,
        **_in_time(columns, evidence, moment),
        "nearest": highest(evidence.cosine, evidence.source, count),  # the last two are for the gate: they mean the same
        "said": highest(late, owner, count),  # whether there are facts and summaries or lines alone
        "known": np.full(count, _known(columns), np.float32),
    }
    parts = shares(values)
    return Weighed(values, parts, _sum(parts.values()), late)


def shares(values: Mapping[str, Floats]) -> dict[str, Floats]:
    """What each signal adds to the score of each source."""
    return {
        name: np.float32(signal.weight)
        * (standard(values[name]) if signal.scaled else values[name])
        * (values["known"] if signal.by_facts else np.float32(1))
        for name, signal in SIGNALS.items()
    }


def fused(values: Mapping[str, Floats], without: str = "") -> Floats:
    """The score of every source, leaving out one signal where that is wanted."""
    return _sum(share for name, share in shares(values).items() if name != without)


def _sum(parts: Iterable[Floats]) -> Floats:
    score: Floats = np.sum(list(parts), axis=0, dtype=np.float32)
    return score


def _known(columns: Columns) -> float:
    """How much facts tell of the sources, from 0 to 1; what stands alone is all there is to know."""
    return min(1.0, (columns.of_group[FACTS] / ENOUGH + columns.of_group[ALONE]) / max(1, columns.source_count))


def _best(values: Floats, owner: Rows, of: Flags, count: int) -> Floats:
    """The best passage of one group speaks for its source."""
    return highest(values[of], owner[of], count)


def _together(near: Floats, weight: Floats, owner: Rows, owners: int) -> Floats:
    """For each pair of tokens of the question the passage that has both; pairs rarely found together count more.

    A source gathers its pairs from several of its passages, so that one line may bring the who and another the what.
    """
    kept = np.argsort(-weight, kind="stable")[:MOST_TOKENS]
    first, second = np.triu_indices(len(kept), 1)
    if len(first) == 0:
        return highest((weight @ near / max(float(weight.sum()), 1e-9)).astype(np.float32), owner, owners)
    best = highest(near[kept[first]] * near[kept[second]], owner, owners)
    usual = (np.sum(best**2, axis=1) + max(0, BACKGROUND - owners) * CHANCE) / max(owners, BACKGROUND)
    rare = np.maximum(-np.log(usual + 1e-3), 1e-3)
    gathered: Floats = (rare @ best / rare.sum()).astype(np.float32)
    return gathered


def _in_time(columns: Columns, evidence: Evidence, moment: Moment) -> dict[str, Floats]:
    """Signals that follow from when a source began."""
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
