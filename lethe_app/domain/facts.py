"""What is known: single sentences that stand alone, each with the messages it was taken from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from lethe_app.domain.clock import now


class MadeBy(StrEnum):
    """Who wrote a fact, a summary or a title; what the user wrote is never overwritten by anything else."""

    RULES = "rules"
    """Taken from what was said by fixed rules, word for word or nearly; re-done when a model can be trusted with it."""
    MODEL = "model"
    USER = "user"


class FactKind(StrEnum):
    """What a fact is about; decides with recency and count which facts always stand in the prompt."""

    IDENTITY = "identity"
    """Name, age, birthday, origin, language, faith."""
    PEOPLE = "people"
    """Family, friends, pets: who they are and what they are called."""
    HEALTH = "health"
    WORK = "work"
    """Job, employer, studies, school."""
    HOME = "home"
    """Where somebody lives, lived before, moves to."""
    TASTE = "taste"
    """Likes, dislikes, hobbies, habits."""
    EVENT = "event"
    """Something that happened, with its day where one is known."""
    PLAN = "plan"
    """Something that shall happen: appointments, journeys, intentions, wishes."""
    OTHER = "other"


class ExtractedFact(BaseModel):
    """One lasting fact, said in the third person with its subject named, such as “Tomas is allergic to peanuts.”"""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    guid: UUID = Field(default_factory=uuid4)
    fact: str = Field(min_length=1)
    first_seen: AwareDatetime = Field(default_factory=now)
    last_seen: AwareDatetime = Field(default_factory=now)
    """When it was last confirmed."""
    reference_count: int = Field(default=1, ge=1)
    """How often it has been said."""
    source_memories: list[UUID] = Field(default_factory=list)
    """Sessions or other memories it was taken from."""
    source_messages: list[UUID] = Field(default_factory=list)
    """The very messages that say it."""
    superseded: bool = False
    """A newer fact took its place; it is kept, shown and can be restored."""
    superseded_by: UUID | None = None
    pinned: bool = False
    """Always among the core facts, and never superseded by anything but the user."""
    made_by: MadeBy = MadeBy.RULES
    kind: FactKind = FactKind.OTHER
    key: str = ""
    """The attribute it states, such as “home” or “partner name”: a newer fact of the same subject and key supersedes it.
    Empty where several stand side by side."""
    subject: str = ""
    """Name of the person it is about; empty means whoever the sentence begins with."""
    in_story: bool = False
    """It was said in character: recalled in that conversation only, and never part of what is known about the user."""


@dataclass(frozen=True)
class Tombstone:
    """The trace of a fact the user wanted forgotten: enough to recognise it, not enough to read it."""

    digest: str
    messages: tuple[UUID, ...] = ()
    """The messages it was taken from."""
