"""What a search through everything finds: one line of talk, summary, memory or fact, and the marks where the words stand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

Mark = tuple[int, int]
"""Where something begins, and how many characters it has."""


class HitKind(StrEnum):
    """What was found."""

    MESSAGE = "message"
    SUMMARY = "summary"
    FACT = "fact"
    MEMORY = "memory"


@dataclass(frozen=True)
class Hit:
    """One place. A fact can stand in a conversation or for itself."""

    kind: HitKind
    id: UUID
    """The message, fact or memory; of a summary its conversation."""
    persona_id: str
    session: UUID | None
    title: str
    """Of the conversation or memory; may be empty."""
    speaker: str
    when: datetime
    text: str
    """In one line, as much of it as belongs in a list."""
    marks: tuple[Mark, ...] = ()
