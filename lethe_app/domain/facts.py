"""Facts: single self-contained sentences, each with the messages it was taken from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, Field

from lethe_app.domain.clock import now


class MadeBy(StrEnum):
    """Author of a fact, a summary or a title. What the user wrote is never overwritten by anything else."""

    RULES = "rules"
    """Extracted by fixed rules, word for word or nearly; redone once a model is qualified for it."""
    MODEL = "model"
    USER = "user"


class FactKind(StrEnum):
    """Topic of a fact; decides, with recency and reference count, which facts are always in the prompt."""

    IDENTITY = "identity"
    """Name, age, birthday, origin, language, faith."""
    PEOPLE = "people"
    """Family, friends, pets: their relation and names."""
    HEALTH = "health"
    WORK = "work"
    """Job, employer, studies, school."""
    HOME = "home"
    """Present, former and future places of residence."""
    TASTE = "taste"
    """Likes, dislikes, hobbies, habits."""
    EVENT = "event"
    """Past event, with its day where one is known."""
    PLAN = "plan"
    """Future event: appointments, journeys, intentions, wishes."""
    OTHER = "other"


class SupersededBecause(StrEnum):
    """Reason why another fact superseded one. What was only extended or said again is no contradiction."""

    CONTRADICTED = "contradicted"
    """The other states a newer value, or that it has ended."""
    EXTENDED = "extended"
    """The other states the same and more."""
    REPEATED = "repeated"
    """The other has the same words."""
    REWORDED = "reworded"
    """The other says the same in other words."""
    MERGED = "merged"
    """The other was worded for several facts together, by the user or in a dream."""
    RESTORED = "restored"
    """The user restored the other in its place."""


STILL_HOLDS = frozenset({SupersededBecause.EXTENDED, SupersededBecause.REPEATED, SupersededBecause.REWORDED})
"""Reasons for which a fact is superseded although what it states still holds."""
SAID_AGAIN = frozenset({SupersededBecause.REPEATED, SupersededBecause.REWORDED})
"""Reasons of which the successor says no more than the fact."""


class ExtractedFact(BaseModel, extra="forbid", validate_assignment=True):
    """One lasting fact in the third person that names its subject, such as “Tomas is allergic to peanuts.”"""

    guid: UUID = Field(default_factory=uuid4)
    fact: str = Field(min_length=1)
    first_seen: AwareDatetime = Field(default_factory=now)
    last_seen: AwareDatetime = Field(default_factory=now)
    """Time of the last confirmation."""
    reference_count: int = Field(default=1, ge=1)
    """Number of times it was stated."""
    source_memories: list[UUID] = Field(default_factory=list)
    """Sessions or other memories it was taken from."""
    source_messages: list[UUID] = Field(default_factory=list)
    """Messages that state it."""
    superseded: bool = False
    """True if a newer fact replaced it; it is kept, shown and can be restored."""
    superseded_by: UUID | None = None
    superseded_because: SupersededBecause | None = None
    """None if it is valid, or was superseded before reasons were recorded."""
    pinned: bool = False
    """True if it is always among the core facts, and only the user can supersede it."""
    made_by: MadeBy = MadeBy.RULES
    kind: FactKind = FactKind.OTHER
    key: str = ""
    """Attribute it states, such as “home” or “partner name”: a newer fact of the same subject and key supersedes it. Empty
    where several such facts can be true together.
    """
    subject: str = ""
    """Name of the person it is about; empty means the subject of the sentence."""
    in_story: bool = False
    """True if it was said in character: it is recalled in that session only and is never treated as a fact about the user."""


@dataclass(frozen=True)
class Tombstone:
    """Trace of a fact that the user wants forgotten: enough to recognise it, not enough to read it."""

    digest: str
    messages: tuple[UUID, ...] = ()
    """The messages it was taken from."""


def find_current_fact(fact: ExtractedFact, facts_by_id: Mapping[UUID, ExtractedFact]) -> ExtractedFact | None:
    """Return the fact that holds at the end of the chain of successors, the fact itself if it does; None if there is none."""
    seen: set[UUID] = set()
    current: ExtractedFact | None = fact
    while current is not None and current.superseded and current.guid not in seen:
        seen.add(current.guid)
        current = facts_by_id.get(current.superseded_by) if current.superseded_by else None
    return None if current is None or current.superseded else current
