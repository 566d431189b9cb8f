"""The cost of a message does not grow with the session, counted in instructions of SQLite's virtual machine."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.storage.chats import messages
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database

LONG = 10_000


def build_message(session: ChatSession, number: int) -> Message:
    role = Role.USER if number % 2 else Role.ASSISTANT
    return Message(session_id=session.guid, role=role, alternatives=[Alternative(content=f"{number} wörds " * 50)])


async def count_instructions(database: Database, work: Callable[[sqlite3.Connection], object]) -> int:
    """Return the number of instructions of SQLite's virtual machine that `work` takes; it does not depend on the computer."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    def counted(connection: sqlite3.Connection) -> None:
        connection.set_progress_handler(tick, 1)
        work(connection)
        connection.set_progress_handler(None, 0)

    await database.run(counted)
    return count


@pytest.fixture
async def long_session(tmp_path: Path) -> AsyncIterator[tuple[Database, ChatSession]]:
    """A session of ten thousand messages."""
    database = await Database.open(tmp_path / "lethe.sqlite3")
    session = await SessionStore(database).add_session(ChatSession(persona_id="mara"))
    await SessionStore(database).add_messages([build_message(session, number) for number in range(LONG)])
    yield database, session
    await database.close()


async def test_adding_reading_the_tail_and_streaming_cost_the_same_at_any_length(long_session: tuple[Database, ChatSession]):
    database, session = long_session
    chats = SessionStore(database)
    short = await chats.add_session(ChatSession(persona_id="mara"))
    await chats.add_messages([build_message(short, number) for number in range(3)])
    (newest,) = await chats.newest_messages(session.guid, 1)

    adding_short = await count_instructions(database, lambda connection: messages.add(connection, build_message(short, 4)))
    adding_long = await count_instructions(database, lambda connection: messages.add(connection, build_message(session, LONG)))
    reply = Alternative(content="so far", complete=False)
    streaming = await count_instructions(database, lambda c: messages.replace_alternative(c, str(newest.id), 0, reply))

    assert adding_long <= adding_short * 1.2
    assert streaming < 200
