"""Passages: the short texts that are indexed and retrieved, their embeddings, and the documents that are cut into them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

DOCUMENT_SUFFIXES = (".pdf", ".docx", ".epub", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt")
"""Endings of the files that can be read as documents."""
HEADING_SEPARATOR = " › "
"""Text between the headings of a document that are nested."""


class PassageKind(StrEnum):
    """What a passage was taken from. Facts, messages and summaries lead to their session; the other kinds to themselves."""

    FACT = "fact"
    MESSAGE = "message"
    SUMMARY = "summary"
    SENTENCE = "sentence"
    """One sentence of a summary."""
    MEMORY = "memory"
    WORLD = "world"
    DOCUMENT = "document"


@dataclass(frozen=True)
class Passage:
    """One indexed text; long texts become several passages of the same origin."""

    kind: PassageKind
    owner: str
    """Id of the persona whose index it belongs to."""
    source: UUID
    """What is recalled when it is found: a session, a memory or a world entry."""
    origin: UUID
    """What it was taken from: a fact, a message, or the source itself."""
    text: str
    searched: str
    """Text of the full-text index: the date in words, then the text, with scripts without spaces split into characters."""
    time: datetime
    """Time of the message or event, with its zone."""
    speaker: str = ""
    """Display name of the speaker; empty where there is none."""
    position: int = 0
    """Position within the source; neighbouring passages differ by one."""
    number: int = 0
    """Row number assigned by storage; 0 before that."""


@dataclass(frozen=True)
class TextEmbedding:
    """Embedding of one text."""

    vector: bytes
    """L2-normalised vector of float32 in native byte order."""
    tokens: bytes
    """Vectors of the tokens, concatenated, as the model's last layer outputs them; not normalised."""
    pieces: tuple[str, ...]
    """Text of each token in the model's vocabulary."""


@dataclass(frozen=True)
class DocumentSection:
    """Text of a document under one heading, or of one page."""

    text: str
    heading: str = ""
    page: int = 0
    """Number of the page from 1; 0 if the format has no pages."""


@dataclass(frozen=True)
class Document:
    """Document that a persona or a world knows: its text is stored, and the file is only read again if it changed."""

    guid: UUID
    owner: str
    """Id of the persona, or `world:` with the file name of the world."""
    title: str
    path: str
    digest: str
    """Hash of the file as it was read."""
    size: int
    """Size of the file in bytes."""
    added: datetime
    chunks: int = 0
    """Number of passages."""
    trouble: str = ""
    """Reason why the changed file could not be read; the text from before remains."""


@dataclass(frozen=True)
class DocumentChunk:
    """Passage of a document, as it is searched and inserted into a prompt."""

    id: UUID
    """Id made from the text, so that it stays the same when other parts of the document change."""
    document: UUID
    owner: str
    """Owner of the document."""
    title: str
    """Title of the document."""
    text: str
    added: datetime
    """Time the document was added."""
    heading: str = ""
    page: int = 0

    @property
    def location(self) -> str:
        """Return the title with the page, or else with the heading: how a passage is cited."""
        place = f"page {self.page}" if self.page else self.heading
        return f"{self.title}, {place}" if place not in ("", self.title) else self.title
