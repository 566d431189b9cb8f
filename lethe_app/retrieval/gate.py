"""Knows when not to remember: turns the evidence for a source into a likelihood that it is really meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lethe_app.retrieval.evidence import Floats

MOST_PHRASES, MOST_COUNTED = 4.0, 6
"""More neighbouring words, or more words in the question, make nothing surer."""


@dataclass(frozen=True)
class Gate:
    """A logistic regression on signals before scaling, which mean the same from question to question."""

    bias: float
    weights: Mapping[str, float]
    sure: float
    """Likelihood from which something is brought up unasked."""


BY_MEANING = Gate(
    bias=-8.7,
    weights={"about": 3.0, "summary": 2.9, "together": 3.7, "line": 3.2, "rare words": 2.2, "single word": -3.1},
    sure=0.09,
)
"""Fitted on questions, small talk and questions to strangers; `sure` is where little of the last two comes through."""

BY_WORDS = Gate(bias=-7.0, weights={"rare words": 2.3, "covered": 2.0, "phrases": 0.4, "words asked": 0.35}, sure=0.2)
"""The same where no embedder is there."""


def likelihood(values: Mapping[str, Floats], words: int, gate: Gate) -> Floats:
    """From 0 to 1 for each source; nothing is meant where no word was said that leads anywhere."""
    shape = np.ones(len(values["words"]), np.float32)
    if words == 0:
        return 0 * shape
    signs = dict(values) | {
        "rare words": np.log1p(values["words"]),
        "phrases": np.minimum(values["phrase"], MOST_PHRASES),
        "single word": shape * (words == 1),
        "words asked": shape * min(words, MOST_COUNTED),
    }
    score = gate.bias * shape
    for name, weight in gate.weights.items():
        score += weight * signs[name]
    likely: Floats = np.reciprocal(1 + np.exp(-score))
    return likely
