"""Plan of an import: what would be made of the chosen files, what was imported before, and what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from lethe_app.domain.import_notes import ImportNote
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.domain.worldinfo import World
from lethe_app.errors import FileError

Preset = InstructPreset | SamplerPreset | SystemPreset


class ItemKind(StrEnum):
    """Kind of an item; items are imported in this order, so that what others refer to exists."""

    WORLD = "world"
    PERSONA = "persona"
    MEMORIES = "memories"
    CONVERSATION = "conversation"
    PRESET = "preset"


class ItemAction(StrEnum):
    """What is done with an item."""

    IMPORT = "import"
    """Store it as a new record; if its content was imported before, as a copy."""
    UPDATE = "update"
    """Overwrite the record of the earlier import, whose file goes to the trash."""
    SKIP = "skip"


class ExcerptKind(StrEnum):
    """Text of which an excerpt is shown before an item is imported."""

    DESCRIPTION = "description"
    GREETING = "greeting"
    ENTRIES = "entries"
    """Names of the first entries of a world."""
    MESSAGE = "message"
    """First message of a conversation."""
    MEMORY = "memory"


@dataclass(frozen=True)
class Excerpt:
    """Beginning of a text of an item, on one line."""

    kind: ExcerptKind
    text: str


@dataclass(frozen=True)
class ImportItem:
    """One record to be made. `key` identifies content and kind: it is the same whenever the same file is read.

    The content itself is read again when it is stored: that of years of history would not fit into memory at once.
    """

    kind: ItemKind
    key: str
    file: Path
    name: str
    file_time: datetime
    notes: Sequence[ImportNote] = ()
    size: int = 0
    """Number of entries of a world, or of the world that comes with a persona, of memories, and of messages of a
    conversation.
    """
    earlier: str = ""
    """Id of the record that an earlier import of the same content made and that still exists."""
    action: ItemAction = ItemAction.IMPORT
    excerpts: Sequence[Excerpt] = ()
    greetings: int = 0
    """Number of greetings of a persona."""


@dataclass(frozen=True)
class ImportPlan:
    """Items in the order in which they are imported, and the files that cannot be read."""

    items: Sequence[ImportItem] = ()
    errors: Sequence[FileError] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    """Number of files found in folders that cannot be imported, by what they are; empty if that is not known."""


@dataclass
class ImportResult:
    """What an import has made, for the report and for its undo; filled step by step."""

    personas: list[str] = field(default_factory=list)
    """Ids of new personas."""
    worlds: list[str] = field(default_factory=list)
    sessions: list[UUID] = field(default_factory=list)
    memories: list[UUID] = field(default_factory=list)
    presets: list[tuple[type[Preset], str]] = field(default_factory=list)
    updated: list[Persona | World] = field(default_factory=list)
    """Records that were overwritten, as they were before."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Names of new records by the name in the file, where that was taken."""
    keys: dict[str, str] = field(default_factory=dict)
    """Keys of the imported items, with the id that an earlier import had made of each."""
    errors: list[FileError] = field(default_factory=list)
    chats: int = 0
    """Number of files with conversations, each of which may have become several sessions."""
    messages: int = 0

    def add(self, other: ImportResult) -> None:
        """Add what another import has made."""
        self.personas += other.personas
        self.worlds += other.worlds
        self.sessions += other.sessions
        self.memories += other.memories
        self.presets += other.presets
        self.updated += other.updated
        self.renamed |= other.renamed
        self.keys |= other.keys
        self.errors += other.errors
        self.chats += other.chats
        self.messages += other.messages
