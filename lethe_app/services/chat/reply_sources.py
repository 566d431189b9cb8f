"""What stood behind a reply, as plain values: each memory with its reason, where it was said, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lethe_app.brain.recall.objections import BROUGHT_BY_WORDS, UNWANTED
from lethe_app.domain.chat import Message
from lethe_app.domain.recall import NotRecalled, RecallLead, Recollection


class SourceKind(StrEnum):
    """What a card is about, and so what can be done with it."""

    FACT = "fact"
    MEMORY = "memory"
    CONVERSATION = "conversation"
    WORLD = "world"


@dataclass(frozen=True)
class Whence:
    """Where something was said."""

    session: UUID
    title: str
    time: datetime
    message: UUID | None = None
    """None where only the conversation is known."""


@dataclass(frozen=True)
class Trace:
    """A text that led there, and where it was said."""

    lead: RecallLead
    whence: Whence | None


@dataclass(frozen=True)
class Surfaced:
    """One memory behind a reply: how it came, and what it is now."""

    recollection: Recollection
    kind: SourceKind
    subject: UUID
    """The fact, memory or conversation that can be changed: of a conversation that came because of a fact, that fact."""
    text: str
    """As it is kept now, which may differ from what the reply was given."""
    traces: tuple[Trace, ...] = ()
    whence: Whence | None = None
    pinned: bool = False
    is_kept: bool = True
    """Is it still there? What was told once may be used up."""

    @property
    def is_world(self) -> bool:
        """Does it stand in a world, and not in what is remembered?"""
        return self.kind is SourceKind.WORLD

    @property
    def can_be_pinned(self) -> bool:
        return self.is_kept and self.kind is not SourceKind.WORLD

    @property
    def can_be_edited(self) -> bool:
        return self.is_kept and self.kind in {SourceKind.FACT, SourceKind.MEMORY}

    @property
    def can_be_forgotten(self) -> bool:
        return self.is_kept and self.kind is not SourceKind.WORLD

    @property
    def can_be_objected_to(self) -> bool:
        return self.recollection.way in BROUGHT_BY_WORDS


@dataclass(frozen=True)
class AlwaysThere:
    """What the prompts of a conversation hold whatever is said."""

    facts: tuple[str, ...] = ()
    summaries: tuple[tuple[str, str], ...] = ()
    """Title and text, newest first."""

    def __bool__(self) -> bool:
        return bool(self.facts or self.summaries)


@dataclass(frozen=True)
class ReplySources:
    """All that memory had to do with the replies to one message."""

    persona_id: str
    asked: Message | None
    """The user's words; None for a greeting, which answers nobody."""
    is_known: bool = False
    """Was it ever found out what these words bring up?"""
    surfaced: tuple[Surfaced, ...] = ()
    kept_back: tuple[NotRecalled, ...] = ()
    scratch: str = ""
    remark: str = ""
    """What the prompt says of a time that was asked for."""
    always: AlwaysThere = AlwaysThere()
    forgotten: int = 0
    """How many came to mind then and were forgotten since."""
    word_for_word: tuple[str, ...] = ()
    """Titles of the earlier conversations that stand whole in what she reads: nothing of these need come to mind."""

    @property
    def unwanted(self) -> tuple[NotRecalled, ...]:
        """What the user said did not belong here."""
        return tuple(one for one in self.kept_back if one.why == UNWANTED)
