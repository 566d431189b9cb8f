"""A scripted evening as it lies in `first_evening/`: what was said, what of it is a fact, and what must not become one.

Every row of a file is one object. The first names the speakers; then come the messages in order, each with the `facts`, `traps`
and `changes` of that message, or with the words only the persona made up (`invented`); then what is asked the next evening
(`ask`), lines that should bring nothing up (`idle`), what a capable model writes about the evening (`model`, `noted`), and true
facts nobody had labelled (`also_true`).

A label is a list of word groups, each `one|or|another`; a sentence states it if every group has a word in it, in any form, and
if it denies nothing, unless a group offers a denying word itself. Its subject must be named where the label gives one; without
`subject` that is the user, and an empty one is anybody. Where a label asks for one word only, such as a name, the rest of a
fact must rest on the user's own lines for it to be right. A trap or an outdated fact is not stated where a word of `unless`
stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from lethe_app.retrieval.query_terms import STOP_WORDS
from tests.bench.facts import NEGATION, affirmed, words_of

FOLDER = Path(__file__).with_name("first_evening")
DENYING = frozenset({"not", "never", "no", "none", "without"})
SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*[\"”’)]*")
TITLES = re.compile(r"\b(Mr|Mrs|Ms|Dr|St)\.")
NAMED = re.compile(r"(?<=[\w,;:)] )[A-Z][\w'’]+|\b\d+\b")
"""Names inside a sentence, and numbers."""
NUMBER = re.compile(r"\b\d+\b")
CLAUSE = re.compile(r"[,;:]\s|\s(?:and|but|who|whom|which|where|because|while)\s")
MIN_CLAUSE_WORDS = 2
"""Words that tell something."""
RESOLVED = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|next|last|this|on|ago|since|(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|month|year)\b",
    re.IGNORECASE,
)
"""Words that a careful writer replaces by a date."""
MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b", re.IGNORECASE)
NO_MATTER = words_of(
    """
    say said says tell told talk talked ask asked mention mentioned describe described explain explained share shared add added
    also discuss discussed call called name named user conversation want wanted plan planned hope hoped
    year old age come live work keep bad easily almost
    """
) | words_of(" ".join(STOP_WORDS))
"""Words with which anything may be retold, stop words among them."""
OVERLAP = 0.6
"""Share of the words of a sentence of a summary that the user's own lines must hold."""


@dataclass(frozen=True)
class Label:
    """A fact a careful person would keep of one message, or may keep where it is `optional`."""

    id: str
    groups: tuple[frozenset[str], ...]
    message: int
    details: int
    """Word groups without the user's name."""
    optional: bool = False

    def is_stated(self, text: str) -> bool:
        return self.has_words(text if self.may_deny else affirmed(text))

    def has_words(self, text: str) -> bool:
        return has_words(text, self.groups)

    @property
    def is_specific(self) -> bool:
        """Does it ask for more than one thing? With only one, such as a name, anything else might be said of it."""
        return self.details > 1

    @property
    def may_deny(self) -> bool:
        return any(DENYING & set(group) for group in self.groups)


@dataclass(frozen=True)
class Trap:
    """What must not be stated: it was no fact, or another's, or (`new` names what took its place) is one no more."""

    id: str
    groups: tuple[frozenset[str], ...]
    unless: frozenset[str]
    message: int
    new: str = ""

    def is_stated(self, text: str) -> bool:
        denies = bool(NEGATION.search(text)) and not any(DENYING & set(group) for group in self.groups)
        excused = any(words_of(word) <= words_of(text) for word in self.unless)
        return has_words(text, self.groups) and not denies and not excused


@dataclass(frozen=True)
class Question:
    """Something asked the next evening, the facts it asks for and the words that answer it."""

    text: str
    facts: tuple[str, ...]
    groups: tuple[frozenset[str], ...]

    def is_answered_by(self, text: str) -> bool:
        """Does one sentence of it, or do two neighbours, hold the answer?"""
        found = sentences(text)
        pairs = [" ".join(found[place : place + 2]) for place in range(len(found))]
        return any(has_words(each, self.groups) for each in pairs)


@dataclass(frozen=True)
class Noted:
    """A fact as a capable model puts it, with the words it takes it from; some are typical mistakes of such models."""

    quote: str
    about: str
    kind: str
    fact: str
    is_true: bool


@dataclass
class ToldEvening:
    """One evening."""

    name: str
    user: str
    persona: str
    bio: str
    begun: datetime
    messages: list[tuple[bool, str]] = field(default_factory=list)
    """Whether the user says it, and what."""
    labels: list[Label] = field(default_factory=list)
    traps: list[Trap] = field(default_factory=list)
    invented: dict[str, int] = field(default_factory=dict)
    """Word and message."""
    questions: list[Question] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    written: dict[str, Any] = field(default_factory=dict)
    """Title, summary, keywords and goals as a capable model writes them."""
    noted: list[Noted] = field(default_factory=list)

    @property
    def users_lines(self) -> list[str]:
        return [text for is_users, text in self.messages if is_users]

    @property
    def needed(self) -> list[Label]:
        return [label for label in self.labels if not label.optional]

    def wrong_because(self, fact: str) -> str:
        """Why a fact is wrong; empty where it is right."""
        for trap in self.traps:
            if trap.is_stated(fact):
                return f"{'outdated' if trap.new else 'trap'} {trap.id}"
        stated = [label for label in self.labels if label.is_stated(fact)]
        is_told = any(label.is_specific for label in stated) or (stated and self.is_grounded(fact))
        return "" if is_told else "nobody said so"

    def inventions_in(self, text: str) -> list[str]:
        there = words_of(text)
        return [word for word in self.invented if words_of(word) <= there]

    def is_grounded(self, sentence: str) -> bool:
        """Do the user's own lines support a sentence of a summary: each clause one message or two neighbours?"""
        names = words_of(f"{self.user} {self.persona}")
        lines = self.users_lines
        spoken_of = {word for each in NAMED.findall(sentence) if not each.isdigit() for word in words_of(each)} - names
        if not spoken_of - {"s"} <= words_of(" ".join(lines)):
            return False
        near = [" ".join(lines[place : place + 2]) for place in range(len(lines))]
        found = total = 0
        for clause in clauses(sentence):
            wanted = telling_words(clause) - names
            numbers = set(NUMBER.findall(clause))
            total += len(wanted)
            found += max(len(wanted & words_of(text)) if _has_numbers(numbers, text, clause) else 0 for text in near)
        return found >= OVERLAP * total


def _has_numbers(numbers: set[str], near: str, sentence: str) -> bool:
    """A number may also be the date that a word such as “friday” stands for."""
    missing = {number for number in numbers if not re.search(rf"(?<!\d){number}(?!\d)", near)}
    return not missing or bool(MONTH.search(sentence) and RESOLVED.search(near))


def clauses(sentence: str) -> list[str]:
    """Parts that may rest on different messages, none of them shorter than a few words that tell something."""
    found: list[str] = []
    for part in CLAUSE.split(sentence):
        if found and min(len(telling_words(part)), len(telling_words(found[-1]))) < MIN_CLAUSE_WORDS:
            found[-1] += f" {part}"
        else:
            found.append(part)
    return found


def telling_words(text: str) -> set[str]:
    return words_of(text) - NO_MATTER


def sentences(text: str) -> list[str]:
    plain = TITLES.sub(r"\1", text)
    return [each.strip() for each in SENTENCE.findall(plain) if words_of(each)]


def has_words(text: str, groups: Sequence[frozenset[str]]) -> bool:
    there = words_of(text)
    return all(any(words_of(one) <= there for one in group) for group in groups)


def read(name: str) -> ToldEvening:
    """One evening by the name of its file."""
    rows = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    first = rows[0]
    evening = ToldEvening(name, first["user"], first["persona"], first["bio"], datetime.fromisoformat(first["begun"]))
    for row in rows[1:]:
        _take(row, evening)
    return evening


def _take(row: dict[str, Any], evening: ToldEvening) -> None:
    match row:
        case {"ask": text, "facts": facts, "words": words}:
            evening.questions.append(Question(text, tuple(facts), groups_of(words)))
        case {"idle": text}:
            evening.idle.append(text)
        case {"model": written}:
            evening.written = written
        case {"noted": noted}:
            is_true = not noted.get("false", False)
            evening.noted.append(Noted(noted["quote"], noted["about"], noted["kind"], noted["fact"], is_true))
        case {"also_true": words}:
            evening.labels.append(Label("also", groups_of(words), -1, len(words), optional=True))
        case _:
            _take_message(row, evening)


def _take_message(row: dict[str, Any], evening: ToldEvening) -> None:
    place = len(evening.messages)
    evening.messages.append((True, row["user"]) if "user" in row else (False, row["persona"]))
    for it in row.get("facts", ()):
        subject = it.get("subject", evening.user)
        groups = groups_of([*it["words"], *([subject] if subject else [])])
        details = len(it["words"]) + ("subject" in it and bool(subject))
        evening.labels.append(Label(it["id"], groups, place, details, it.get("optional", False)))
    for it in row.get("traps", ()):
        evening.traps.append(Trap(it["id"], groups_of(it["words"]), _either(it.get("unless", "")), place))
    for it in row.get("changes", ()):
        evening.traps.append(Trap(it["id"], groups_of(it["old"]), _either(it["unless"]), place, it["new"]))
    evening.invented |= dict.fromkeys(row.get("invented", ()), place)


def groups_of(words: Sequence[str]) -> tuple[frozenset[str], ...]:
    return tuple(map(_either, words))


def _either(words: str) -> frozenset[str]:
    return frozenset(filter(None, words.split("|")))
