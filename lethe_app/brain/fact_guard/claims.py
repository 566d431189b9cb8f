"""Claim (a fact in a model's words) with the parts of the session that its checks need."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

from lethe_app.brain.dialogue.dialogue_acts import MessageParts
from lethe_app.brain.fact_guard.languages import ENGLISH, LANGUAGES, Language, language_of
from lethe_app.brain.fact_guard.quotations import Clause, Quotation
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.retrieval.query_terms import SPACELESS, STOP_WORDS, cut, fold
from lethe_app.retrieval.time_expressions import COUNTS

NUMBERS = {word: str(number) for number, word in enumerate((*COUNTS, "eleven", "twelve"), 1)} | {"twenty": "20"}
_SMALL = frozenset().union(STOP_WORDS, *(language.function_words for language in LANGUAGES.values()))
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’]*[^\W_]")
_SIGNS = re.compile("[\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]+")
"""Runs of Katakana and Han, the content words of Japanese."""
_POSSESSIVE = re.compile(r"(?:'s?\b|'|s\b(?= \w)|の)")


class Support(IntEnum):
    """Degree to which a session supports a fact."""

    NONE = 0
    DOUBTFUL = 1
    """Undecidable by rules; a model must be asked whether the message states it."""
    FULL = 2


Outcome = tuple[Support, str]
"""Result of one check: the support, and the objection if it is not FULL."""
GOOD: Outcome = (Support.FULL, "")


@dataclass(frozen=True)
class Claim:
    """Fact in a model's words with the place that the model cites."""

    place: int
    """Index of the cited message."""
    quote: str
    fact: str
    about: str = ""
    """Person the fact is about, according to the model."""


@dataclass(frozen=True)
class Case:
    """Claim with a located quotation, and the session around it."""

    claim: Claim
    quotation: Quotation
    lines: Sequence[Utterance]
    parts: Sequence[MessageParts]

    @property
    def fact(self) -> str:
        return self.claim.fact.replace("’", "'")

    @property
    def source(self) -> Utterance:
        return self.lines[self.quotation.place]

    @cached_property
    def message(self) -> str:
        return text_of(self.parts[self.quotation.place])

    @cached_property
    def window(self) -> str:
        """Return the text of the quotation's message, the two before it and the one after."""
        place = self.quotation.place
        return "\n".join(map(text_of, self.parts[max(0, place - 2) : place + 2]))

    @cached_property
    def conversation(self) -> str:
        return "\n".join(map(text_of, self.parts))

    @cached_property
    def language(self) -> Language | None:
        """Return the language of the quotation's message; a message too short to tell has the language of its session."""
        own = language_of(self.message)
        return own or language_of(f"{self.message} {self.claim.fact}") or language_of(self.conversation)

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the speakers by their full names and by each word of these."""
        found: dict[str, str] = {}
        for line in self.lines:
            for name in filter(None, (line.name, *line.name.split())):
                found.setdefault(name, line.name)
        return found

    @cached_property
    def named(self) -> tuple[str, bool]:
        """Return the speaker that the fact mentions first, and whether it begins with that name and no possessive follows."""
        places = [(place, -len(name), name) for name in self.names if (place := place_of(name, self.fact)) >= 0]
        if not places:
            return "", False
        place, _length, name = min(places)
        return self.names[name], place == 0 and _POSSESSIVE.match(self.fact[place + len(name) :]) is None

    @cached_property
    def relevant(self) -> list[Clause]:
        """Return the clauses of the quotation that share most content words with the fact."""
        shared = [overlap(self.wanted, content(clause.text, self.language)) for clause in self.quotation.clauses]
        return [clause for clause, count in zip(self.quotation.clauses, shared, strict=True) if count == max(shared)]

    @cached_property
    def wanted(self) -> set[str]:
        """Return the content words of the fact without the speakers' names and their German genitives (“Toms”)."""
        speakers = {word for name in self.names for word in content(name, self.language)}
        return content(self.fact, self.language) - speakers - {f"{word}s" for word in speakers}


def text_of(part: MessageParts) -> str:
    """Return the plain and in-character text of a message, with straight apostrophes."""
    return f"{part.plain}\n{part.in_character}".strip().replace("’", "'")


def place_of(name: str, text: str) -> int:
    """Return the index of a name as a whole word, in a script without spaces anywhere; −1 if it does not occur."""
    if SPACELESS.search(name):
        return text.find(name)
    found = re.search(rf"(?<!\w){re.escape(name)}(?:s(?= )|(?!\w)|(?={SPACELESS.pattern}))", text, re.IGNORECASE)
    return found.start() if found else -1


def names_in(text: str, speakers: Collection[str]) -> list[str]:
    """Return the capitalised words of a text that are neither speakers' names nor function words."""
    found = [each[0].removesuffix("'s") for each in _NAME.finditer(SPACELESS.sub(" ", text))]
    return [name for name in found if name not in speakers and fold(name) not in _SMALL]


def content(text: str, language: Language | None) -> set[str]:
    """Return the content words in comparable form; in a script without spaces, pairs of adjacent characters."""
    if SPACELESS.search(text):
        runs: list[str] = _SIGNS.findall(text)
        return {pair for run in runs for pair in ([left + right for left, right in pairwise(run)] or [run])}
    if language is ENGLISH:
        small = ENGLISH.function_words | STOP_WORDS
        return {NUMBERS.get(word) or stem(word) for word in map(fold, cut(text)) if word not in small}
    small = language.function_words if language else _SMALL
    return {word for word in map(fold, cut(text)) if word not in small}


def overlap(wanted: Collection[str], said: Collection[str]) -> int:
    """Return how many of the wanted words occur in `said` in some form."""
    return sum(any(is_form(word, other) for other in said) for word in wanted)


def is_form(one: str, other: str) -> bool:
    """Return whether two folded words are forms of the same word, such as “support” and “supportive”."""
    if one == other:
        return True
    least = min(len(one), len(other))
    shared = next((place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), least)
    return not one.isdigit() and shared >= 4 and shared >= 0.6 * max(len(one), len(other))
