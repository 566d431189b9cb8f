"""Messages with their alternatives, and chat sessions, which are themselves memories."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, Field
from pydantic import dataclasses as pydantic_dataclasses

from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.memory import MemoryType, MemoryUnit


class Role(StrEnum):
    """Role of a message in the chat template."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class MessageMode(StrEnum):
    """How a message was entered."""

    TEXT = "text"
    VOICE = "voice"


class DegradationKind(StrEnum):
    """What was left out of a reply or failed while it was made. The keys of `Degradation.values` are listed with each."""

    NO_EMBEDDINGS = "no embeddings"
    """Memories were searched by their words only, because no embedding model was ready."""
    RECALL_FAILED = "recall failed"
    """Memories could not be read."""
    MEMORIES_OMITTED = "memories omitted"
    """count: memories and world entries for which there was no space"""
    MEMORIES_REPEATED = "memories repeated"
    """The model only repeated the recalled memories, so the reply was generated without them."""
    HISTORY_CUT = "history cut"
    """count: messages that were not in the prompt word for word"""
    TOOL_FAILED = "tool failed"
    """tool: name of the tool"""
    MODEL_RESTARTED = "model restarted"
    """The process of the model had ended and was started again."""


class Degradation(BaseModel, extra="forbid", frozen=True):
    """One thing that was left out of a reply or failed while it was made, as data; user interfaces put it into words."""

    kind: DegradationKind
    values: dict[str, str | int] = Field(default_factory=dict)


class Alternative(BaseModel, extra="forbid"):
    """One alternative of a message (a swipe); regenerating a reply adds another."""

    content: str = ""
    thinking: str = ""
    """Thinking block that the model wrote before its answer; shown collapsed, never sent again."""
    created: AwareDatetime = Field(default_factory=now)
    model: str = ""
    """Name of the model that wrote it; empty for the user."""
    complete: bool = True
    """False while the text streams, and permanently if generation was stopped or the program ended."""
    is_cut: bool = False
    """True if generation ended at the maximum length of a reply."""
    language: str = ""
    """Detected language as an ISO 639-1 code; empty if it is uncertain, or not detected yet."""
    is_sensitive: bool = False
    """True if the text contains what identifies a person, or did before it was redacted."""
    first_token_ms: int | None = Field(default=None, ge=0)
    """Milliseconds from the request to the first words of a generated reply; None if unknown."""
    total_ms: int | None = Field(default=None, ge=0)
    """Milliseconds from the request to the end of generation; None if unknown."""
    degradations: list[Degradation] = Field(default_factory=list)


UNREADABLE_NOTE = "unreadable: "
"""Beginning of the note of a message whose row in the database cannot be read; the reason follows."""


class Message(BaseModel, extra="forbid"):
    """Message of a session. The parent link makes the session a tree of branches."""

    id: UUID = Field(default_factory=uuid4)
    session_id: UUID
    parent_id: UUID | None = None
    role: Role
    speaker: str = ""
    """Id of the persona (file name); empty for system and tool messages."""
    speaker_name: str = ""
    """Display name, stored with the message so that it outlives the persona file."""
    mode: MessageMode = MessageMode.TEXT
    time: AwareDatetime = Field(default_factory=now)
    hidden: bool = False
    """True if the message is in the log and in the prompt, but not shown (notes, memory inserts)."""
    note: str = ""
    withdrawn: dict[str, UUID] = Field(default_factory=dict)
    """Digests of the sentences that the user wants forgotten, each with the message that asked for it. They are shown as
    before, but in no prompt, and nothing is learnt from them.
    """
    alternatives: list[Alternative] = Field(default_factory=lambda: [Alternative()], min_length=1)
    shown: int = Field(default=0, ge=0)

    @property
    def is_unreadable(self) -> bool:
        """Return whether its row in the database could not be read, so that nothing is known of it but its place."""
        return self.role is Role.SYSTEM and self.note.startswith(UNREADABLE_NOTE)

    @property
    def current(self) -> Alternative:
        """Return the selected alternative."""
        return self.alternatives[min(self.shown, len(self.alternatives) - 1)]

    @property
    def content(self) -> str:
        """Return the text of the selected alternative."""
        return self.alternatives[min(self.shown, len(self.alternatives) - 1)].content

    @property
    def thinking(self) -> str:
        """Return the thinking block of the selected alternative."""
        return self.current.thinking


class ChatSession(MemoryUnit):
    """Session of a persona and the user. As a memory its title is `name`, its summary `content` and its start `added`."""

    category: MemoryType = MemoryType.CHAT_SESSION
    enabled: bool = False
    """Switch of keyword recall only; off until the user gives the session keywords."""
    persona_id: str
    guests: list[str] = Field(default_factory=list)
    """Ids of the personas that take part besides `persona_id`, which owns the session, in the order in which they joined."""
    user_id: str = ""
    scenario: str = ""
    """Replaces the persona's scenario in this session if not empty."""
    leaf_id: UUID | None = None
    """Newest message of the selected branch."""
    is_roleplay: bool = False
    future_goals: list[str] = Field(default_factory=list)
    relevance: int = Field(default=1, ge=1, le=5)
    archived: bool = False
    is_incognito: bool = False
    """True if its texts are kept in memory only, nothing is learnt from it, and it ends with the program."""


class SessionEventKind(StrEnum):
    """What changed in a session."""

    MODE_SWITCH = "mode_switch"
    """Between written and spoken messages; the values are those of `MessageMode`."""
    LANGUAGE_SWITCH = "language_switch"
    """The values are ISO 639-1 codes."""


class SwitchTrigger(StrEnum):
    """What a mode or language switch was caused by."""

    USER_REQUEST = "user_request"
    AUTO_DETECTED = "auto_detected"
    EXPLICIT_SETTING = "explicit_setting"


class SessionEvent(BaseModel, extra="forbid", frozen=True):
    """Switch of mode or language within a session, with the message of the user with which it took place."""

    message_id: UUID
    kind: SessionEventKind
    before: str
    after: str
    trigger: SwitchTrigger
    time: AwareDatetime = Field(default_factory=now)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session in the list of sessions."""

    guid: UUID
    persona_id: str
    title: str
    started: datetime
    """Start of the session; this and `last_activity` have a time zone."""
    last_activity: datetime
    messages: int
    archived: bool
    sticky: bool = False
    preview: str = ""
    """Beginning of the newest visible message."""
    first_words: str = ""
    """The user's first words, shown as the name while the session has no title."""
    guests: tuple[str, ...] = ()
    """Ids of the other personas that take part."""
    is_incognito: bool = False


@dataclass(frozen=True)
class MessageOutline:
    """Part of a message from which its height on screen is estimated, for sessions of ten thousand messages."""

    id: UUID
    role: Role
    hidden: bool
    length: int
    """Number of characters of the selected alternative."""


class SessionPart(StrEnum):
    """Part of the archive record of a session. The parts are made in this order, each by a model call of its own, so that
    the failure of one does not affect the others.
    """

    TITLE = "title"
    SUMMARY = "summary"
    KEYWORDS = "keywords"
    GOALS = "goals"
    RELEVANCE = "relevance"
    ROLEPLAY = "roleplay"
    FACTS = "facts"


class PartState(StrEnum):
    """State of a part."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"
    """The model failed in all attempts; the result of the rules remains."""


@pydantic_dataclasses.dataclass(frozen=True)
class PartRecord:
    """State and author of one part of one session."""

    session_id: UUID
    part: SessionPart
    state: PartState = PartState.PENDING
    made_by: MadeBy = MadeBy.RULES
    """Author of the present value; meaningless while there is none."""
    maker: str = ""
    """Name of the model; empty for rules and the user."""
    tries: int = 0
    trouble: str = ""
    """Reason of the last failure."""
