"""The signs by which a session is recognised as the one that is meant, each with its weight and its meaning."""

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
    "said": Signal(0.3, True, "a line says, word for word or nearly, what the question says"),
    "about": Signal(0.3, True, "something known is about the same", by_facts=True),
    "summary": Signal(0.3, True, "the summary has a sentence about the same"),
    "date": Signal(2.0, False, "it was at the time the question names"),
    "beginning": Signal(4.0, False, "it was among the first meetings, which the question is about"),
    "lately": Signal(0.5, False, "it was lately, which the question is about"),
}
"""Weights fitted by a listwise softmax regression on conversations, with many facts and summaries by a large model as well as
with the few of our own rules, and rounded; those of the last two are chosen."""
RIVALS = 4
"""Sources, after the best other one, that a source is compared with to tell whether it stands out."""
USUAL = 0.1
"""What a source about something else says of a question; stands for rivals where there are too few."""


@dataclass(frozen=True)
class WeighedSources:
    """The signals of every weighed source, and how near single passages are."""

    values: dict[str, Floats]
    """By name of the signal, one value per source of the evidence, unscaled; and what else must be known of it."""
    parts: dict[str, Floats]
    """What each signal adds to the score of each source."""
    score: Floats
    late: Floats
    """Per compared passage: how well its words answer those of the question, 0 to 1."""


def weigh(columns: Columns, looked: Looked, near: Floats, weight: Floats, moment: TimeReference) -> WeighedSources:
    """All signals of all sources. `near` has a row per token of the question and a column per compared passage.

    What stands alone has neither lines nor a summary: it speaks for itself where others have those.
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
        # the rest is for the gate alone, and means the same from question to question
        "known": np.full(count, _known(columns), np.float32),
        "matter": _mean_of_known(best[LINES], best[SUMMARIES]),
        "nearest": highest(evidence.cosine, evidence.source, count),
        "ahead": ahead(said),
        "words": highest(evidence.bm25, evidence.source, count),
    }
    parts = shares(values)
    return WeighedSources(values, parts, _sum(parts.values()), late)


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


def _mean_of_known(line: Floats, summary: Floats) -> Floats:
    """The mean of both where a source has both, else the one it has."""
    both = (line != 0) & (summary != 0)
    mean: Floats = np.where(both, (line + summary) / 2, np.maximum(line, summary))
    return mean


def ahead(said: Floats) -> Floats:
    """How much more each source says than the `RIVALS` after its best rival: what all sources say means none of them."""
    ordered = np.sort(np.concatenate([said, np.full(RIVALS + 2, USUAL, np.float32)]))[::-1]
    among_best = said >= ordered[RIVALS]
    top = ordered[: RIVALS + 2].sum()
    others = np.where(among_best, top - said, top - ordered[RIVALS + 1]) - np.where(said >= ordered[0], ordered[1], ordered[0])
    by: Floats = (said - others / RIVALS).astype(np.float32)
    return by


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


def _in_time(columns: Columns, evidence: PassageFeatures, moment: TimeReference) -> dict[str, Floats]:
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
