"""Classifier of user sentences: the probability that one states something worth keeping for months, and its kind.

Linear weights over `sentence_features.extract_features`, fitted by `tests/bench/fit_facts.py` on labelled chats.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from lethe_app.brain.reading.sentence_features import WORD_PREFIX, question_word_features, remove_relatives
from lethe_app.domain.facts import FactKind
from lethe_app.paths import shipped_root

BIAS = ""
"""Name of the feature that every sentence has."""
MIN_KNOWN_SHARE, MIN_WORDS_FOR_LANGUAGE = 0.45, 4
"""Minimum share of a sentence's words that occur in the labelled chats, and the number of words from which it is required."""


@dataclass(frozen=True)
class ClassifierWeights:
    """Weights of the features."""

    keep: Mapping[str, float]
    """Weights for being worth keeping."""
    kinds: Mapping[FactKind, Mapping[str, float]]
    """Weights for each kind."""


def predict_probability(features: Mapping[str, float]) -> float:
    """Return the probability that a sentence states something worth keeping, 0 to 1; 0 for a sentence in an unknown
    language.
    """
    words = [feature for feature in features if feature.startswith(WORD_PREFIX)]
    if len(words) >= MIN_WORDS_FOR_LANGUAGE and sum(word in _load_weights().keep for word in words) < MIN_KNOWN_SHARE * len(
        words
    ):
        return 0.0
    return 1 / (1 + math.exp(-_weighted_sum(_load_weights().keep, features)))


def predict_kind(features: Mapping[str, float]) -> FactKind:
    """Return the most likely kind of a sentence."""
    return max(_load_weights().kinds.items(), key=lambda item: _weighted_sum(item[1], features))[0]


def is_plausible_question(question: str, known_features: Collection[str] = ()) -> bool:
    """Return whether the question is plausible for a persona: each of its content words is a relative, in `known_features` or
    in a question of the labelled chats.

    Words of something a persona makes up about a person are none of these.
    """
    features = question_word_features(remove_relatives(question))
    return all(feature in _load_weights().keep or feature in known_features for feature in features)


def _weighted_sum(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    return weights[BIAS] + sum(weights.get(feature, 0.0) * value for feature, value in features.items())


@lru_cache(maxsize=1)
def _load_weights() -> ClassifierWeights:
    data = json.loads((shipped_root() / "resources" / "facts" / "weights.json").read_text(encoding="utf-8"))
    columns = [FactKind(name) for name in data["kinds"]]
    kinds = {one: {feature: row[index + 1] for feature, row in data["weights"].items()} for index, one in enumerate(columns)}
    return ClassifierWeights({feature: row[0] for feature, row in data["weights"].items()}, kinds)
