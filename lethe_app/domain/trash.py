"""What lies in the trash, whatever it was: enough to recognise it, to bring it back and to part with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class TrashKind(StrEnum):
    """What it was."""

    CONVERSATION = "conversation"
    MESSAGE = "message"
    MEMORY = "memory"
    FACT = "fact"
    PERSONA = "persona"
    USER_PERSONA = "user_persona"
    WORLD = "world"
    PRESET = "preset"
    NOTEBOOK = "notebook"
    FILE = "file"
    """One that could not be read and was put aside before it was written anew."""


FILES = frozenset(
    {TrashKind.PERSONA, TrashKind.USER_PERSONA, TrashKind.WORLD, TrashKind.PRESET, TrashKind.NOTEBOOK, TrashKind.FILE}
)


@dataclass(frozen=True)
class Trashed:
    """One thing in the trash."""

    kind: TrashKind
    id: str
    """A guid, or the path of a file."""
    title: str
    """Its name or first words; may be empty."""
    when: datetime
    """When it was deleted."""
    size: int
    """Bytes, roughly."""
    persona_id: str = ""
    count: int = 0
    """Messages of a conversation; conversations that wait for a persona to come back."""
    place: str = ""
    """Title of the conversation a message belongs to; may be empty."""
    stem: str = ""
    """Of a file: the name it had."""

    @property
    def key(self) -> str:
        return f"{self.kind} {self.id}"
