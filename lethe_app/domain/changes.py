"""Undo data: records before and after a change to memories and facts, a split or merge of sessions, and items in the trash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from lethe_app.domain.agent_runs import RecordedChange
from lethe_app.domain.chat import PartRecord, SessionPart
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.domain.memory import MemoryUnit

Record = TypeVar("Record", MemoryUnit, ExtractedFact)
ChangedRecord = MemoryUnit | ExtractedFact
"""Record that a change applies to."""
USAGE_FIELDS = frozenset(
    {"last_trigger", "trigger_count", "last_seen", "reference_count", "source_memories", "source_messages"}
)
"""Usage fields, which change whenever a record is recalled or confirmed. A change of any other field is an edit."""
MERGE, REFINE, DROP, INFER, AVOID = "merge", "refine", "drop", "infer", "avoid"
DREAM_KINDS = frozenset({MERGE, REFINE, DROP, INFER, AVOID})
"""Kinds of changes that dreams make; those of other tasks have formats of their own."""
RATINGS_TAG = "thumbs"
"""Tag of a memory that was concluded from thumb ratings alone."""


class ChangedRecords(BaseModel, extra="forbid", frozen=True):
    """Records of one side of a change."""

    memories: list[MemoryUnit] = Field(default_factory=list)
    facts: list[ExtractedFact] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _wrap_single_memory(cls, value: object) -> object:
        """Accept the changes of tasks as version 0.1 stored them: one memory by itself."""
        return {"memories": [value]} if isinstance(value, dict) and "guid" in value else value

    @classmethod
    def before(cls, change: RecordedChange) -> Self:
        """Return the records before the change."""
        return cls.model_validate_json(change.before or "{}")

    @classmethod
    def after(cls, change: RecordedChange) -> Self:
        """Return the records after the change."""
        return cls.model_validate_json(change.after or "{}")

    @property
    def guids(self) -> set[UUID]:
        """Return the ids of the records."""
        return {one.guid for one in self.memories} | {one.guid for one in self.facts}

    @property
    def valid_records(self) -> list[ChangedRecord]:
        """Return the memories and those facts that are not superseded."""
        return [*self.memories, *(fact for fact in self.facts if not fact.superseded)]

    @property
    def text(self) -> str:
        """Return the texts of the records, one to a line."""
        return "\n".join(one.content if isinstance(one, MemoryUnit) else one.fact for one in self.valid_records)


def is_owned_by_user(record: ChangedRecord) -> bool:
    """Return whether the user wrote the record or chose to keep it (pinned, protected, sticky). Tasks never change such
    records.
    """
    if isinstance(record, ExtractedFact):
        return record.made_by is MadeBy.USER or record.pinned
    return not record.made_by or record.protected or record.sticky


def record_text(record: ChangedRecord) -> str:
    """Return the text of a memory or fact."""
    return record.content if isinstance(record, MemoryUnit) else record.fact


def is_same_content(one: ChangedRecord, other: ChangedRecord) -> bool:
    """Return whether two records differ in usage fields only."""
    return one.model_dump(exclude=set(USAGE_FIELDS)) == other.model_dump(exclude=set(USAGE_FIELDS))


def rebase_change(change: RecordedChange, current: ChangedRecords) -> RecordedChange:
    """Apply a proposed change to the present records, so that usage counted since it was proposed is not lost."""
    before, after = ChangedRecords.before(change), ChangedRecords.after(change)
    memories = [_with_recalls_since(one, before.memories, current.memories) for one in after.memories]
    facts = [_with_mentions_since(one, before.facts, current.facts) for one in after.facts]
    newer = ChangedRecords(memories=memories, facts=facts)
    return change.model_copy(update={"before": current.model_dump_json(), "after": newer.model_dump_json()})


def _with_recalls_since(memory: MemoryUnit, before: Sequence[MemoryUnit], current: Sequence[MemoryUnit]) -> MemoryUnit:
    added = sum(one.trigger_count for one in current) - sum(one.trigger_count for one in before)
    latest = max([memory.last_trigger, *(one.last_trigger for one in current)])
    return memory.model_copy(update={"trigger_count": max(0, memory.trigger_count + added), "last_trigger": latest})


def _with_mentions_since(
    fact: ExtractedFact, before: Sequence[ExtractedFact], current: Sequence[ExtractedFact]
) -> ExtractedFact:
    present = {one.guid: one for one in current}
    # A superseded or recategorised fact keeps its own usage counts; those of a new fact are the sum over the old ones.
    if fact.guid in present:
        usage = USAGE_FIELDS & set(ExtractedFact.model_fields)
        return fact.model_copy(update={name: getattr(present[fact.guid], name) for name in usage})
    added = sum(one.reference_count for one in current) - sum(one.reference_count for one in before)
    return fact.model_copy(
        update={
            "reference_count": max(1, fact.reference_count + added),
            "last_seen": max([fact.last_seen, *(one.last_seen for one in current)]),
            "source_memories": union_of(fact.source_memories, *(one.source_memories for one in current)),
            "source_messages": union_of(fact.source_messages, *(one.source_messages for one in current)),
        }
    )


def union_of(*groups: Iterable[UUID]) -> list[UUID]:
    """Return the union of several sequences, each item once, in order of first occurrence."""
    return list(dict.fromkeys(guid for group in groups for guid in group))


Value = str | int | float | None
Row = Mapping[str, Value]


class MessagePosition(NamedTuple):
    """Position of a message in its session before a split or merge."""

    id: str
    session: str
    parent: str | None
    seq: int


@dataclass(frozen=True)
class SessionSnapshot:
    """State of sessions before they were split or merged."""

    kept: UUID
    """The first of the original sessions."""
    sessions: tuple[UUID, ...]
    """All original sessions, in the order in which they began."""
    created: tuple[UUID, ...]
    """Sessions that the operation created."""
    rows: Mapping[str, Sequence[Row]]
    """Database rows of the sessions, by table."""
    positions: Sequence[MessagePosition]
    fact_sources: Mapping[str, str]
    """Source sessions of each fact, as JSON."""

    @property
    def resulting(self) -> tuple[UUID, ...]:
        """Return the sessions that exist after the operation."""
        return (self.kept, *self.created)


@dataclass(frozen=True)
class PartValue:
    """Previous value of one part of a session's archive record, and who made it."""

    session: UUID
    part: SessionPart
    values: Mapping[str, Row]
    """Database rows, by table."""
    record: PartRecord | None
    """State of the part; None where it had never been made."""


class TrashKind(StrEnum):
    """Kind of an item in the trash."""

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
    """File that could not be read and was moved away before it was rewritten."""


FILE_KINDS = frozenset(
    {TrashKind.PERSONA, TrashKind.USER_PERSONA, TrashKind.WORLD, TrashKind.PRESET, TrashKind.NOTEBOOK, TrashKind.FILE}
)


@dataclass(frozen=True)
class Trashed:
    """One item in the trash."""

    kind: TrashKind
    id: str
    """Guid, or path of a file."""
    title: str
    """Name or first words; may be empty."""
    when: datetime
    """Time of deletion."""
    size: int
    """Approximate size in bytes."""
    persona_id: str = ""
    count: int = 0
    """Number of messages of a session; for a deleted persona its number of sessions, which are shown again once it is
    restored.
    """
    place: str = ""
    """Title of the session a message belongs to; may be empty."""
    stem: str = ""
    """Original file name without ending; files only."""

    @property
    def key(self) -> str:
        """Return an id that is unique among all kinds of items."""
        return f"{self.kind} {self.id}"
