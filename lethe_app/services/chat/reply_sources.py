"""Records of the sources of a reply: each memory with its reason, its origin, and the actions it allows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lethe_app.brain.recall.objections import OBJECTIONABLE_WAYS
from lethe_app.domain.chat import Message
from lethe_app.domain.recall import BlockedMemory, BlockReason, RecalledMemory, RecallLead


class SourceKind(StrEnum):
    """Type of the record behind a memory; it decides which actions are possible."""

    FACT = "fact"
    MEMORY = "memory"
    CONVERSATION = "conversation"
    WORLD = "world"
    DOCUMENT = "document"


FROM_FILES = frozenset({SourceKind.WORLD, SourceKind.DOCUMENT})
"""Sources that are the user's files: they are edited there, and not forgotten."""


@dataclass(frozen=True)
class StatementOrigin:
    """Session and message in which a statement was made."""

    session: UUID
    title: str
    time: datetime
    message: UUID | None = None
    """None if only the session is known."""


@dataclass(frozen=True)
class RecallTrace:
    """Text that led to a recall, and its origin."""

    lead: RecallLead
    origin: StatementOrigin | None


@dataclass(frozen=True)
class ReplyMemory:
    """Recalled memory behind a reply: as it was recalled, and as it is stored now."""

    recollection: RecalledMemory
    kind: SourceKind
    subject: UUID
    """The fact, memory or session that actions change; for a session recalled because of a fact, that fact."""
    text: str
    """Text as it is stored now, which may differ from the text in the prompt."""
    traces: tuple[RecallTrace, ...] = ()
    origin: StatementOrigin | None = None
    pinned: bool = False
    is_stored: bool = True
    """True if the record still exists; a memory may be consumed once it was brought up."""

    @property
    def is_world(self) -> bool:
        """True if it is a World Info entry and not a memory."""
        return self.kind is SourceKind.WORLD

    @property
    def can_be_pinned(self) -> bool:
        return self.is_stored and self.kind not in FROM_FILES

    @property
    def can_be_edited(self) -> bool:
        return self.is_stored and self.kind in {SourceKind.FACT, SourceKind.MEMORY}

    @property
    def can_be_forgotten(self) -> bool:
        return self.is_stored and self.kind not in FROM_FILES

    @property
    def can_be_objected_to(self) -> bool:
        return self.recollection.way in OBJECTIONABLE_WAYS


@dataclass(frozen=True)
class StablePromptContent:
    """Core facts and summaries that are in the prompts of a session regardless of recall."""

    facts: tuple[str, ...] = ()
    summaries: tuple[tuple[str, str], ...] = ()
    """Title and text, newest first."""

    def __bool__(self) -> bool:
        return bool(self.facts or self.summaries)


@dataclass(frozen=True)
class ReplySources:
    """Everything that memory contributed to the replies to one message."""

    persona_id: str
    user_message: Message | None
    """Message of the user; None for a greeting, which answers no message."""
    is_known: bool = False
    """True if a recall was stored for the message."""
    is_incognito: bool = False
    """True for a reply of an incognito session, for which none is stored."""
    recalled: tuple[ReplyMemory, ...] = ()
    blocked: tuple[BlockedMemory, ...] = ()
    scratch: str = ""
    remark: str = ""
    """Remark in the prompt about a time that the user asked for."""
    stable_content: StablePromptContent = StablePromptContent()
    forgotten: int = 0
    """Number of memories that were recalled and have been forgotten since."""
    full_session_titles: tuple[str, ...] = ()
    """Titles of the earlier sessions that are in the prompt in full; nothing from them needs to be recalled."""

    @property
    def unwanted(self) -> tuple[BlockedMemory, ...]:
        """Memories that the user objected to in this turn."""
        return tuple(memory for memory in self.blocked if memory.why is BlockReason.UNWANTED)
