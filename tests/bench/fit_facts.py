"""How well does the classifier find the sentences worth keeping? Fits its weights on labelled chats, and measures them.

The chats in `fact_sentences/` are by very different people, written for this and nothing else; `keep` marks the parts of a
message worth remembering, with their kind, `traps` what looks like it. A sentence is one of those that `dialogue_acts` finds
the user states as themselves; it is worth keeping if it holds most of a marked part, or is most of one.

The figures come from five folds, no talk in two of them: `precision` and `recall` (percent) at the limit the program uses,
`average_precision` over all limits, `kind_accuracy` of the sentences worth keeping, and `read` the percent of the marked parts
that `dialogue_acts` leaves for the classifier at all. With --write the weights of all talks together go into
`resources/facts/weights.json`, as small as rounding and leaving out what counts for nothing make them.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from lethe_app.brain.reading.dialogue_acts import read_pieces
from lethe_app.brain.reading.own_words import extract_question
from lethe_app.brain.reading.pieces import SentenceMeaning
from lethe_app.brain.reading.rated_sentences import KEEP_THRESHOLD
from lethe_app.brain.reading.sentence_classifier import BIAS
from lethe_app.brain.reading.sentence_features import extract_features
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role
from tests.bench.facts import words_of
from tests.bench.report import Figures, run

HERE = Path(__file__).with_name("fact_sentences")
WEIGHTS = Path(__file__).parent.parent.parent / "resources" / "facts" / "weights.json"
KINDS = ("identity", "people", "health", "work", "home", "taste", "event", "plan")
FOLDS = 5
SEEN = 3
"""Times a feature must occur to get a weight."""
DECAY = 3.0
"""How strongly weights are held near zero."""
STEPS, STEP = 200, 0.05
SHARE = 0.6
"""Of the words of a sentence or a marked part that must be those of the other."""
NO_MATTER = 0.06, 0.3
"""Weights below which a feature is left out, for being kept and for a kind."""

Matrix = np.ndarray[Any, np.dtype[np.float32]]


@dataclass
class Example:
    """One sentence of a user."""

    talk: str
    features: dict[str, float]
    kind: str
    """Empty if it is not worth keeping."""


def read() -> tuple[list[Example], int, int]:
    """All sentences, how many parts are marked, and how many of those stand in one of the sentences."""
    examples: list[Example] = []
    marked = found = 0
    for talk, rows in _talks():
        for row, (plain, question) in zip(rows, _sentences(rows), strict=True):
            kept = [(part["kind"], words_of(part["text"])) for part in row.get("keep", [])]
            kinds = [next((kind for kind, words in kept if _overlaps(words, words_of(text))), "") for text in plain]
            marked += len(kept)
            found += sum(any(_overlaps(words, words_of(text)) for text in plain) for _kind, words in kept)
            for place, (text, kind) in enumerate(zip(plain, kinds, strict=True)):
                examples.append(Example(talk, extract_features(text, "" if place else question, place), kind))
    return examples, marked, found


def sentences() -> Iterator[str]:
    """All sentences, spelt as rules read them."""
    return (correct_spelling(text) for _talk, rows in _talks() for plain, _question in _sentences(rows) for text in plain)


def _talks() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for file in sorted(HERE.glob("*.jsonl")):
        talks: dict[str, list[dict[str, Any]]] = {}
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            talks.setdefault(f"{file.stem} {row['talk']}", []).append(row)
        yield from talks.items()


def _sentences(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[list[str], str]]:
    """For each message what its user states as themselves, and the question before it."""
    begun = datetime(2026, 5, 1, 19, tzinfo=UTC)
    lines = [
        Utterance(
            uuid4(),
            Role.USER if row["who"] == "user" else Role.ASSISTANT,
            row["name"],
            row["text"],
            begun + place * timedelta(minutes=1),
        )
        for place, row in enumerate(rows)
    ]
    asked = ""
    for line, pieces in zip(lines, read_pieces(lines), strict=True):
        if line.role is Role.USER:
            yield [piece.text for piece in pieces if piece.meaning is SentenceMeaning.PLAIN], asked
        else:
            asked = extract_question(line.text)
            yield [], ""


def _overlaps(part: set[str], sentence: set[str]) -> bool:
    return bool(part) and len(part & sentence) >= SHARE * min(len(part), len(sentence) or 1)


def named(examples: Sequence[Example]) -> dict[str, int]:
    """The features that get a weight, with their columns."""
    counts = Counter(feature for example in examples for feature in example.features)
    return {feature: place for place, feature in enumerate(sorted(one for one, count in counts.items() if count >= SEEN))}


def matrix(examples: Sequence[Example], columns: dict[str, int]) -> Matrix:
    """One row for each sentence; the last column is one for all."""
    rows: Matrix = np.zeros((len(examples), len(columns) + 1), np.float32)
    rows[:, -1] = 1
    for row, example in zip(rows, examples, strict=True):
        for feature, value in example.features.items():
            if feature in columns:
                row[columns[feature]] = value
    return rows


def fit(rows: Matrix, wanted: Matrix) -> Matrix:
    """Weights of a logistic regression, by Adam over all rows at once."""
    weights: Matrix = np.zeros(rows.shape[1], np.float32)
    mean, square = weights.copy(), weights.copy()
    held = np.full_like(weights, DECAY / len(rows))
    held[-1] = 0
    for step in range(1, STEPS + 1):
        slope = rows.T @ (chance(rows @ weights) - wanted) / len(rows) + held * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        weights -= STEP * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def chance(sums: Matrix) -> Matrix:
    result: Matrix = 1 / (1 + np.exp(-sums))
    return result


def fit_all(examples: Sequence[Example], columns: dict[str, int]) -> tuple[Matrix, list[Matrix]]:
    """Weights for being worth keeping, and for each kind."""
    rows, kinds = matrix(examples, columns), np.array([example.kind for example in examples])
    kept = kinds != ""
    return fit(rows, kept.astype(np.float32)), [fit(rows[kept], (kinds[kept] == kind).astype(np.float32)) for kind in KINDS]


def measured(examples: Sequence[Example]) -> dict[str, float]:
    """By folds of talks."""
    talks = sorted({example.talk for example in examples})
    random.Random(1).shuffle(talks)
    fold = np.array([talks.index(example.talk) % FOLDS for example in examples])
    chances, kinds = np.zeros(len(examples), np.float32), np.array([example.kind for example in examples])
    guessed = np.empty(len(examples), dtype=object)
    for number in range(FOLDS):
        known = [example for example, its in zip(examples, fold, strict=True) if its != number]
        columns = named(known)
        keep, each = fit_all(known, columns)
        rows = matrix([example for example, its in zip(examples, fold, strict=True) if its == number], columns)
        chances[fold == number] = chance(rows @ keep)
        guessed[fold == number] = np.array(KINDS, dtype=object)[np.argmax([rows @ one for one in each], axis=0)]
    wanted, taken = kinds != "", chances >= KEEP_THRESHOLD
    sorted_wanted = wanted[np.argsort(-chances)]
    precisions = np.cumsum(sorted_wanted) / np.arange(1, len(sorted_wanted) + 1)
    return {
        "precision": 100 * float((wanted & taken).sum() / taken.sum()),
        "recall": 100 * float((wanted & taken).sum() / wanted.sum()),
        "average_precision": 100 * float(precisions[sorted_wanted].mean()),
        "kind_accuracy": 100 * float((kinds == guessed)[wanted].mean()),
    }


def write(examples: Sequence[Example]) -> None:
    """Put the weights of all talks where the program reads them."""
    columns = named(examples)
    keep, each = fit_all(examples, columns)
    rows = {}
    for feature, place in [*columns.items(), (BIAS, len(columns))]:
        kinds = [round(float(one[place]), 2) for one in each]
        if feature == BIAS or abs(keep[place]) >= NO_MATTER[0] or max(map(abs, kinds)) >= NO_MATTER[1]:
            rows[feature] = [round(float(keep[place]), 3), *kinds]
    lines = [f"{json.dumps(feature, ensure_ascii=False)}:{re.sub(' ', '', json.dumps(row))}" for feature, row in rows.items()]
    WEIGHTS.write_text(f'{{"kinds":{json.dumps(KINDS)},"weights":{{\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


def measure(*, writes: bool) -> Figures:
    """Measure, and replace the weights of the program if it `writes`."""
    start = time.perf_counter()
    examples, marked, found = read()
    result = measured(examples) | {"read": 100 * found / marked, "sentences": float(len(examples))}
    if writes:
        write(examples)
    return result | {"seconds": time.perf_counter() - start}


if __name__ == "__main__":
    option = ("--write", {"action": "store_true", "help": "replace the weights of the program"})
    run(__doc__, lambda wanted: measure(writes=wanted.write), option)
