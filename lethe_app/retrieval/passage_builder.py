"""Splitting of messages, facts, summaries, memories and World Info into passages short enough for an embedding model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.retrieval.query_terms import format_day, to_searchable

MAX_LENGTH = 700
"""Maximum characters of a passage; the starter embedder reads 256 tokens."""
PARAGRAPH_END = re.compile(r"\n\s*\n|(?<=[.!?…:。！？\"”’)])\n")
"""End of a paragraph: an empty line, or a line that ends with a sentence. Other lines were only wrapped, as in a PDF."""
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)]*\s+(?=[^\s.!?…a-z])|(?<=[。！？])|\n+")


def message_passages(
    owner: str, session: UUID, origin: UUID, position: int, speaker: str, text: str, time: datetime
) -> list[Passage]:
    """Return the passages of a message, each with its speaker."""
    return [
        make_passage(
            PassageKind.MESSAGE, owner, session, origin, f'{speaker} said, "{piece}"', time, speaker=speaker, position=position
        )
        for piece in split_text(text)
    ]


def fact_passages(owner: str, session: UUID, origin: UUID, text: str, time: datetime) -> list[Passage]:
    """Return the passages of a fact. The date is part of the embedded text, because two facts of one kind may differ by
    nothing else.
    """
    return [make_passage(PassageKind.FACT, owner, session, origin, piece, time) for piece in split_text(text)]


def summary_passages(owner: str, session: UUID, text: str, time: datetime) -> list[Passage]:
    """Return one passage per sentence: the vector of a whole summary averages its topics and is near to none of them."""
    found = (part.strip() for part in SENTENCE_END.split(text))
    sentences = [piece for part in found if part for piece in split_text(part)]
    return [
        make_passage(PassageKind.SENTENCE, owner, session, session, sentence, time, position=index)
        for index, sentence in enumerate(sentences)
    ]


def memory_passages(
    kind: PassageKind, owner: str, guid: UUID, name: str, text: str, time: datetime, category: str = ""
) -> list[Passage]:
    """Return the passages of a memory or World Info entry, which are standalone. The words in `category` are searched, too, but
    not shown.
    """
    category_text = f" {to_searchable(category)}" if category else ""
    passages = [
        make_passage(kind, owner, guid, guid, f"{name}: {piece}" if name else piece, time) for piece in split_text(text)
    ]
    return [replace(passage, searched=passage.searched + category_text) for passage in passages]


def category_words(category: str, tags: Iterable[str]) -> str:
    """Return tags and category as words, split at slashes and hyphens."""
    return " ".join(f"{' '.join(tags)} {category}".replace("/", " ").replace("-", " ").split())


def make_passage(
    kind: PassageKind,
    owner: str,
    source: UUID,
    origin: UUID,
    text: str,
    time: datetime,
    *,
    speaker: str = "",
    position: int = 0,
) -> Passage:
    """Create one passage, including its text for the full-text index."""
    return Passage(kind, owner, source, origin, text, to_searchable(text, time), time, speaker, position)


def embedding_text(passage: Passage) -> str:
    """Return the text to embed: messages and facts are preceded by their date."""
    return f"({format_day(passage.time)}) {passage.text}" if is_dated(passage.kind) else passage.text


def is_dated(kind: PassageKind) -> bool:
    """Return whether the embedded text includes the date. Sentences, memories and World Info entries are embedded without
    one.
    """
    return kind in (PassageKind.MESSAGE, PassageKind.FACT, PassageKind.SUMMARY)


def split_text(text: str) -> list[str]:
    """Split a text into pieces of at most `MAX_LENGTH` characters, at sentence ends where possible."""
    text = text.strip()
    if len(text) <= MAX_LENGTH:
        return [text] if text else []
    found: list[str] = []
    for paragraph in PARAGRAPH_END.split(text):
        separator = "\n"  # a heading is no part of the sentence after it
        for sentence in filter(None, (part.strip() for part in SENTENCE_END.split(paragraph))):
            if found and len(found[-1]) + len(sentence) < MAX_LENGTH:
                found[-1] = f"{found[-1]}{separator}{sentence}"
            else:
                found += [sentence[start : start + MAX_LENGTH] for start in range(0, len(sentence), MAX_LENGTH)]
            separator = " "
    return found
