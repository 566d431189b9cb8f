"""Classifies sentences of the user: how surely they state something worth keeping for months, and of which kind that is.

Linear weights over `fact_sentences.features`, fitted by `tests/bench/fit_facts.py` on labelled chats.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from lethe_app.brain.fact_rules.sentence_features import WORD, question_words
from lethe_app.domain.facts import FactKind
from lethe_app.paths import shipped_root

BIAS = ""
"""Name of the feature that every sentence has."""
FEWEST_KNOWN, LANGUAGE_SHOWS = 0.45, 4
"""Share of the words of a sentence that must stand in the labelled chats, and from how many words on."""


@dataclass(frozen=True)
class ClassifierWeights:
    """What each feature counts for."""

    keep: Mapping[str, float]
    """For being worth keeping."""
    kinds: Mapping[FactKind, Mapping[str, float]]
    """For being of each kind."""


def probability(features: Mapping[str, float]) -> float:
    """Return how surely a sentence states something worth keeping, from 0 to 1; 0 in an unknown language."""
    words = [feature for feature in features if feature.startswith(WORD)]
    if len(words) >= LANGUAGE_SHOWS and sum(word in _weights().keep for word in words) < FEWEST_KNOWN * len(words):
        return 0.0
    return 1 / (1 + math.exp(-_sum(_weights().keep, features)))


def kind(features: Mapping[str, float]) -> FactKind:
    """Return the likeliest kind of what a sentence states."""
    return max(_weights().kinds.items(), key=lambda one: _sum(one[1], features))[0]


def knows_question(question: str, heard: Collection[str] = ()) -> bool:
    """Return whether personas ask such things: each word that matters is `heard` or stood in a question of the labelled chats.

    Words of what a persona makes up about somebody did neither.
    """
    return all(feature in _weights().keep or feature in heard for feature in question_words(question))


def _sum(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    return weights[BIAS] + sum(weights.get(feature, 0.0) * value for feature, value in features.items())


@lru_cache(maxsize=1)
def _weights() -> ClassifierWeights:
    read = json.loads((shipped_root() / "resources" / "facts" / "weights.json").read_text(encoding="utf-8"))
    columns = [FactKind(name) for name in read["kinds"]]
    kinds = {one: {feature: row[place + 1] for feature, row in read["weights"].items()} for place, one in enumerate(columns)}
    return ClassifierWeights({feature: row[0] for feature, row in read["weights"].items()}, kinds)
