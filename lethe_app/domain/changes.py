"""What a change does to memories and facts: the records before it and after it, which is all that is needed to take it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.chat import SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit

Record = TypeVar("Record", MemoryUnit, ExtractedFact)
Kept = MemoryUnit | ExtractedFact
"""What a change is about."""
LIVES_ON = frozenset({"last_trigger", "trigger_count", "last_seen", "reference_count", "source_memories", "source_messages"})
"""Fields that change by being brought up or said once more; everything else changes because somebody changed it."""
MERGE, REFINE, DROP, INFER, AVOID = "merge", "refine", "drop", "infer", "avoid"
DREAMT = frozenset({MERGE, REFINE, DROP, INFER, AVOID})
"""What changes of a dream are; those of other tasks have forms of their own."""
THUMBS = "thumbs"
"""Tag of a memory that was concluded from thumbs alone."""


class Records(BaseModel):
    """One side of a change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memories: list[MemoryUnit] = Field(default_factory=list)
    facts: list[ExtractedFact] = Field(default_factory=list)

    @classmethod
    def before(cls, change: RecordedChange) -> Self:
        """The records as they were."""
        return cls.model_validate_json(change.before or "{}")

    @classmethod
    def after(cls, change: RecordedChange) -> Self:
        """The records as they are to be."""
        return cls.model_validate_json(change.after or "{}")

    @property
    def guids(self) -> set[UUID]:
        return {one.guid for one in self.memories} | {one.guid for one in self.facts}

    @property
    def holding(self) -> list[Kept]:
        """Without facts that were superseded."""
        return [*self.memories, *(fact for fact in self.facts if not fact.superseded)]

    @property
    def text(self) -> str:
        """What its records say, one to a line."""
        return "\n".join(one.content if isinstance(one, MemoryUnit) else one.fact for one in self.holding)


def is_the_users(record: Kept) -> bool:
    """Was it written by the user, or is it kept by their wish? Then nobody else changes it."""
    if isinstance(record, ExtractedFact):
        return record.made_by is MadeBy.USER or record.pinned
    return not record.made_by or record.protected or record.sticky


def same(one: Kept, other: Kept) -> bool:
    """Has nobody changed it, whatever became of it meanwhile?"""
    return one.model_dump(exclude=set(LIVES_ON)) == other.model_dump(exclude=set(LIVES_ON))


def rebased(change: RecordedChange, now_held: Records) -> RecordedChange:
    """The change upon the records as they are now: what was brought up or said since it was thought of is counted too."""
    before, after = Records.before(change), Records.after(change)
    memories = [_risen(one, before.memories, now_held.memories) for one in after.memories]
    facts = [_said_again(one, before.facts, now_held.facts) for one in after.facts]
    newer = Records(memories=memories, facts=facts)
    return change.model_copy(update={"before": now_held.model_dump_json(), "after": newer.model_dump_json()})


def _risen(memory: MemoryUnit, before: Sequence[MemoryUnit], now_held: Sequence[MemoryUnit]) -> MemoryUnit:
    grown = sum(one.trigger_count for one in now_held) - sum(one.trigger_count for one in before)
    latest = max([memory.last_trigger, *(one.last_trigger for one in now_held)])
    return memory.model_copy(update={"trigger_count": max(0, memory.trigger_count + grown), "last_trigger": latest})


def _said_again(fact: ExtractedFact, before: Sequence[ExtractedFact], now_held: Sequence[ExtractedFact]) -> ExtractedFact:
    held = {one.guid: one for one in now_held}
    if fact.guid in held:  # one that is superseded, or filed anew: with its life as it is
        living = LIVES_ON & set(ExtractedFact.model_fields)
        return fact.model_copy(update={name: getattr(held[fact.guid], name) for name in living})
    grown = sum(one.reference_count for one in now_held) - sum(one.reference_count for one in before)
    return fact.model_copy(
        update={
            "reference_count": max(1, fact.reference_count + grown),
            "last_seen": max([fact.last_seen, *(one.last_seen for one in now_held)]),
            "source_memories": united(fact.source_memories, *(one.source_memories for one in now_held)),
            "source_messages": united(fact.source_messages, *(one.source_messages for one in now_held)),
        }
    )


def united(*several: Iterable[UUID]) -> list[UUID]:
    """Each once, in the order in which they come."""
    return list(dict.fromkeys(one for each in several for one in each))


Value = str | int | float | None
Row = Mapping[str, Value]


class MessagePosition(NamedTuple):
    """Where a message stood."""

    id: str
    session: str
    parent: str | None
    seq: int


@dataclass(frozen=True)
class Before:
    """Conversations before they were split or joined."""

    kept: UUID
    """The first of the conversations that there were."""
    sessions: tuple[UUID, ...]
    """All that there were, in the order in which they began."""
    made: tuple[UUID, ...]
    """Those that were not there yet."""
    rows: Mapping[str, Sequence[Row]]
    """Their records, by where they lie."""
    places: Sequence[MessagePosition]
    sources: Mapping[str, str]
    """The conversations each fact was taken from, as JSON."""

    @property
    def after(self) -> tuple[UUID, ...]:
        """The conversations that there are since then."""
        return (self.kept, *self.made)


@dataclass(frozen=True)
class PartValue:
    """One part of what is told of a conversation, and who had made it."""

    session: UUID
    part: SessionPart
    values: Mapping[str, Row]
    """By where they lie."""
    record: Row | None
    """None where nobody had made it."""


class TrashKind(StrEnum):
    """What it was."""

    CONVERSATION = "conversation"
    MESSAGE = "message"
    MEMORY = "memory"
    FACT = "fact"
    PERSONA = "persona"
    USER_PERSONA = "user_persona"
    WORLD = "world"
    PRESET = "preset"
    NOTEBOOK = "notebook"
    FILE = "file"
    """One that could not be read and was put aside before it was written anew."""


FILES = frozenset(
    {TrashKind.PERSONA, TrashKind.USER_PERSONA, TrashKind.WORLD, TrashKind.PRESET, TrashKind.NOTEBOOK, TrashKind.FILE}
)


@dataclass(frozen=True)
class Trashed:
    """One thing in the trash."""

    kind: TrashKind
    id: str
    """A guid, or the path of a file."""
    title: str
    """Its name or first words; may be empty."""
    when: datetime
    """When it was deleted."""
    size: int
    """Bytes, roughly."""
    persona_id: str = ""
    count: int = 0
    """Messages of a conversation; conversations that wait for a persona to come back."""
    place: str = ""
    """Title of the conversation a message belongs to; may be empty."""
    stem: str = ""
    """Of a file: the name it had."""

    @property
    def key(self) -> str:
        return f"{self.kind} {self.id}"
