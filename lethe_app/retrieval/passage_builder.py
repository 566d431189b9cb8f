"""Splitting of messages, facts, summaries, memories and World Info into passages short enough for an embedding model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.retrieval.query_terms import day, searchable

LONGEST = 700
"""Maximum characters of a passage; the starter embedder reads 256 tokens."""
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)]*\s+(?=[^\s.!?…a-z])|(?<=[。！？])|\n+")


def message(owner: str, session: UUID, origin: UUID, place: int, speaker: str, text: str, time: datetime) -> list[Passage]:
    """Return the passages of a message, each with its speaker."""
    return [
        make(PassageKind.MESSAGE, owner, session, origin, f'{speaker} said, "{piece}"', time, speaker=speaker, place=place)
        for piece in pieces(text)
    ]


def fact(owner: str, session: UUID, origin: UUID, text: str, time: datetime) -> list[Passage]:
    """Return the passages of a fact. The date is part of the embedded text, because two facts of one kind may differ by
    nothing else.
    """
    return [make(PassageKind.FACT, owner, session, origin, piece, time) for piece in pieces(text)]


def summary(owner: str, session: UUID, text: str, time: datetime) -> list[Passage]:
    """Return one passage per sentence: the vector of a whole summary averages its topics and is near to none of them."""
    found = (part.strip() for part in SENTENCE_END.split(text))
    sentences = [piece for part in found if part for piece in pieces(part)]
    return [
        make(PassageKind.SENTENCE, owner, session, session, sentence, time, place=place)
        for place, sentence in enumerate(sentences)
    ]


def memory(kind: PassageKind, owner: str, guid: UUID, name: str, text: str, time: datetime, filed: str = "") -> list[Passage]:
    """Return the passages of a memory or World Info entry, which are standalone. The words in `filed` are searched, too, but
    not shown.
    """
    made = [make(kind, owner, guid, guid, f"{name}: {piece}" if name else piece, time) for piece in pieces(text)]
    return [replace(one, searched=f"{one.searched} {searchable(filed)}") for one in made] if filed else made


def filed_words(filed_under: str, tags: Iterable[str]) -> str:
    """Return tags and category as words, split at slashes and hyphens."""
    return " ".join(f"{' '.join(tags)} {filed_under}".replace("/", " ").replace("-", " ").split())


def make(
    kind: PassageKind, owner: str, source: UUID, origin: UUID, text: str, time: datetime, *, speaker: str = "", place: int = 0
) -> Passage:
    """Create one passage, including its text for the full-text index."""
    return Passage(kind, owner, source, origin, text, searchable(text, time), time, speaker, place)


def embedded(passage: Passage) -> str:
    """Return the text to embed: messages and facts are preceded by their date."""
    return f"({day(passage.time)}) {passage.text}" if is_dated(passage.kind) else passage.text


def is_dated(kind: PassageKind) -> bool:
    """Return whether the embedded text includes the date. Sentences, memories and World Info entries are embedded without
    one.
    """
    return kind in (PassageKind.MESSAGE, PassageKind.FACT, PassageKind.SUMMARY)


def pieces(text: str) -> list[str]:
    """Split a text into pieces of at most `LONGEST` characters, at sentence ends where possible."""
    text = text.strip()
    if len(text) <= LONGEST:
        return [text] if text else []
    found: list[str] = []
    for sentence in filter(None, (part.strip() for part in SENTENCE_END.split(text))):
        if found and len(found[-1]) + len(sentence) < LONGEST:
            found[-1] = f"{found[-1]} {sentence}"
        else:
            found += [sentence[start : start + LONGEST] for start in range(0, len(sentence), LONGEST)]
    return found
