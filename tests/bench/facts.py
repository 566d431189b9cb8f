"""How good are the facts the program takes from a conversation by rules? Measured on labelled lines of our own.

A produced fact is right if it names the subject of a label of the very line it was taken from (the last of its messages),
contains all the key words of that label, in any order and form, and denies nothing where the label does not (or the other way
round). Every other produced fact counts as wrong, and so does one that only says again what another has said. Labels marked
optional may be found or missed without any effect.

The lines of `facts.jsonl` are in four parts. `dev` is what the rules were developed on. `held` was written before its lines
were ever run and never used to change a rule: precision and recall (percent) are over it. `blind` is the newest such part:
written after pronouns and double dates were first understood, run once after the last change to a rule. `seen` was held out
three times in the same way, and then learnt from: at first sight its three parts gave precision 83.7, 83.8 and 88.5, recall
77.8, 73.8 and 51.1; the last of them is mostly about relatives, by pronoun. Some lines of `dev` and `seen` got an optional
label when facts began to be taken from pronouns (“he's retired now”), which nobody had labelled before.

`people_*.jsonl` are chats of very different people with a persona, written without looking at the rules: a student, a retired
teacher, somebody who writes in fragments at night, learners of English, parents, a teenager. `people_dev` is for developing
rules. `people_held` is other people, written at the same time. `people_blind` is the newest such part, written when the held
ones had been counted several times, while variants of the rules were compared. The held parts (`held`, `people_held`,
`people_blind`) are never used to change a rule: nobody reads their mistakes. A label with `story` is what somebody said in
character: only a fact marked so fits it. `kind` and `key` of a label tell what the fact is about; they are not scored here.
`sentences` are short exchanges, each for one way of saying something; `tests/brain/reading/test_labelled_sentences.py` holds
what is found there.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.chat import Role
from lethe_app.searchable_text import fold, split_words
from tests.bench.report import run

HERE = Path(__file__).parent
DATA = (HERE / "facts.jsonl", *sorted(HERE.glob("people_*.jsonl")), HERE / "sentences.jsonl")
NEGATION = re.compile(r"\b(?:not|never|no(?! longer)|none|without)\b|n't\b", re.IGNORECASE)
QUOTED = "said: “"
SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
ROUNDS = 20
ROOT = Path(__file__).parent.parent.parent
PARTS = (
    ("held", ""),
    ("blind", "blind_"),
    ("seen", "seen_"),
    ("dev", "dev_"),
    ("people_held", "people_held_"),
    ("people_blind", "people_blind_"),
    ("people_dev", "people_dev_"),
    ("sentences", "sentences_"),
)


@dataclass(frozen=True)
class Label:
    """One fact a careful person would keep; `a|b` as a key word or subject means either."""

    line: UUID
    subject: str
    words: tuple[str, ...]
    optional: bool = False
    in_story: bool = False


@dataclass(frozen=True)
class Produced:
    """One fact some extractor made."""

    line: UUID
    text: str
    in_story: bool = False


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
    wanted = [alternatives.split("|") for alternatives in (*label.words, label.subject)]
    denies = bool(NEGATION.search(" ".join(label.words).replace("|", " ")))
    there = words_of(text if denies else affirmed(text))
    return denies <= bool(NEGATION.search(text)) and all(any(words_of(one) <= there for one in group) for group in wanted)


def affirmed(fact: str) -> str:
    """The fact without the sentences that deny something; of a quotation who said it stays."""
    said, _mark, quoted = fact.partition(QUOTED)
    kept = [sentence for sentence in SENTENCE.findall(quoted or fact) if not NEGATION.search(sentence)]
    return f"{said if quoted else ''} {' '.join(kept)}"


def _fits(fact: Produced, label: Label) -> bool:
    return label.line == fact.line and label.in_story <= fact.in_story and says(fact.text, label)


def words_of(text: str) -> set[str]:
    plain = fold(text).replace("can't", "cannot").replace("n't", " not").replace("cannot", "can not")
    return {stem(word) for word in split_words(plain)}


def score(produced: Sequence[Produced], labelled: Sequence[Label]) -> Score:
    """Of any extractor; both in the order of the conversation."""
    taken: set[int] = set()
    right, neutral, wrong = 0, 0, []
    for fact in produced:
        fitting = [place for place, label in enumerate(labelled) if _fits(fact, label)]
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


def read(part: str) -> tuple[list[list[Utterance]], list[Label]]:
    """The dialogues of one part, such as `held`, and all their labels."""
    talks: dict[str, list[Utterance]] = {}
    labels: list[Label] = []
    rows = [json.loads(row) for file in DATA for row in file.read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows):
        if row["part"] == part:
            line = uuid5(NAMESPACE_URL, str(number))
            said = Utterance(line, Role(row["role"]), row["name"], row["text"], datetime.fromisoformat(row["time"]))
            talks.setdefault(row["talk"], []).append(said)
            labels += [_label(line, fact) for fact in row["facts"]]
    return list(talks.values()), labels


def _label(line: UUID, fact: dict[str, Any]) -> Label:
    return Label(line, fact["subject"], tuple(fact["words"]), fact.get("optional", False), fact.get("story", False))


def by_rules(talks: Collection[Sequence[Utterance]]) -> list[Produced]:
    return [Produced(fact.message_ids[-1], fact.text, fact.in_story) for talk in talks for fact in extract_statements(talk)]


def explain(result: Score, talks: Collection[Sequence[Utterance]]) -> None:
    """What was wrong and what was missed, with the lines themselves."""
    texts = {line.id: line.text for talk in talks for line in talk}
    for fact in result.wrong:
        print(f"wrong   {fact.text}   ← {texts[fact.line]}")
    for label in result.missed:
        print(f"missed  {' '.join(label.words)}   ← {texts[label.line]}")


def measure(explained: str | None) -> dict[str, float]:
    figures: dict[str, float] = {}
    for part, prefix in PARTS:
        talks, labels = read(part)
        result = score(by_rules(talks), labels)
        figures |= {
            f"{prefix}precision": result.precision,
            f"{prefix}recall": result.recall,
            f"{prefix}lines": sum(map(len, talks)),
            f"{prefix}labels": sum(not label.optional for label in labels),
        }
        if explained == part:
            explain(result, talks)
    return figures | {"lines_per_second": speed()}


def speed() -> float:
    """Lines a second by rules."""
    talks, _labels = read("dev")
    start = time.perf_counter()
    for _round in range(ROUNDS):
        extract_sentences.cache_clear()
        by_rules(talks)
    return ROUNDS * sum(map(len, talks)) / (time.perf_counter() - start)


if __name__ == "__main__":
    parts = [part for part, _prefix in PARTS]
    run(
        __doc__,
        lambda wanted: measure(wanted.explain),
        ("--explain", {"choices": parts, "help": "show the mistakes of one part"}),
    )
