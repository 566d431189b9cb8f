"""What a long life costs on disk: a conversation of 10,000 messages and a list of 5,000 conversations, best of five each."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.storage.chats import messages
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, SESSION_COLUMNS, column_values, insert, utc_text
from tests.bench.report import best_ms, run

LONG, MANY, ROUNDS = 10_000, 5_000, 5


def said(session: ChatSession, number: int) -> Message:
    """A message of some hundred characters."""
    role = Role.USER if number % 2 else Role.ASSISTANT
    return Message(session_id=session.guid, role=role, alternatives=[Alternative(content=f"{number} wörds " * 50)])


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
            "outline_ms": await best_ms(lambda: chats.outline(session.guid), ROUNDS),
            "page_ms": await best_ms(lambda: chats.page(session.guid, LONG // 2, 100), ROUNDS),
            "tail_ms": await best_ms(lambda: chats.newest_messages(session.guid, 100), ROUNDS),
            "add_message_ms": await best_ms(lambda: chats.add_message(said(session, LONG)), ROUNDS),
            "checkpoint_ms": await best_ms(lambda: chats.replace_alternative(newest.id, 0, reply), ROUNDS),
            "sessions_ms": await best_ms(lambda: chats.sessions("many"), ROUNDS),
        }
        await database.close()
    return figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
