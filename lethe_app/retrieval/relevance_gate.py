"""Decides which sources are brought up unasked: turns the evidence for each into a likelihood that it is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_app.retrieval.features import Flags, Floats
from lethe_app.retrieval.query_terms import EVERYDAY

RARE_ENOUGH = 1.5
"""Inverse document frequency of a word that stands in every fifth passage or so."""


@dataclass(frozen=True)
class GateLimits:
    """Likelihoods from which sources are brought up by one message."""

    first: float
    """The likeliest source."""
    others: float
    """Every other one, once the likeliest is."""


@dataclass(frozen=True)
class Gate:
    """A logistic regression on signals before scaling, which mean the same from question to question."""

    bias: float
    weights: Mapping[str, float]
    telling: GateLimits
    """For a message that tells something: it is better to add nothing than a third memory that is only similar."""
    asking: GateLimits
    """For one that asks: the answer may lie in several sessions."""

    @property
    def sure(self) -> float:
        """Return the likelihood from which the likeliest source is brought up by an ordinary message."""
        return self.telling.first

    def passed(self, likely: Floats, *, asking: bool) -> Flags:
        """Return which sources are brought up."""
        limits = self.asking if asking else self.telling
        if len(likely) == 0 or likely.max() < limits.first:
            return np.zeros(len(likely), bool)
        passed: Flags = likely >= limits.others
        passed[int(likely.argmax())] = True
        return passed


BY_MEANING = Gate(
    bias=-7.8,
    weights={
        "matter": 4.4, "nearest": 3.5, "ahead": 5.6, "together": 1.3, "rare words": 2.0, "single word": -1.8,
        "nothing telling": -1.2,
    },
    telling=GateLimits(first=0.37, others=0.48),
    asking=GateLimits(first=0.32, others=0.18),
)  # fmt: skip
"""Fitted on questions, questions to strangers, small talk and hand-labelled ordinary messages of real conversations (see
`tests/bench/ordinary_turns.py`), each conversation judged by weights fitted on the others, and rounded."""

BY_WORDS = Gate(
    bias=-4.8,
    weights={"rare words": 1.7, "said": 3.0, "single word": -2.0, "nothing telling there": -3.5},
    telling=GateLimits(first=0.3, others=0.3),
    asking=GateLimits(first=0.22, others=0.14),
)
"""The same where no embedder is there: then what shares only words of every day, as a long text of a world does with any line
of a chat, has nothing in common."""


def likelihood(values: Mapping[str, Floats], words: int, telling: Sequence[bool], there: Flags, gate: Gate) -> Floats:
    """Return a likelihood from 0 to 1 for each source; 0 where no word was said that leads anywhere.

    `words` is how many words the question has, `telling` which of them tell what it is about, and `there` has a row for each
    and a column per source that says whether it stands in it.
    """
    shape = np.ones(len(values["words"]), np.float32)
    if words == 0:
        return 0 * shape
    signs = dict(values) | {
        "rare words": np.log1p(values["words"]),
        "single word": shape * (words == 1),
        "nothing telling": shape * (not any(telling)),
        "nothing telling there": shape * ~there[np.asarray(telling, bool)].any(axis=0),
    }
    score = gate.bias * shape
    for name, weight in gate.weights.items():
        score += weight * signs[name]
    likely: Floats = np.reciprocal(1 + np.exp(-score))
    return likely


def telling(words: Sequence[str], rarity_in_passages: Floats) -> list[bool]:
    """Which of the words are neither said every day nor in so many passages as the name of somebody who is there."""
    rare = rarity_in_passages >= RARE_ENOUGH
    return [word not in EVERYDAY and bool(told) for word, told in zip(words, rare, strict=True)]
