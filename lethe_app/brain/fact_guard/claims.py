"""Claim (a fact in a model's words) with the parts of the session that its checks need."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

from lethe_app.brain.dialogue.dialogue_pieces import MessageParts
from lethe_app.brain.fact_guard.languages import ENGLISH, LANGUAGES, Language, detect_language
from lethe_app.brain.fact_guard.quotations import MessageClause, Quotation
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.stems import stem
from lethe_app.dates.words import COUNT_DIGITS
from lethe_app.retrieval.query_terms import SPACELESS, STOP_WORDS, fold, split_words

NUMBER_DIGITS = COUNT_DIGITS | {"eleven": "11", "twelve": "12", "twenty": "20"}
_FUNCTION_WORDS = frozenset().union(STOP_WORDS, *(language.function_words for language in LANGUAGES.values()))
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’]*[^\W_]")
_CJK_RUN = re.compile("[\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff]+")
"""Runs of Katakana and Han, the content words of Japanese."""
_POSSESSIVE = re.compile(r"(?:'s?\b|'|s\b(?= \w)|の)")


class SupportLevel(IntEnum):
    """Degree to which a session supports a fact."""

    NONE = 0
    DOUBTFUL = 1
    """Undecidable by rules; a model must be asked whether the message states it."""
    FULL = 2


Outcome = tuple[SupportLevel, str]
"""Result of one check: the support, and the objection if it is not FULL."""
SUPPORTED: Outcome = (SupportLevel.FULL, "")


@dataclass(frozen=True)
class Claim:
    """Fact in a model's words with the place that the model cites."""

    message_index: int
    """Index of the cited message."""
    quote: str
    fact: str
    subject: str = ""
    """Person the fact is about, according to the model."""


@dataclass(frozen=True)
class LocatedClaim:
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
        return self.lines[self.quotation.message_index]

    @cached_property
    def message_text(self) -> str:
        return join_parts(self.parts[self.quotation.message_index])

    @cached_property
    def window(self) -> str:
        """Return the text of the quotation's message, the two before it and the one after."""
        index = self.quotation.message_index
        return "\n".join(map(join_parts, self.parts[max(0, index - 2) : index + 2]))

    @cached_property
    def session_text(self) -> str:
        return "\n".join(map(join_parts, self.parts))

    @cached_property
    def language(self) -> Language | None:
        """Return the language of the quotation's message; a message too short to tell has the language of its session."""
        message_language = detect_language(self.message_text)
        return (
            message_language or detect_language(f"{self.message_text} {self.claim.fact}") or detect_language(self.session_text)
        )

    @cached_property
    def speakers_by_name(self) -> dict[str, str]:
        """Return the speakers by their full names and by each word of these."""
        speakers: dict[str, str] = {}
        for line in self.lines:
            for name in filter(None, (line.name, *line.name.split())):
                speakers.setdefault(name, line.name)
        return speakers

    @cached_property
    def first_named_speaker(self) -> tuple[str, bool]:
        """Return the speaker that the fact mentions first, and whether it begins with that name and no possessive follows."""
        mentions = [
            (index, -len(name), name) for name in self.speakers_by_name if (index := find_name_index(name, self.fact)) >= 0
        ]
        if not mentions:
            return "", False
        index, _length, name = min(mentions)
        return self.speakers_by_name[name], index == 0 and _POSSESSIVE.match(self.fact[index + len(name) :]) is None

    @cached_property
    def relevant_clauses(self) -> list[MessageClause]:
        """Return the clauses of the quotation that share most content words with the fact."""
        overlaps = [
            count_shared_words(self.fact_words, comparable_words(clause.text, self.language))
            for clause in self.quotation.clauses
        ]
        return [clause for clause, count in zip(self.quotation.clauses, overlaps, strict=True) if count == max(overlaps)]

    @cached_property
    def fact_words(self) -> set[str]:
        """Return the content words of the fact without the speakers' names and their German genitives (“Toms”)."""
        speakers = {word for name in self.speakers_by_name for word in comparable_words(name, self.language)}
        return comparable_words(self.fact, self.language) - speakers - {f"{word}s" for word in speakers}


def join_parts(part: MessageParts) -> str:
    """Return the plain and in-character text of a message, with straight apostrophes."""
    return f"{part.plain}\n{part.in_character}".strip().replace("’", "'")


def find_name_index(name: str, text: str) -> int:
    """Return the index of a name as a whole word, in a script without spaces anywhere; −1 if it does not occur."""
    if SPACELESS.search(name):
        return text.find(name)
    match = re.search(rf"(?<!\w){re.escape(name)}(?:s(?= )|(?!\w)|(?={SPACELESS.pattern}))", text, re.IGNORECASE)
    return match.start() if match else -1


def find_names(text: str, speakers: Collection[str]) -> list[str]:
    """Return the capitalised words of a text that are neither speakers' names nor function words."""
    names = [match[0].removesuffix("'s") for match in _NAME.finditer(SPACELESS.sub(" ", text))]
    return [name for name in names if name not in speakers and fold(name) not in _FUNCTION_WORDS]


def comparable_words(text: str, language: Language | None) -> set[str]:
    """Return the content words in comparable form; in a script without spaces, pairs of adjacent characters."""
    if SPACELESS.search(text):
        runs: list[str] = _CJK_RUN.findall(text)
        return {pair for run in runs for pair in ([left + right for left, right in pairwise(run)] or [run])}
    if language is ENGLISH:
        function_words = ENGLISH.function_words | STOP_WORDS
        return {NUMBER_DIGITS.get(word) or stem(word) for word in map(fold, split_words(text)) if word not in function_words}
    function_words = language.function_words if language else _FUNCTION_WORDS
    return {word for word in map(fold, split_words(text)) if word not in function_words}


def count_shared_words(words: Collection[str], source_words: Collection[str]) -> int:
    """Return how many of the wanted words occur in `source_words` in some form."""
    return sum(any(is_same_word(word, source_word) for source_word in source_words) for word in words)


def is_same_word(word: str, other_word: str) -> bool:
    """Return whether two folded words are forms of the same word, such as “support” and “supportive”."""
    if word == other_word:
        return True
    min_length = min(len(word), len(other_word))
    prefix_length = next(
        (index for index, (left, right) in enumerate(zip(word, other_word, strict=False)) if left != right), min_length
    )
    return not word.isdigit() and prefix_length >= 4 and prefix_length >= 0.6 * max(len(word), len(other_word))
