"""How messages, facts and summaries become passages: short texts that an embedding model sees whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.retrieval.query_terms import day, searchable

LONGEST = 700
"""Characters of one passage; the starter embedder sees 256 tokens."""
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)]*\s+(?=[^\s.!?…a-z])|(?<=[。！？])|\n+")


def message(owner: str, session: UUID, origin: UUID, place: int, speaker: str, text: str, time: datetime) -> list[Passage]:
    """What was said, with who said it; a long speech in several pieces."""
    return [
        make(PassageKind.MESSAGE, owner, session, origin, f'{speaker} said, "{piece}"', time, speaker=speaker, place=place)
        for piece in pieces(text)
    ]


def fact(owner: str, session: UUID, origin: UUID, text: str, time: datetime) -> list[Passage]:
    """Something known; it carries its day, for two of the same kind differ by nothing else."""
    return [make(PassageKind.FACT, owner, session, origin, piece, time) for piece in pieces(text)]


def summary(owner: str, session: UUID, text: str, time: datetime) -> list[Passage]:
    """Every sentence by itself: a whole summary is about everything and so near to nothing."""
    found = (part.strip() for part in SENTENCE_END.split(text))
    sentences = [piece for part in found if part for piece in pieces(part)]
    return [
        make(PassageKind.SENTENCE, owner, session, session, sentence, time, place=place)
        for place, sentence in enumerate(sentences)
    ]


def memory(kind: PassageKind, owner: str, guid: UUID, name: str, text: str, time: datetime, filed: str = "") -> list[Passage]:
    """A memory or an entry of a world, which stand for themselves; by the words it is `filed` under it is found, too."""
    made = [make(kind, owner, guid, guid, f"{name}: {piece}" if name else piece, time) for piece in pieces(text)]
    return [replace(one, searched=f"{one.searched} {searchable(filed)}") for one in made] if filed else made


def filed_words(filed_under: str, tags: Iterable[str]) -> str:
    """Tags and category as words: slashes and hyphens part them."""
    return " ".join(f"{' '.join(tags)} {filed_under}".replace("/", " ").replace("-", " ").split())


def make(
    kind: PassageKind, owner: str, source: UUID, origin: UUID, text: str, time: datetime, *, speaker: str = "", place: int = 0
) -> Passage:
    """One passage, made ready to be found by words."""
    return Passage(kind, owner, source, origin, text, searchable(text, time), time, speaker, place)


def embedded(passage: Passage) -> str:
    """The text whose vector is kept: what was said or known on a day carries that day."""
    return f"({day(passage.time)}) {passage.text}" if is_dated(passage.kind) else passage.text


def is_dated(kind: PassageKind) -> bool:
    """Is the day part of what is embedded? A sentence has its summary's, a memory or world entry is true on any day."""
    return kind in (PassageKind.MESSAGE, PassageKind.FACT, PassageKind.SUMMARY)


def pieces(text: str) -> list[str]:
    """The text in pieces of at most `LONGEST` characters, cut at the ends of sentences where there are any."""
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
