"""Stored records of a persona's mood: the value and cause of each moodlet, and samples of earlier days."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import AliasChoices, AwareDatetime, BaseModel, Field


class MoodCause(StrEnum):
    """Cause of a mood change; a plug-in may have causes of its own, in plain words."""

    START = "start"
    REST = "rest"
    """Decay with time."""
    TALK = "talk"
    """A long conversation."""
    PRAISE = "praise"
    HARSH = "harsh"
    """Unkind words of the user."""
    ASKED = "asked"
    """The user answered a question of the persona."""
    NEWS = "news"
    """A new conversation began."""
    SESSION = "session"
    """The mood at the end of a conversation, as a model read it."""
    HAND = "hand"
    """The user set the value."""


class Feeling(BaseModel, extra="forbid", frozen=True):
    """Value of one moodlet, with the cause of its last noticeable change."""

    value: float = Field(ge=0.0, le=1.0)
    why: str = MoodCause.START.value
    """Cause of the last noticeable change: a `MoodCause`, or a plug-in's own words."""
    since: AwareDatetime
    """Time of the last noticeable change."""
    creep: float = 0.0
    """Sum of the changes since then that were too small to be noticeable alone; together they may become noticeable."""


class Mood(BaseModel, extra="forbid", frozen=True):
    """A persona's mood at one moment."""

    at: AwareDatetime
    """Time up to which decay has been applied."""
    feelings: dict[str, Feeling] = Field(default_factory=dict)
    """The moodlets by id."""
    session: UUID | None = None
    """The session that changed the mood last."""
    message: UUID | None = None
    """The message that changed the mood last. Each message changes it once, however often its reply is regenerated."""
    said: str = ""
    """The mood text that was in the prompt for that message."""
    announced: dict[str, str] = Field(default_factory=dict, validation_alias=AliasChoices("announced", "told"))
    """The adjectives already announced to the model in that session, by id of the moodlet."""

    @property
    def values(self) -> dict[str, float]:
        """Return the values of the moodlets, from 0 to 1, by id."""
        return {id_: feeling.value for id_, feeling in self.feelings.items()}


class MoodSample(BaseModel, extra="forbid", frozen=True):
    """Values of a mood at the end of a day or a session."""

    at: AwareDatetime
    session: UUID | None = None
    values: dict[str, float]

    def belongs_with(self, moment: datetime, session: UUID | None) -> bool:
        """Return whether `moment` is on the same local day and in the same session, so that one sample is enough for both."""
        return self.session == session and self.at.astimezone().date() == moment.astimezone().date()


class MoodReading(BaseModel, extra="forbid", frozen=True):
    """Result of a model's reading of a session: the change of each moodlet, by id."""

    session: UUID
    at: AwareDatetime
    model: str
    steps: dict[str, float]
