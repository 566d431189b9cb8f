"""Claim (a fact in a model's words) with the parts of the session that its checks need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from lethe_app.brain.fact_guard.grounding import content_words, count_shared_words
from lethe_app.brain.fact_guard.quotations import MessageClause, Quotation
from lethe_app.brain.languages.detection import function_words, guess_language
from lethe_app.brain.reading.pieces import MessageParts
from lethe_app.brain.text.utterance import Utterance
from lethe_app.language_tables import compile_table
from lethe_app.retrieval.query_terms import STOP_WORDS
from lethe_app.searchable_text import SPACELESS, fold

_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’]*[^\W_]")
_POSSESSIVE = re.compile(r"'s?\b|'|s\b(?= \w)|の")
"""Mark of a possessive: 's or ' in English, -s before another word in German, の in Japanese."""


class SupportLevel(IntEnum):
    """Degree to which a session supports a fact."""

    NONE = 0
    DOUBTFUL = 1
    """Undecidable by rules; a model must be asked whether the message states it."""
    FULL = 2


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
        return self.text_around(0, 0)

    @cached_property
    def window(self) -> str:
        """Return the text of the quotation's message, the two before it and the one after."""
        return self.text_around(2, 1)

    @cached_property
    def session_text(self) -> str:
        return self.text_around(len(self.lines), len(self.lines))

    def text_around(self, before: int, after: int) -> str:
        """Return the text of the quotation's message, `before` messages above it and `after` below, apostrophes straight."""
        index = self.quotation.message_index
        nearby = self.parts[max(0, index - before) : index + after + 1]
        return "\n".join(f"{part.plain}\n{part.in_character}".strip() for part in nearby).replace("’", "'")

    @cached_property
    def language(self) -> str:
        """Return the language of the quotation's message; a message too short to tell has the language of its session. Empty
        if it is unknown.
        """
        texts = (self.message_text, f"{self.message_text} {self.claim.fact}", self.session_text)
        return next(filter(None, map(guess_language, texts)), "")

    def find(self, key: str, text: str) -> re.Match[str] | None:
        """Return the first match in a text of what the language's table of claims lists under a key."""
        return compile_table("claims", key, self.language).search(text)

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
            count_shared_words(self.fact_words, content_words(clause.text, self.language)) for clause in self.quotation.clauses
        ]
        return [clause for clause, count in zip(self.quotation.clauses, overlaps, strict=True) if count == max(overlaps)]

    @cached_property
    def relevant_text(self) -> str:
        return " ".join(clause.text for clause in self.relevant_clauses)

    @cached_property
    def fact_words(self) -> set[str]:
        """Return the content words of the fact without the speakers' names and their German genitives (“Toms”)."""
        speakers = {word for name in self.speakers_by_name for word in content_words(name, self.language)}
        return content_words(self.fact, self.language) - speakers - {f"{word}s" for word in speakers}

    def other_names(self, text: str) -> Iterator[str]:
        """Yield the capitalised words of a text that are neither speakers' names nor function words."""
        for match in _NAME.finditer(SPACELESS.sub(" ", text)):
            name = match[0].removesuffix("'s")
            if name not in self.speakers_by_name and fold(name) not in STOP_WORDS | function_words(self.language):
                yield name


def find_name_index(name: str, text: str) -> int:
    """Return the index of a name as a whole word, in a script without spaces anywhere; −1 if it does not occur."""
    if SPACELESS.search(name):
        return text.find(name)
    match = re.search(rf"(?<!\w){re.escape(name)}(?:s(?= )|(?!\w)|(?={SPACELESS.pattern}))", text, re.IGNORECASE)
    return match.start() if match else -1
