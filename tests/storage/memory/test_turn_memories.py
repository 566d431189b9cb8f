"""All effects of a turn are stored together; an interruption at any statement stores none of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable

import pytest

from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.recall import TurnMemory
from lethe_app.errors import StorageError
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.key_value import AppState, SessionState
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.turn_memories import TurnEffects, TurnMemories

Say = Callable[..., Message]
WAITING = MemoryUnit(name="The lamp", content="It is dark since May.", insertion=MemoryInsertion.NATURAL)
FADED = MemoryUnit(name="The rope", content="It is wet.")
BROUGHT_UP = MemoryUnit(name="The gulls", content="They are back.")
TABLES = ("memories", "sessions", "messages", "alternatives", "session_state", "app_state", "turn_memories", "passage_debts")


async def dump_tables(database: Database) -> list[str]:
    """Return the rows of all tables."""
    return await database.run(lambda c: [repr(row) for table in TABLES for row in c.execute(f"SELECT * FROM {table}")])


async def fail_at_statement(database: Database, at: int, work: Callable[[], Awaitable[object]]) -> bool:
    """Run `work` and let its statement number `at` fail, counted from BEGIN; return whether there was one."""
    begun, is_over = 0, False

    def count(_statement: str) -> None:
        nonlocal begun
        begun += 1

    def fail() -> bool:
        """Fail once only: the rollback must not fail too."""
        nonlocal is_over
        fails, is_over = begun >= at and not is_over, begun >= at
        return fails

    def watch(connection: sqlite3.Connection, *, on: bool) -> None:
        connection.set_trace_callback(count if on else None)
        connection.set_progress_handler(fail if on else None, 1)

    connection = database._connection
    assert connection is not None
    await database.run_outside_transaction(lambda: watch(connection, on=True))
    try:
        await work()
    except sqlite3.OperationalError:
        return True
    finally:
        await database.run_outside_transaction(lambda: watch(connection, on=False))
    return False


@pytest.fixture
async def effects(database: Database, chats: SessionStore, session: ChatSession, say: Say) -> TurnEffects:
    """Effects of every kind that a turn can have."""
    await MemoryStore(database).save_memories("mara", WAITING, FADED, BROUGHT_UP)
    await SessionState(database).set(session.guid, "keyword_entries", {"awake": 1})
    message = await chats.add_message(say("Shall we walk to the lighthouse?"))
    return TurnEffects(
        persona_id="mara",
        session=session.guid,
        message=message.id,
        memory=TurnMemory(session_notes="name = Tomas"),
        moment=now(),
        hidden_message=say("The lamp: it is dark since May.", Role.SYSTEM, hidden=True),
        changed=[WAITING.model_copy(update={"insertion": MemoryInsertion.TRIGGER})],
        deleted=[FADED.guid],
        recalled=[BROUGHT_UP.guid, session.guid],
        states={"pace": {"messages": 0}, "keyword_entries": None},
        app_state={("return notes", "mara"): ["later"]},
    )


async def test_all_effects_of_a_turn_are_stored(
    database: Database, chats: SessionStore, session: ChatSession, effects: TurnEffects
):
    line = await TurnMemories(database).save_effects(effects)

    assert [message.id for message in await chats.page(session.guid, 0, 9)] == [line.id, effects.message]
    assert await TurnMemories(database).get(effects.message) == effects.memory
    held = {memory.guid: memory for memory in await MemoryStore(database).memories_of("mara")}
    assert set(held) == {WAITING.guid, BROUGHT_UP.guid}
    assert held[WAITING.guid].insertion is MemoryInsertion.TRIGGER
    assert held[BROUGHT_UP.guid].trigger_count == 1
    assert (await chats.session(session.guid)).trigger_count == 1
    state = SessionState(database)
    assert (await state.get(session.guid, "pace"), await state.get(session.guid, "keyword_entries")) == ({"messages": 0}, None)
    assert await AppState(database).get("return notes", "mara") == ["later"]


async def test_interrupted_at_any_statement_nothing_is_stored(database: Database, effects: TurnEffects):
    before, at = await dump_tables(database), 2

    while await fail_at_statement(database, at, lambda: TurnMemories(database).save_effects(effects)):
        assert await dump_tables(database) == before
        at += 1

    assert at > 15  # it was cut off at each of them, and then not at all
    assert await dump_tables(database) != before


async def test_nothing_is_stored_for_a_message_that_is_gone(database: Database, chats: SessionStore, effects: TurnEffects):
    await chats.delete_message(effects.message)
    before = await dump_tables(database)

    with pytest.raises(StorageError, match="no longer exists"):
        await TurnMemories(database).save_effects(effects)

    assert await dump_tables(database) == before


def test_session_notes_are_read_under_their_old_name():
    assert TurnMemory.model_validate({"scratch": "name = Tomas"}) == TurnMemory(session_notes="name = Tomas")
