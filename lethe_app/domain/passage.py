"""Passages: the short texts that are indexed and retrieved, and their embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class PassageKind(StrEnum):
    """What a passage was taken from. Facts, messages and summaries lead to their session; the other kinds to themselves."""

    FACT = "fact"
    MESSAGE = "message"
    SUMMARY = "summary"
    SENTENCE = "sentence"
    """One sentence of a summary."""
    MEMORY = "memory"
    WORLD = "world"


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
