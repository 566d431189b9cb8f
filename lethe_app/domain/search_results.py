"""What a search through everything finds: a line of talk, summary, memory, fact or lore, with marks where the words stand."""

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
    WORLD = "world"
    """An entry of a world."""


@dataclass(frozen=True)
class SearchHit:
    """One place. A fact can stand in a conversation or for itself."""

    kind: HitKind
    id: UUID
    """The message, fact, memory or entry; of a summary its conversation."""
    persona_id: str
    """Empty for what stands in a world."""
    session: UUID | None
    title: str
    """Of the conversation, memory or world; may be empty."""
    speaker: str
    when: datetime
    text: str
    """In one line, as much of it as belongs in a list."""
    marks: tuple[Mark, ...] = ()
    world: str = ""
    """File name of the world it stands in."""
    is_over: bool = False
    """A fact whose place a newer one took."""
