"""Memories of the original Lethe AI Chat: the `.brain` file beside a persona's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from pydantic import JsonValue

from lethe_app.domain.clock import now
from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.interchange.field_reader import FieldReader
from lethe_app.interchange.json_text import JsonObject
from lethe_app.interchange.transcripts.dates import parse_date

MARKS = frozenset({"Category", "Insertion", "TriggerCount", "EmbedSummary"})
"""Fields of which a memory has at least two; the entries of its worlds are recognised before."""
MAX_MEMORIES = 100_000
OMITTED = frozenset({MemoryType.CHAT_SESSION, MemoryType.IMAGE, MemoryType.FILE})
"""Types that are left out: sessions come with the chat log, and the files of the others are not part of the file."""
Option = TypeVar("Option", bound=StrEnum)


@dataclass(frozen=True)
class ImportedMemories:
    """Memories of one persona, whose name is that of the file."""

    persona_name: str
    memories: Sequence[MemoryUnit]


def find_memories(values: JsonValue) -> list[JsonObject]:
    """Return the memories in a JSON value, which is a list or an object with one; an empty list if it has none."""
    lists = [values] if isinstance(values, list) else [*values.values()] if isinstance(values, dict) else []
    for found in lists:
        units = [one for one in found if _is_memory(one)] if isinstance(found, list) else []
        if units:
            return units  # type: ignore[return-value]  # they are objects
    return []


def _is_memory(value: JsonValue) -> bool:
    return isinstance(value, dict) and "Content" in value and len(MARKS & value.keys()) >= 2


def read_memories(values: JsonValue, persona_name: str, notes: ImportNotes) -> ImportedMemories:
    """Return the memories of a `.brain` file; those without a text are left out with a note."""
    memories = []
    for number, one in enumerate(find_memories(values)[:MAX_MEMORIES]):
        memory = _read_memory(one, notes, f"memories[{number}]")
        if memory is None:
            notes.add(NoteKind.SKIPPED, f"memories[{number}]")
        else:
            memories.append(memory)
    return ImportedMemories(persona_name, memories)


def _read_memory(values: Mapping[str, JsonValue], notes: ImportNotes, location: str) -> MemoryUnit | None:
    fields = FieldReader(values, notes, location)
    category = _read_option(MemoryType, fields, "Category", MemoryType.GENERAL, notes)
    content = fields.text("Content").strip()
    if not content or category in OMITTED:
        return None
    added = parse_date(values.get("Added")) or now()
    return MemoryUnit(  # without `EndTime`, by which nothing expires there
        category=category,
        insertion=_read_option(MemoryInsertion, fields, "Insertion", MemoryInsertion.TRIGGER, notes),
        name=fields.text("Name").strip(),
        content=content,
        reason=fields.text("Reason").strip(),
        added=added,
        last_trigger=parse_date(values.get("LastTrigger")) or added,
        trigger_count=fields.number("TriggerCount", 0, 0, 1_000_000),
        priority=fields.number("Priority", 1, -100, 1_000_000),
        position_index=fields.number("PositionIndex", 0, -1, 1000),
        duration=fields.number("Duration", 1, 1, 1000),
        trigger_chance=fields.decimal("TriggerChance", 1.0, 0.0, 1.0),
        sticky=fields.flag("Sticky"),
        protected=fields.flag("Protected"),
        enabled=fields.flag("Enabled", default=True),
        keywords_main=fields.texts("KeyWordsMain"),
        keywords_secondary=fields.texts("KeyWordsSecondary"),
        word_link=_read_option(WordLink, fields, "WordLink", WordLink.AND, notes),
        case_sensitive=fields.flag("CaseSensitive"),
    )


def _read_option(options: type[Option], fields: FieldReader, field: str, default: Option, notes: ImportNotes) -> Option:
    """Return the option of a name such as `NaturalForced`; a number says nothing, because versions count differently."""
    text = fields.text(field)
    name = text.replace("_", "").casefold()
    found = next((option for option in options if option.value.replace("_", "") == name), None)
    if text and found is None:
        notes.add(NoteKind.WRONG_TYPE, fields.location_of(field), found=text[:40])
    return found or default
