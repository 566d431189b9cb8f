"""What is said: messages with their alternatives, and the session that holds them, which is itself a memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.memory import MemoryType, MemoryUnit


class Role(StrEnum):
    """Who a message counts as for the model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Alternative(BaseModel):
    """One wording of a message; regenerating a reply adds another (a swipe)."""

    model_config = ConfigDict(extra="forbid")

    content: str = ""
    thinking: str = ""
    """What a thinking model wrote before its answer; shown folded, never sent again."""
    created: AwareDatetime = Field(default_factory=now)
    model: str = ""
    """Name of the model that wrote it; empty for people."""
    complete: bool = True
    """False while it streams, and for ever if it was stopped or the program ended half-way."""


class Message(BaseModel):
    """One turn of one speaker in a session. The parent link makes the session a tree, ready for branches."""

    model_config = ConfigDict(extra="forbid")

    id: UUID = Field(default_factory=uuid4)
    session_id: UUID
    parent_id: UUID | None = None
    role: Role
    speaker: str = ""
    """The persona's id (file name); empty for system and tool messages."""
    speaker_name: str = ""
    """The name shown, kept with the message so that it outlives the persona file."""
    time: AwareDatetime = Field(default_factory=now)
    hidden: bool = False
    """Part of the log and of the prompt, but not drawn (notes, memory inserts)."""
    note: str = ""
    alternatives: list[Alternative] = Field(default_factory=lambda: [Alternative()], min_length=1)
    shown: int = Field(default=0, ge=0)

    @property
    def current(self) -> Alternative:
        """The alternative on display."""
        return self.alternatives[min(self.shown, len(self.alternatives) - 1)]

    @property
    def content(self) -> str:
        return self.current.content

    @property
    def thinking(self) -> str:
        return self.current.thinking


class ChatSession(MemoryUnit):
    """A conversation between a persona and the user: title = name, summary = content, start = added."""

    category: MemoryType = MemoryType.CHAT_SESSION
    enabled: bool = False
    """Gate of the keyword check only, so off until the user gives the session keywords of its own."""
    persona_id: str
    guests: list[str] = Field(default_factory=list)
    """Personas who take part besides `persona_id`, whose conversation it is, in the order in which they came."""
    user_id: str = ""
    scenario: str = ""
    """Replaces the persona's scenario in this session."""
    leaf_id: UUID | None = None
    """The newest message of the branch on display."""
    is_roleplay: bool = False
    future_goals: list[str] = Field(default_factory=list)
    relevance: int = Field(default=1, ge=1, le=5)
    archived: bool = False


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a list of sessions shows of one."""

    guid: UUID
    persona_id: str
    title: str
    started: datetime
    """This and `last_activity` know their time zone."""
    last_activity: datetime
    messages: int
    archived: bool
    sticky: bool = False
    preview: str = ""
    """The beginning of the newest visible message."""
    first_words: str = ""
    """What the user said first: a name that stays, until the conversation has a title."""
    guests: tuple[str, ...] = ()
    """File names of the personas who take part besides."""


@dataclass(frozen=True)
class MessageOutline:
    """Just enough of a message to know how tall it will be, for sessions of ten thousand."""

    id: UUID
    role: Role
    hidden: bool
    length: int
    """Characters of the alternative on display."""


class SessionPart(StrEnum):
    """Filled in this order; each is a call of its own, so that one that fails spoils no other."""

    TITLE = "title"
    SUMMARY = "summary"
    KEYWORDS = "keywords"
    GOALS = "goals"
    RELEVANCE = "relevance"
    ROLEPLAY = "roleplay"
    FACTS = "facts"


class PartState(StrEnum):
    """How far a part has come."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"
    """The model could not, however often it was asked; what the rules made of it stands."""


@dataclass(frozen=True)
class PartRecord:
    """One part of one session."""

    session: UUID
    part: SessionPart
    state: PartState = PartState.PENDING
    made_by: MadeBy = MadeBy.RULES
    """Who made what stands there now; meaningless before anything does."""
    maker: str = ""
    """The model's name, empty for rules and people."""
    tries: int = 0
    trouble: str = ""
    """Why it failed the last time."""
