"""Bundle file: one persona in one file, to share or to back up, with as much of the persona's history as the exporter
chooses; and backup: everything in one file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal
from uuid import UUID

from pydantic import AliasChoices, AwareDatetime, BaseModel, Field, JsonValue

from lethe_app.domain.chat import ChatSession, Message, PartState, SessionEvent, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.mood import Mood, MoodReading, MoodSample
from lethe_app.domain.persona import Persona
from lethe_app.domain.recall import TurnMemory
from lethe_app.domain.worldinfo import World

ENDING = ".lethe"
CARD_SUFFIXES = (".png", ".json", ".charx")
"""Suffixes of character cards, as which a persona can be exported too."""
VERSION, WITH_CARD_FIELDS, WITHOUT_SESSIONS, WITHOUT_A_MIND = 5, 4, 2, 1
"""Versions of the format. Lethe refuses bundles of a newer version than its own and reads all older ones. A bundle without
sessions, without fields of a character card, or without notebooks and mood as well, is written as an older version, so that
older versions can open it. In version 3 the reasons of what was recalled are data and no longer sentences; in version 5
messages carry their mode and language, and replies their latency and degradations.
"""
CARD_FIELDS = frozenset(
    {"personality", "nickname", "group_greetings", "post_history_instructions", "talkativeness", "original", "assets"}
    | {"depth_prompt", "depth_prompt_depth", "depth_prompt_role", "creator", "character_version", "creator_notes"}
    | {"metadata"}
)
"""Fields of version 4 (those of character cards, and metadata), which are written only where they are not at their
defaults.
"""


class BundleScope(StrEnum):
    """Scope of a bundle; each scope includes the one before it."""

    PERSONA = "persona"
    """The persona's file, picture and assigned worlds. It contains nothing that anybody said to the persona."""
    MEMORIES = "memories"
    """Also memories, facts, notebooks and mood."""
    EVERYTHING = "everything"
    """Also all sessions, with every alternative, branch and hidden message. The trash is not included."""


class BundleCounts(BaseModel):
    """Number of records of each kind in a bundle."""

    worlds: int = 0
    memories: int = 0
    facts: int = 0
    notebooks: int = 0
    conversations: int = 0
    messages: int = 0


class Manifest(BaseModel, extra="ignore"):
    """Metadata of a bundle."""

    format: Literal["lethe-persona"] = "lethe-persona"
    version: int = Field(default=VERSION, ge=1)
    made_by: str = Field(default="", max_length=100)
    made: AwareDatetime
    giver: str = Field(default="", max_length=200)
    """Name of the person who exported it."""
    name: str = Field(min_length=1, max_length=200)
    unique_name: str = Field(default="", max_length=200)
    """The persona's id on the exporting side, by which messages name the persona as their speaker."""
    scope: BundleScope = BundleScope.PERSONA
    holds: BundleCounts | None = None
    """Numbers of records that the reader must find."""


class BundledPart(BaseModel, extra="forbid"):
    """State and author of one part of an archived session."""

    part: SessionPart
    state: PartState = PartState.PENDING
    made_by: MadeBy = MadeBy.RULES
    maker: str = ""
    tries: int = Field(default=0, ge=0, le=1_000_000)
    trouble: str = ""


class BundledTurn(BaseModel, extra="forbid"):
    """Memories that were recalled for a message."""

    said: str = Field(max_length=128)
    """Digest of the message's text for which they were recalled; for an edited text the recall is repeated."""
    memory: TurnMemory


class BundledMessage(Message):
    """Message with the memories recalled for it; messages are stored in the order in which they arrived."""

    turn: BundledTurn | None = None
    switches: list[SessionEvent] = Field(default_factory=list)
    """Switches of mode and language with this message."""
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the message in the program it was imported from, kept for export."""


class BundledSession(BaseModel, extra="forbid"):
    """Session without its messages, with its related records."""

    session: ChatSession
    """The session; `leaf_id` is the last message of the selected branch."""
    worlds: list[str] = Field(default_factory=list)
    """Worlds that were chosen for this session."""
    session_notes: dict[str, str] = Field(default_factory=dict, validation_alias=AliasChoices("session_notes", "scratch"))
    parts: list[BundledPart] = Field(default_factory=list)
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """Header of the chat it was imported from, kept for export."""


class ForgottenFact(BaseModel, extra="forbid"):
    """Trace of a fact that must not be learnt again."""

    digest: str = Field(min_length=1, max_length=200)
    messages: list[UUID] = Field(default_factory=list)


@dataclass(frozen=True)
class BundledConversation:
    """Session with every message that is not in the trash, on all branches."""

    record: BundledSession
    messages: Sequence[BundledMessage]


class PersonaRecords(BaseModel, extra="forbid"):
    """Further records of the persona in the formats of the services that own them, which validate them on import."""

    objections: list[JsonValue] = Field(default_factory=list)
    """Memories that the user marked as recalled at the wrong moment."""
    notes: list[JsonValue] = Field(default_factory=list)
    """Notes for the user's return."""


class BundledMind(BaseModel, extra="forbid"):
    """Mood with its history, and the user's requests about the persona's goals."""

    mood: Mood | None = None
    samples: list[MoodSample] = Field(default_factory=list, max_length=10_000)
    readings: list[MoodReading] = Field(default_factory=list, max_length=10_000)
    goal_request: str = Field(default="", max_length=100_000)
    goal_notice: str = Field(default="", max_length=100_000)

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to export."""
        return self == BundledMind()


@dataclass(frozen=True)
class PersonaHistory:
    """History of a persona."""

    memories: Sequence[MemoryUnit] = ()
    facts: Sequence[ExtractedFact] = ()
    forgotten: Sequence[ForgottenFact] = ()
    conversations: Sequence[BundledConversation] = ()
    records: PersonaRecords = field(default_factory=PersonaRecords)
    notebooks: Mapping[str, str] = field(default_factory=dict)
    """Texts of the notebooks by file name; `lately` is the text of their index."""
    notebook_index: str = ""
    mind: BundledMind = field(default_factory=BundledMind)


@dataclass(frozen=True)
class Bundle:
    """Contents of a bundle file, validated."""

    manifest: Manifest
    persona: Persona
    picture: bytes = b""
    picture_ending: str = ""
    """File ending such as `.png`; empty where there is no picture."""
    worlds: Mapping[str, World] = field(default_factory=dict)
    """Worlds by the name under which the persona and its sessions refer to them."""
    history: PersonaHistory = field(default_factory=PersonaHistory)
    assets: bytes = b""
    """Archive of a character card with further pictures; never in a file of ours."""

    @property
    def holds(self) -> BundleCounts:
        """Return the actual numbers of records, independent of the manifest."""
        conversations = self.history.conversations
        return BundleCounts(
            worlds=len(self.worlds),
            memories=len(self.history.memories),
            facts=len(self.history.facts),
            notebooks=len(self.history.notebooks),
            conversations=len(conversations),
            messages=sum(len(conversation.messages) for conversation in conversations),
        )


BACKUP_SUFFIX, BACKUP_VERSION = ".lethebackup", 1
"""Suffix and version of the format of backups. Lethe refuses backups of a newer version than its own."""


class BackupKind(StrEnum):
    """Reason for which a backup was made: every day, on request, before a migration (of the database alone), or by a restore
    of what it has replaced.
    """

    DAILY = "daily"
    MANUAL = "manual"
    MIGRATION = "migration"
    REPLACED = "replaced"


@dataclass(frozen=True)
class Backup:
    """A backup: an archive, a copy of the database alone, or a folder with what a restore has replaced.

    `size` is in bytes on the disk, `pre_migration_version` the schema version if it was made before a migration.
    """

    path: Path
    created: datetime
    size: int
    kind: BackupKind = BackupKind.DAILY
    pre_migration_version: int | None = None


class BackedUpConversation(BaseModel):
    """Conversation in a backup, as it is listed before the backup is restored, with the beginning of its last message."""

    persona_id: str
    title: str
    last_activity: datetime
    messages: int
    last_words: str = ""


class BackupContents(BaseModel, extra="ignore"):
    """Contents of a backup, or of the data folder in use.

    `counts` are the numbers of records that are not deleted by kind: personas, conversations, messages, memories, facts,
    notebooks, worlds, documents, presets; a copy of the database alone lacks those that are files. `personas` are names by file
    name, without those that ship with Lethe, and `conversations` the newest ones. `left_out` are files that could not be read,
    relative to the data folder.
    """

    format: Literal["lethe-backup"] = "lethe-backup"
    version: int = Field(default=BACKUP_VERSION, ge=1)
    made: AwareDatetime
    counts: dict[str, int] = Field(default_factory=dict)
    personas: dict[str, str] = Field(default_factory=dict)
    conversations: list[BackedUpConversation] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
