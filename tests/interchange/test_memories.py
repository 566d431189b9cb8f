"""Memories of the original Lethe AI Chat become memories here, and what cannot be one is named."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from lethe_app.domain.import_notes import NoteKind
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.interchange.external_file import read_external_file
from tests.interchange.external_files import lethe_memory

LAMP = lethe_memory()


@pytest.mark.parametrize("values", [[LAMP], {"Version": 2, "Memories": [LAMP]}])
def test_every_field_of_a_memory_has_its_place(values: object):
    found = read_external_file(json.dumps(values).encode(), "/x/Vera Lind.brain").memories

    assert found.persona_name == "Vera Lind"
    (memory,) = found.memories
    assert memory == MemoryUnit(
        guid=memory.guid,
        category=MemoryType.REMINDER,
        insertion=MemoryInsertion.USER_RETURN,
        name="The lamp",
        content="It burns whale oil.",
        reason="She asked.",
        added=datetime(2024, 5, 2, 10, tzinfo=UTC),
        last_trigger=datetime(2024, 6, 2, 10, tzinfo=UTC),
        trigger_count=3,
        priority=4,
        position_index=-1,
        duration=2,
        trigger_chance=0.5,
        sticky=True,
        protected=True,
        enabled=False,
        keywords_main=["lamp"],
        keywords_secondary=["oil"],
        word_link=WordLink.OR,
        case_sensitive=True,
    )


def test_what_is_no_memory_here_is_named():
    values = [
        {**LAMP, "Content": " "},
        {**LAMP, "Category": "ChatSession"},
        {**LAMP, "Category": 4, "Insertion": "Sideways"},
    ]

    found = read_external_file(json.dumps(values).encode(), "vera.brain")

    (memory,) = found.memories.memories
    assert (memory.category, memory.insertion) == (MemoryType.GENERAL, MemoryInsertion.TRIGGER)
    assert [(note.kind, note.location) for note in found.notes if note.kind is not NoteKind.CONVERTED] == [
        (NoteKind.SKIPPED, "memories[0]"),
        (NoteKind.SKIPPED, "memories[1]"),
        (NoteKind.WRONG_TYPE, "memories[2].Category"),
        (NoteKind.WRONG_TYPE, "memories[2].Insertion"),
    ]
