"""A persona's mood as it is kept: how strong each side of it is, why it moved last, and samples of earlier days."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class MoodCause(StrEnum):
    """Why a mood moved; a plug-in may have causes of its own, in plain words."""

    START = "start"
    REST = "rest"
    """Time went by."""
    TALK = "talk"
    """Much was said."""
    PRAISE = "praise"
    HARSH = "harsh"
    """Unkind words."""
    ASKED = "asked"
    """She had asked something, and was told."""
    NEWS = "news"
    """A new conversation began."""
    SESSION = "session"
    """A conversation left her so."""
    HAND = "hand"
    """The user put it there."""


class Feeling(BaseModel):
    """One side of a mood."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float = Field(ge=0.0, le=1.0)
    why: str = MoodCause.START.value
    """What moved it last so that it could be noticed: a `MoodCause`, or a plug-in's own words."""
    since: AwareDatetime
    """When that was."""
    creep: float = 0.0
    """How far small moves have come since then; together they may be noticed too."""


class Mood(BaseModel):
    """All of a persona's mood at one moment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: AwareDatetime
    """Up to when time has done its work."""
    feelings: dict[str, Feeling] = Field(default_factory=dict)
    """By id of the moodlet."""
    session: UUID | None = None
    """The conversation that moved it last."""
    message: UUID | None = None
    """The message that moved it last: it does so once, however often it is answered."""
    said: str = ""
    """What the model was told at that message."""
    told: dict[str, str] = Field(default_factory=dict)
    """The adjectives the model was told in that conversation, by id of the moodlet."""

    @property
    def values(self) -> dict[str, float]:
        return {id_: feeling.value for id_, feeling in self.feelings.items()}


class MoodSample(BaseModel):
    """How she felt at the end of a day or a conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: AwareDatetime
    session: UUID | None = None
    values: dict[str, float]

    def belongs_with(self, moment: datetime, session: UUID | None) -> bool:
        """Is that moment of the same day and the same conversation, so that one sample is enough?"""
        return self.session == session and self.at.astimezone().date() == moment.astimezone().date()


class MoodReading(BaseModel):
    """What a model made of a conversation: by how much it moved each side of the mood."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session: UUID
    at: AwareDatetime
    model: str
    steps: dict[str, float]
