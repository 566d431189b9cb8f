"""What was brought into one reply, and why: the same record goes to the prompt, the window, the terminal and the database."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from lethe_app.domain.chat import Role
from lethe_app.domain.memory import MemoryType


class RecallWay(StrEnum):
    """How a memory came to be brought up."""

    MEANING = "meaning"
    """The message reminded her of it."""
    FACT = "fact"
    """Something known led to it."""
    KEYWORD = "keyword"
    """One of its keywords was said."""
    TITLE = "title"
    """Its name was said; people and places only."""
    CONSTANT = "constant"
    """It is always there."""
    ACTIVE = "active"
    """It was brought up a few turns ago and its duration is not over."""
    WOKEN = "woken"
    """The text of another entry woke it, or the absence of a word."""
    NATURAL = "natural"
    """It waited for its moment, and this is it."""
    FORCED = "forced"
    """It waited long enough."""
    NEWS = "news"
    """The user asked for news."""
    RETURN = "return"
    """It waited for the user's return."""
    TIME = "time"
    """The conversations of its time were asked for."""
    OPENING = "opening"
    """A new conversation begins, and it is among what matters most."""


LOGGED = frozenset({RecallWay.NATURAL, RecallWay.FORCED, RecallWay.NEWS, RecallWay.RETURN})
"""What comes in these ways is written into the conversation as a hidden line, once."""


class Because(BaseModel):
    """One reason, in words and in numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    """Such as “two things the question names occur together”."""
    value: float = 0.0
    """As measured; 0 where nothing was."""


class RecallLead(BaseModel):
    """A text that led to a memory: a fact, a line, a sentence of a summary."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    text: str
    origin: UUID
    """The fact, message or memory it belongs to."""
    words: list[str] = Field(default_factory=list)
    """Words of the message that stand in it, in any form."""
    cosine: float = 0.0
    changed: str = ""
    """The fact that took the place of what it says."""


class Recollection(BaseModel):
    """One memory that was brought up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: UUID
    """A session, memory, fact or world entry."""
    category: MemoryType
    title: str = ""
    text: str
    """As it goes into the prompt, macros not yet filled in."""
    way: RecallWay
    because: list[Because] = Field(default_factory=list)
    leads: list[RecallLead] = Field(default_factory=list)
    score: float = 0.0
    """Comparable only with others of the same turn."""
    likelihood: float = 1.0
    """That it is really meant, 0 to 1; 1 where a rule brought it up."""
    priority: int = 1
    order: int = 100
    """Among what stands at one place the higher stands later."""
    position_index: int = 0
    """Messages from the newest one upwards; -1 is the system prompt."""
    role: Role = Role.SYSTEM
    world: str = ""
    """The world it belongs to, if it is an entry of one."""


class NotRecalled(BaseModel):
    """A memory that was mentioned but did not come, and what kept it back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: UUID
    title: str = ""
    world: str = ""
    why: str
    detail: str = ""


class TurnMemory(BaseModel):
    """All that memory did for one message; kept with it, so that a regenerated reply sees the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    recalled: list[Recollection] = Field(default_factory=list)
    blocked: list[NotRecalled] = Field(default_factory=list)
    scratch: str = ""
    """What is known of the present conversation, in one line."""
    mood: str = ""
    """How she feels, where that has changed."""
    bench: str = ""
    """What lies on the workbench of this conversation; told in the prompt and not kept."""
    remark: str = ""
    """What is to be said of a time that was asked for, such as that nothing was said then."""
    forgotten: int = Field(default=0, exclude=True)
    """How many came to mind and were forgotten since; not kept."""

    def without_background(self) -> TurnMemory:
        """Only what stands in the system prompt."""
        return TurnMemory(recalled=[one for one in self.recalled if one.position_index < 0])
