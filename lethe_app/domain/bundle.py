"""A bundle: one persona in one file, to give away or to take along, with as much of her past as the giver chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from lethe_app.domain.chat import ChatSession, Message, PartState, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.mood import Mood, MoodReading, MoodSample
from lethe_app.domain.persona import Persona
from lethe_app.domain.recall import TurnMemory
from lethe_app.domain.worldinfo import World

ENDING = ".lethe"
VERSION, WITHOUT_A_MIND = 2, 1
"""Of the format. A Lethe refuses what is newer than it knows; what an older one wrote it reads for ever. A bundle that holds
neither notebooks nor a mood says that it is of the first version, so that every Lethe opens it."""


class BundleScope(StrEnum):
    """How much goes into a bundle; each holds what the one before holds."""

    PERSONA = "persona"
    """Who she is: her file, her picture and the worlds she is bound to. Not a word of what anybody said to her."""
    MEMORIES = "memories"
    """And what she remembers and knows, her notebooks, and how she feels."""
    EVERYTHING = "everything"
    """And all conversations, with every wording, branch and hidden line. What lies in the trash stays behind."""


class Holds(BaseModel):
    """How many of each are inside."""

    worlds: int = 0
    memories: int = 0
    facts: int = 0
    notebooks: int = 0
    conversations: int = 0
    messages: int = 0


class Manifest(BaseModel):
    """What a bundle says of itself."""

    model_config = ConfigDict(extra="ignore")

    format: Literal["lethe-persona"] = "lethe-persona"
    version: int = Field(default=VERSION, ge=1)
    made_by: str = Field(default="", max_length=100)
    made: AwareDatetime
    giver: str = Field(default="", max_length=200)
    """What the one who made it is called."""
    name: str = Field(min_length=1, max_length=200)
    unique_name: str = Field(default="", max_length=200)
    """The persona's id where she comes from, by which messages name her as their speaker."""
    scope: BundleScope = BundleScope.PERSONA
    holds: Holds | None = None
    """What must be found inside."""


class KeptPart(BaseModel):
    """How far a part of an archived conversation has come, and who made it."""

    model_config = ConfigDict(extra="forbid")

    part: SessionPart
    state: PartState = PartState.PENDING
    made_by: MadeBy = MadeBy.RULES
    maker: str = ""
    tries: int = Field(default=0, ge=0, le=1_000_000)
    trouble: str = ""


class KeptTurn(BaseModel):
    """What a message brought to her mind."""

    model_config = ConfigDict(extra="forbid")

    said: str = Field(max_length=128)
    """Digest of the words that did, for what is edited brings up something else."""
    memory: TurnMemory


class KeptMessage(Message):
    """A message with what it brought up; messages stand in the order in which they arrived."""

    turn: KeptTurn | None = None


class KeptSession(BaseModel):
    """A conversation without its messages, and what is kept of it besides."""

    model_config = ConfigDict(extra="forbid")

    session: ChatSession
    """`leaf_id` is the message with which the branch on display ends."""
    worlds: list[str] = Field(default_factory=list)
    """Worlds that were chosen for this conversation."""
    scratch: dict[str, str] = Field(default_factory=dict)
    parts: list[KeptPart] = Field(default_factory=list)


class Forgotten(BaseModel):
    """The trace of a fact that is not to be learnt again."""

    model_config = ConfigDict(extra="forbid")

    digest: str = Field(min_length=1, max_length=200)
    messages: list[UUID] = Field(default_factory=list)


@dataclass(frozen=True)
class Conversation:
    """One conversation with every message that is not in the trash, on whatever branch."""

    kept: KeptSession
    messages: Sequence[KeptMessage]


class Habits(BaseModel):
    """What is kept of her besides, in the words of the services that keep it, which read it with care."""

    model_config = ConfigDict(extra="forbid")

    objections: list[JsonValue] = Field(default_factory=list)
    """Memories that came at the wrong moment."""
    notes: list[JsonValue] = Field(default_factory=list)
    """What waits to be told at the user's return."""


class KeptMind(BaseModel):
    """How she feels, how she felt on earlier days, and what the user asked of her goals."""

    model_config = ConfigDict(extra="forbid")

    mood: Mood | None = None
    samples: list[MoodSample] = Field(default_factory=list, max_length=10_000)
    readings: list[MoodReading] = Field(default_factory=list, max_length=10_000)
    goal_request: str = Field(default="", max_length=100_000)
    goal_notice: str = Field(default="", max_length=100_000)

    @property
    def is_empty(self) -> bool:
        return self == KeptMind()


@dataclass(frozen=True)
class Past:
    """What a persona went through."""

    memories: Sequence[MemoryUnit] = ()
    facts: Sequence[ExtractedFact] = ()
    forgotten: Sequence[Forgotten] = ()
    conversations: Sequence[Conversation] = ()
    habits: Habits = field(default_factory=Habits)
    notebooks: Mapping[str, str] = field(default_factory=dict)
    """The texts of her notebooks by file name, and in `lately` that of their index."""
    lately: str = ""
    mind: KeptMind = field(default_factory=KeptMind)


@dataclass(frozen=True)
class Bundle:
    """All that is in the file, read and understood."""

    manifest: Manifest
    persona: Persona
    picture: bytes = b""
    picture_ending: str = ""
    """Such as `.png`; empty where there is no picture."""
    worlds: Mapping[str, World] = field(default_factory=dict)
    """By the name under which the persona and her conversations know them."""
    past: Past = field(default_factory=Past)

    @property
    def holds(self) -> Holds:
        """Counted, whatever the manifest says."""
        talks = self.past.conversations
        return Holds(
            worlds=len(self.worlds),
            memories=len(self.past.memories),
            facts=len(self.past.facts),
            notebooks=len(self.past.notebooks),
            conversations=len(talks),
            messages=sum(len(talk.messages) for talk in talks),
        )
