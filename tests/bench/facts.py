"""How good are the facts the program takes from a conversation by rules? Measured on labelled lines of our own.

A produced fact is right if it names the subject of a label of the very line it was taken from (the last of its messages),
contains all the key words of that label, in any order and form, and denies nothing where the label does not (or the other way
round). Every other produced fact counts as wrong, and so does one that only says again what another has said. Labels marked
optional may be found or missed without any effect.

The lines are in three parts. `dev` is what the rules were developed on. `held` was written before its lines were ever run and
never used to change a rule: precision and recall (percent) are over it. `seen` was held out twice in the same way, and then
learnt from: at first sight its two halves gave precision 83.7 and 83.8, recall 77.8 and 73.8.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

from lethe_app.brain.said import Said
from lethe_app.brain.sentences import sentences
from lethe_app.brain.statements import extract
from lethe_app.brain.stems import stem
from lethe_app.domain.chat import Role
from lethe_app.retrieval.words import cut, fold
from tests.bench.report import arguments, show

DATA = Path(__file__).with_name("facts.jsonl")
NEGATION = re.compile(r"\b(?:not|never|no(?! longer)|none|without)\b|n't\b", re.IGNORECASE)
ROUNDS = 20


@dataclass(frozen=True)
class Label:
    """One fact a careful person would keep; `a|b` as a key word means either."""

    line: UUID
    subject: str
    words: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True)
class Produced:
    """One fact some extractor made."""

    line: UUID
    text: str


@dataclass(frozen=True)
class Score:
    """Counts, and what went wrong in words."""

    right: int
    wrong: tuple[Produced, ...]
    found: int
    missed: tuple[Label, ...]

    @property
    def precision(self) -> float:
        return 100 * self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return 100 * self.found / max(1, self.found + len(self.missed))


def says(text: str, label: Label) -> bool:
    """Does the sentence state what the label asks for?"""
    there = words_of(text)
    wanted = [alternatives.split("|") for alternatives in (*label.words, *cut(label.subject))]
    denies = bool(NEGATION.search(" ".join(label.words).replace("|", " ")))
    return denies == bool(NEGATION.search(text)) and all(any(words_of(one) <= there for one in group) for group in wanted)


def words_of(text: str) -> set[str]:
    plain = fold(text).replace("can't", "cannot").replace("n't", " not").replace("cannot", "can not")
    return {stem(word) for word in cut(plain)}


def score(produced: Sequence[Produced], labelled: Sequence[Label]) -> Score:
    """Of any extractor; both in the order of the conversation."""
    taken: set[int] = set()
    right, neutral, wrong = 0, 0, []
    for fact in produced:
        fitting = [place for place, label in enumerate(labelled) if label.line == fact.line and says(fact.text, label)]
        fresh = [place for place in fitting if place not in taken]
        taken.update(fitting)
        if not fresh:
            wrong.append(fact)
        elif all(labelled[place].optional for place in fresh):
            neutral += 1
        else:
            right += 1
    needed = [place for place, label in enumerate(labelled) if not label.optional]
    missed = tuple(labelled[place] for place in needed if place not in taken)
    return Score(right, tuple(wrong), len(needed) - len(missed), missed)


def read(part: str) -> tuple[list[list[Said]], list[Label]]:
    """The dialogues of one part, `dev` or `held`, and all their labels."""
    talks: dict[str, list[Said]] = {}
    labels: list[Label] = []
    for number, row in enumerate(map(json.loads, DATA.read_text(encoding="utf-8").splitlines())):
        if row["part"] == part:
            line = uuid5(NAMESPACE_URL, str(number))
            said = Said(line, Role(row["role"]), row["name"], row["text"], datetime.fromisoformat(row["time"]))
            talks.setdefault(row["talk"], []).append(said)
            labels += [Label(line, it["subject"], tuple(it["words"]), it.get("optional", False)) for it in row["facts"]]
    return list(talks.values()), labels


def by_rules(talks: Collection[Sequence[Said]]) -> list[Produced]:
    return [Produced(fact.messages[-1], fact.text) for talk in talks for fact in extract(talk)]


def explain(result: Score, talks: Collection[Sequence[Said]]) -> None:
    """What was wrong and what was missed, with the lines themselves."""
    texts = {line.id: line.text for talk in talks for line in talk}
    for fact in result.wrong:
        print(f"wrong   {fact.text}   ← {texts[fact.line]}")
    for label in result.missed:
        print(f"missed  {' '.join(label.words)}   ← {texts[label.line]}")


def main() -> None:
    """Measure and print."""
    wanted = arguments(__doc__, ("--explain", {"choices": ["dev", "seen", "held"], "help": "show the mistakes of one part"}))
    figures: dict[str, float] = {}
    for part, prefix in (("held", ""), ("seen", "seen_"), ("dev", "dev_")):
        talks, labels = read(part)
        result = score(by_rules(talks), labels)
        figures |= {
            f"{prefix}precision": result.precision,
            f"{prefix}recall": result.recall,
            f"{prefix}lines": sum(map(len, talks)),
            f"{prefix}labels": sum(not label.optional for label in labels),
        }
        if wanted.explain == part:
            explain(result, talks)
    talks, _labels = read("dev")
    start = time.perf_counter()
    for _round in range(ROUNDS):
        sentences.cache_clear()
        by_rules(talks)
    figures["lines_per_second"] = ROUNDS * sum(map(len, talks)) / (time.perf_counter() - start)
    show(list(figures.items()), figures, as_json=wanted.json)


if __name__ == "__main__":
    main()
