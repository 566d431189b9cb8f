"""Memories and facts are read as they were saved, moved to the trash and restored; forgotten facts leave a tombstone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit, WordLink
from lethe_app.errors import StorageError
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.memory.memories import MemoryStore
from tests.storage.scenes import mark_recalled


@pytest.fixture
def memories(database: Database) -> MemoryStore:
    return MemoryStore(database)


LIGHTHOUSE = MemoryUnit(
    category=MemoryType.GOAL,
    insertion=MemoryInsertion.NATURAL,
    name="The lighthouse",
    content="Walk there before the storm.",
    reason="She promised.",
    end_time=now() + timedelta(days=30),
    priority=3,
    keywords_main=["lamp", "stairs"],
    keywords_secondary=["night"],
    word_link=WordLink.AND_ALL,
    protected=True,
)


async def test_a_memory_is_read_with_every_field(memories: MemoryStore):
    await memories.save_memories("mara", LIGHTHOUSE)
    assert await memories.get(LIGHTHOUSE.guid) == LIGHTHOUSE
    assert await memories.owner_of(LIGHTHOUSE.guid) == "mara"


async def test_a_memory_saved_again_replaces_the_old_one(memories: MemoryStore):
    await memories.save_memories("mara", LIGHTHOUSE)
    await memories.save_memories("mara", LIGHTHOUSE.model_copy(update={"content": "Too late."}))
    assert [memory.content for memory in await memories.memories_of("mara")] == ["Too late."]


async def test_each_persona_has_its_own_memories(memories: MemoryStore):
    await memories.save_memories("mara", LIGHTHOUSE)
    assert await memories.memories_of("tom") == []


async def test_a_deleted_memory_is_in_the_trash_until_it_is_restored(memories: MemoryStore):
    await memories.save_memories("mara", LIGHTHOUSE)
    assert await memories.delete([LIGHTHOUSE.guid]) == 1
    assert await memories.memories_of("mara") == []
    assert await memories.memories_of("mara", deleted=True) == [LIGHTHOUSE]
    with pytest.raises(StorageError):
        await memories.get(LIGHTHOUSE.guid)
    assert await memories.restore([LIGHTHOUSE.guid]) == 1
    assert await memories.memories_of("mara") == [LIGHTHOUSE]


async def test_the_newest_comes_first_whatever_its_zone(memories: MemoryStore):
    early = datetime(2026, 5, 2, 9, tzinfo=timezone(timedelta(hours=12)))
    late = datetime(2026, 5, 2, 2, tzinfo=timezone(timedelta(hours=-8)))
    for moment in (late, early):
        await memories.save_memories("mara", MemoryUnit(name=str(moment), added=moment))
    assert [memory.added for memory in await memories.memories_of("mara")] == [late, early]


async def test_a_session_does_not_become_another_memory(memories: MemoryStore, session: ChatSession, chats: SessionStore):
    with pytest.raises(StorageError):
        await memories.save_memories("mara", MemoryUnit(guid=session.guid, content="Oh."))
    assert (await chats.session(session.guid)).name == "The lighthouse"
    assert await memories.delete([session.guid]) == 0


async def test_a_recall_is_counted_and_changes_nothing_else(memories: MemoryStore, database: Database):
    await memories.save_memories("mara", LIGHTHOUSE)
    moment = now()
    for _time in range(2):
        await mark_recalled(database, [LIGHTHOUSE.guid], moment)
    expected = LIGHTHOUSE.model_copy(update={"trigger_count": 2, "last_trigger": moment})
    assert await memories.get(LIGHTHOUSE.guid) == expected


async def test_saving_a_memory_restores_it_from_the_trash(memories: MemoryStore):
    await memories.save_memories("mara", LIGHTHOUSE)
    await memories.delete([LIGHTHOUSE.guid])
    await memories.save_memories("mara", LIGHTHOUSE)
    assert await memories.memories_of("mara") == [LIGHTHOUSE]


async def test_a_session_cannot_be_saved_as_a_memory(memories: MemoryStore):
    with pytest.raises(StorageError):
        await memories.save_memories("mara", ChatSession(persona_id="mara"))
    assert await memories.memories_of("mara") == []
