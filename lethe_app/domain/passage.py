"""A passage: one short text that can be found again, and what an embedding model makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class PassageKind(StrEnum):
    """What a passage was taken from; facts, messages and summaries lead to their session, the others stand for themselves."""

    FACT = "fact"
    MESSAGE = "message"
    SUMMARY = "summary"
    SENTENCE = "sentence"
    """One sentence of a summary."""
    MEMORY = "memory"
    WORLD = "world"


@dataclass(frozen=True)
class Passage:
    """One text as it is searched; long texts become several passages of the same origin."""

    kind: PassageKind
    owner: str
    """The persona who remembers it."""
    source: UUID
    """What is brought up when it is found: a session, a memory or a world entry."""
    origin: UUID
    """What it was taken from: a fact, a message, or the source itself."""
    text: str
    searched: str
    """The text as words find it: its date in words before it, scripts without spaces cut into characters."""
    time: datetime
    """When it was said or happened, with its zone."""
    speaker: str = ""
    """Whose words these are, as shown; empty where nobody speaks."""
    place: int = 0
    """Order within the source: neighbours are one apart."""
    number: int = 0
    """Given by storage; 0 before that."""


@dataclass(frozen=True)
class TextEmbedding:
    """One text as an embedding model sees it."""

    vector: bytes
    """Unit vector of float32 in native byte order."""
    tokens: bytes
    """One such vector per token, as the model's last layer gives it, one after the other; not of length one."""
    pieces: tuple[str, ...]
    """The spelling of each token in the model's own vocabulary."""
