"""Knows when not to remember: turns the evidence for a source into a likelihood that it is really meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lethe_app.retrieval.evidence import Flags, Floats
from lethe_app.retrieval.words import EVERYDAY

MOST_PHRASES = 4.0
"""More neighbouring words make nothing surer."""
RARE_ENOUGH = 1.5
"""Inverse document frequency of a word that stands in every fifth passage or so."""


@dataclass(frozen=True)
class Gate:
    """A logistic regression on signals before scaling, which mean the same from question to question."""

    bias: float
    weights: Mapping[str, float]
    sure: float
    """Likelihood from which something is brought up unasked."""


BY_MEANING = Gate(
    bias=-6.9,
    weights={"nearest": 4.5, "together": 6.7, "said": 2.0, "rare words": 1.3, "single word": -2.0, "nothing telling": -2.5},
    sure=0.11,
)
"""Fitted on questions, small talk and questions to strangers, to memories of six lines up to thirty sessions, with and without
facts and summaries, and rounded; `sure` is where little of the last two comes through. The last weight is chosen."""

BY_WORDS = Gate(
    bias=-4.8,
    weights={"rare words": 1.7, "covered": 3.0, "phrases": 0.4, "single word": -2.0, "nothing telling there": -3.5},
    sure=0.16,
)
"""The same where no embedder is there: then what shares only words of every day, as a long text of a world does with any line
of a chat, has nothing in common."""


def likelihood(values: Mapping[str, Floats], words: int, telling: Sequence[bool], there: Flags, gate: Gate) -> Floats:
    """From 0 to 1 for each source; nothing is meant where no word was said that leads anywhere.

    `words` is how many words the question has, `telling` which of them tell what it is about, and `there` has a row for each
    and a column per source that says whether it stands in it.
    """
    shape = np.ones(len(values["words"]), np.float32)
    if words == 0:
        return 0 * shape
    signs = dict(values) | {
        "rare words": np.log1p(values["words"]),
        "phrases": np.minimum(values["phrase"], MOST_PHRASES),
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
