"""Relevance gate: logistic regression that decides which ranked sources are relevant enough to enter the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_app.retrieval.features import Flags, Floats
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS

MIN_RARITY = 1.5
"""Inverse document frequency of a word that occurs in about every fifth passage."""


@dataclass(frozen=True)
class GateLimits:
    """Minimum likelihoods for sources recalled by one message."""

    first: float
    """Limit for the likeliest source."""
    others: float
    """Limit for all further sources, once the likeliest has passed."""


@dataclass(frozen=True)
class RelevanceGate:
    """Logistic regression on unscaled signals, whose values mean the same for every query."""

    bias: float
    weights: Mapping[str, float]
    statement_limits: GateLimits
    """Limits for a statement: recalling nothing is better than a third memory that is merely similar."""
    question_limits: GateLimits
    """Limits for a question: the answer may be spread over several sessions."""

    @property
    def sure(self) -> float:
        """Return the likelihood at which the likeliest source is recalled by a statement."""
        return self.statement_limits.first

    def select_passed(self, likelihoods: Floats, *, is_question: bool) -> Flags:
        """Return a mask of the sources that are recalled."""
        limits = self.question_limits if is_question else self.statement_limits
        if len(likelihoods) == 0 or likelihoods.max() < limits.first:
            return np.zeros(len(likelihoods), bool)
        passed: Flags = likelihoods >= limits.others
        # For statements the limit of further sources is above that of the first, which would drop out without this.
        passed[int(likelihoods.argmax())] = True
        return passed


BY_MEANING = RelevanceGate(
    bias=-7.8,
    weights={
        "topic": 4.4, "nearest": 3.5, "lead": 5.6, "together": 1.3, "rare words": 2.0, "single word": -1.8,
        "nothing distinctive": -1.2,
    },
    statement_limits=GateLimits(first=0.37, others=0.48),
    question_limits=GateLimits(first=0.32, others=0.18),
)  # fmt: skip
"""Fitted on questions, questions about strangers, small talk and hand-labelled ordinary messages of real conversations (see
`tests/bench/ordinary_turns.py`); each conversation was judged by weights fitted on the others. Rounded. Evidence is among
the three recalled sources for 85.8 % of questions; something is recalled for 0.7 % of small talk and 13.0 % of questions
about strangers (docs/benchmarks.md).
"""

BY_WORDS = RelevanceGate(
    bias=-4.8,
    weights={"rare words": 1.7, "said": 3.0, "single word": -2.0, "no distinctive word there": -3.5},
    statement_limits=GateLimits(first=0.3, others=0.3),
    question_limits=GateLimits(first=0.22, others=0.14),
)
"""The same without an embedder. A source that shares only everyday words with the query, as a long World Info text does with
any line of a chat, counts as unrelated. The limits for questions let about 13 % of questions about strangers' lives through;
lower ones let 30 % pass.
"""


def compute_likelihoods(
    values: Mapping[str, Floats], term_count: int, is_distinctive: Sequence[bool], occurrences: Flags, gate: RelevanceGate
) -> Floats:
    """Return the likelihood, 0 to 1, that each source is meant; 0 if the query has no terms.

    `is_distinctive` marks the distinctive ones of the `term_count` query terms, and `occurrences` has shape (terms,
    sources) and marks the sources a term occurs in.
    """
    shape = np.ones(len(values["words"]), np.float32)
    if term_count == 0:
        return 0 * shape
    inputs = dict(values) | {
        # BM25 grows without bound with every further word; the logarithm keeps a long message from passing by its length.
        "rare words": np.log1p(values["words"]),
        "single word": shape * (term_count == 1),
        "nothing distinctive": shape * (not any(is_distinctive)),
        "no distinctive word there": shape * ~occurrences[np.asarray(is_distinctive, bool)].any(axis=0),
    }
    # The bias lies far below zero: without any evidence nothing is recalled.
    score = gate.bias * shape
    for name, weight in gate.weights.items():
        score += weight * inputs[name]
    likelihoods: Floats = np.reciprocal(1 + np.exp(-score))
    return likelihoods


def find_distinctive(words: Sequence[str], rarity_in_passages: Floats) -> list[bool]:
    """Return for each word whether it is distinctive: no everyday word, and rarer than `MIN_RARITY`, which a participant's
    name is not.
    """
    is_rare = rarity_in_passages >= MIN_RARITY
    return [word not in EVERYDAY_WORDS and bool(is_rare_word) for word, is_rare_word in zip(words, is_rare, strict=True)]
