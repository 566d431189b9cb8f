"""Every change of a record that can be searched for is queued in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.retrieval.passage_builder import make_passage
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.index.pending import PendingIndex
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from tests.storage.scenes import purge_trash, store_above, store_alternative, store_passages


@pytest.fixture
def pending(database: Database) -> PendingIndex:
    return PendingIndex(database)


async def clear_queue(pending: PendingIndex, database: Database) -> set[tuple[str, UUID]]:
    """Return all queue entries and delete them."""
    found = {(debt.kind, debt.id) for debt in await pending.newest_entries(1000)}
    await database.run(lambda connection: connection.execute("DELETE FROM passage_debts").rowcount)
    return found


async def test_added_edited_regenerated_deleted_and_restored_messages_are_queued(
    chats: SessionStore, pending: PendingIndex, database: Database, say: Callable[..., Message]
):
    message = await chats.add_message(say("The lamp is lit."))
    this = {("message", message.id)}
    assert await clear_queue(pending, database) == this
    await chats.edit_message(message.id, "The lamp is out.")
    assert await clear_queue(pending, database) == this
    await store_alternative(database, message.id, Alternative(content="What lamp?"))
    assert await clear_queue(pending, database) == this
    await chats.set_shown(message.id, 0)
    assert await clear_queue(pending, database) == this
    await chats.delete_message(message.id)
    assert await clear_queue(pending, database) == this
    await chats.restore_message(message.id)
    assert await clear_queue(pending, database) == this


async def test_deleting_a_session_queues_it_with_its_messages_and_facts(
    chats: SessionStore, pending: PendingIndex, database: Database, session: ChatSession, say: Callable[..., Message]
):
    message = await chats.add_message(say())
    fact = ExtractedFact(fact="Mara fears the sea.", source_memories=[session.guid])
    await FactStore(database).save_facts("mara", fact)
    await clear_queue(pending, database)
    everything = {("session", session.guid), ("message", message.id), ("fact", fact.guid)}
    await chats.delete_session(session.guid)
    assert await clear_queue(pending, database) == everything
    await chats.restore_session(session.guid)
    assert await clear_queue(pending, database) == everything


async def test_a_purge_is_queued_too(chats: SessionStore, pending: PendingIndex, database: Database, session: ChatSession, say):
    message = await chats.add_message(say())
    await chats.delete_session(session.guid)
    await clear_queue(pending, database)
    await purge_trash(database, -1)
    assert await clear_queue(pending, database) == {("session", session.guid), ("message", message.id)}


async def test_memories_are_queued_for_their_content_and_not_for_their_usage(pending: PendingIndex, database: Database):
    memories = MemoryStore(database)
    memory = MemoryUnit(name="The lamp", content="It has been dark since May.")
    await memories.save_memories("mara", memory)
    assert await clear_queue(pending, database) == {("memory", memory.guid)}
    used = memory.model_copy(update={"trigger_count": 3})
    await database.run(lambda connection: connection.execute("UPDATE memories SET trigger_count = 3").rowcount)
    assert await clear_queue(pending, database) == set()
    await memories.save_memories("mara", used.model_copy(update={"content": "It is lit again."}))
    assert await clear_queue(pending, database) == {("memory", memory.guid)}


async def test_a_record_queued_again_while_it_is_indexed_stays_queued(
    chats: SessionStore, pending: PendingIndex, database: Database, say
):
    message = await chats.add_message(say())
    (before,) = await pending.newest_entries(10)
    await chats.edit_message(message.id, "Later.")
    (after,) = await pending.newest_entries(10)
    assert after.number > before.number
    assert after.id == before.id


async def test_only_visible_messages_are_indexed(
    chats: SessionStore, pending: PendingIndex, session: ChatSession, say: Callable[..., Message]
):
    greeting = await chats.add_message(say("Come in.", Role.ASSISTANT, speaker_name="Mara"))
    question = await chats.add_message(say("Who is there?"))
    note = await chats.add_message(say("(rain)", Role.SYSTEM))
    hidden = await chats.add_message(say("She waits.", hidden=True))
    spoken = await pending.messages_to_index([greeting.id, question.id, note.id, hidden.id])
    assert {(one.id, one.is_opening) for one in spoken} == {(greeting.id, True), (question.id, False)}
    assert {one.persona_id for one in spoken} == {"mara"}
    await chats.delete_session(session.guid)
    assert await pending.messages_to_index([greeting.id, question.id]) == []


async def test_neither_a_hidden_message_nor_a_deletion_changes_positions(
    database: Database, chats: SessionStore, pending: PendingIndex, say: Callable[..., Message]
):
    said = [await chats.add_message(say(text)) for text in ("One.", "Two.", "Three.")]
    before = {one.id: one.position for one in await pending.messages_to_index([message.id for message in said])}
    await store_above(database, said[1].id, say("(rain)", Role.SYSTEM, hidden=True))
    await chats.delete_message(said[0].id)
    after = {one.id: one.position for one in await pending.messages_to_index([message.id for message in said])}
    assert list(before.values()) == [1, 2, 3]
    assert after == {message.id: before[message.id] for message in said[1:]}


async def test_only_the_first_message_is_a_greeting(chats: SessionStore, pending: PendingIndex, say: Callable[..., Message]):
    said = [await chats.add_message(say(text, Role.ASSISTANT)) for text in ("Come in.", "Well?")]
    assert [one.is_opening for one in await pending.messages_to_index([message.id for message in said])] == [True, False]


async def test_all_records_can_be_queued_including_orphaned_passages(
    chats: SessionStore, pending: PendingIndex, database: Database, session: ChatSession, say: Callable[..., Message]
):
    message = await chats.add_message(say())
    memory, fact = MemoryUnit(content="It is dark."), ExtractedFact(fact="Tomas keeps bees.")
    await MemoryStore(database).save_memories("mara", memory)
    await FactStore(database).save_facts("mara", fact)
    stray = make_passage(PassageKind.MEMORY, "mara", memory.guid, uuid4(), "Nobody knows.", session.added)
    await store_passages(database, [stray])
    await clear_queue(pending, database)
    await pending.queue_all()
    assert await pending.count_entries() == 5
    kinds = {("message", message.id), ("session", session.guid), ("memory", memory.guid), ("fact", fact.guid)}
    assert await clear_queue(pending, database) == kinds | {("memory", stray.origin)}
