"""What a long life costs on disk: a conversation of 10,000 messages and a list of 5,000 conversations, best of five each."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.storage.chats import messages
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, SESSION_COLUMNS, column_values, insert, utc_text
from tests.bench.report import arguments, show

LONG, MANY = 10_000, 5_000


def said(session: ChatSession, number: int) -> Message:
    """A message of some hundred characters."""
    role = Role.USER if number % 2 else Role.ASSISTANT
    return Message(session_id=session.guid, role=role, alternatives=[Alternative(content=f"{number} wörds " * 50)])


async def quickest(question: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of the best of five."""
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        await question()
        taken.append((time.perf_counter() - start) * 1000)
    return min(taken)


def many_sessions(connection: sqlite3.Connection) -> None:
    """Conversations of one message each."""
    for number in range(MANY):
        session = ChatSession(persona_id="many", name=str(number))
        insert(connection, "memories", {**column_values(session, MEMORY_COLUMNS), "persona_id": "many"})
        row = {
            **column_values(session, SESSION_COLUMNS),
            "guid": str(session.guid),
            "last_activity": utc_text(session.added),
        }
        insert(connection, "sessions", row)
        messages.add(connection, said(session, number))


async def measure() -> dict[str, float]:
    """In a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "lethe.sqlite3")
        chats = SessionStore(database)
        session = await chats.add_session(ChatSession(persona_id="long"))
        await chats.add_messages([said(session, number) for number in range(LONG)])
        await database.run(many_sessions)
        (newest,) = await chats.newest_messages(session.guid, 1)
        reply = Alternative(content="so far", complete=False)
        figures = {
            "outline_ms": await quickest(lambda: chats.outline(session.guid)),
            "page_ms": await quickest(lambda: chats.page(session.guid, LONG // 2, 100)),
            "tail_ms": await quickest(lambda: chats.newest_messages(session.guid, 100)),
            "add_message_ms": await quickest(lambda: chats.add_message(said(session, LONG))),
            "checkpoint_ms": await quickest(lambda: chats.replace_alternative(newest.id, 0, reply)),
            "sessions_ms": await quickest(lambda: chats.sessions("many")),
        }
        await database.close()
    return figures


def main() -> None:
    """Measure and print."""
    wanted = arguments(__doc__)
    figures = asyncio.run(measure())
    show(list(figures.items()), figures, as_json=wanted.json)


if __name__ == "__main__":
    main()
