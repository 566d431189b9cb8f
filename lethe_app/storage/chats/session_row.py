"""Rows of a session, with the columns that are derived from its messages: message count, last activity, branching."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.storage.chats import messages
from lethe_app.storage.row_mapping import (
    MEMORY_COLUMNS,
    SESSION_COLUMNS,
    ColumnValue,
    column_values,
    insert,
    parse_rows,
    utc_text,
)

# In a session without branches, the parent of every message is the one before it, and the tip is the newest one.
IS_BRANCHED = """
SELECT EXISTS (
    SELECT 1 FROM (SELECT parent_id, lag(id) OVER (ORDER BY seq) AS above FROM messages WHERE session_id = :id)
    WHERE parent_id IS NOT above)
OR (SELECT tip_id FROM sessions WHERE guid = :id) IS NOT
   (SELECT id FROM messages WHERE session_id = :id ORDER BY seq DESC LIMIT 1)
"""
ACTIVITY_TIMES = """
SELECT time FROM messages WHERE session_id = :id
UNION ALL SELECT a.created FROM messages m JOIN alternatives a ON a.message_id = m.id WHERE m.session_id = :id
UNION ALL SELECT added FROM memories WHERE guid = :id AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = :id)
"""


def insert_session(connection: sqlite3.Connection, session: ChatSession, **columns: ColumnValue) -> None:
    """Insert a session without messages into both tables; `columns` are those of `sessions` that differ from the record."""
    row = {**column_values(session, SESSION_COLUMNS), "guid": str(session.guid), "last_activity": "", **columns}
    memory = {**column_values(session, MEMORY_COLUMNS), "guid": row["guid"], "persona_id": row["persona_id"]}
    insert(connection, "memories", memory)
    insert(connection, "sessions", row)


def update_session_row(connection: sqlite3.Connection, session: str) -> None:
    """Recompute message count, branching and last activity of a session; its tip must be correct already."""
    values = {"id": session}
    messages.update_message_count(connection, session)
    (is_branched,) = connection.execute(IS_BRANCHED, values).fetchone()
    # Compared as moments, since the stored texts have different time zones.
    moments = parse_rows(lambda row: utc_text(datetime.fromisoformat(row[0])), connection.execute(ACTIVITY_TIMES, values))
    connection.execute(
        "UPDATE sessions SET branched = ?, last_activity = coalesce(?, last_activity) WHERE guid = ?",
        (bool(is_branched), min(max(moments), utc_text(now())) if moments else None, session),
    )


def queue_for_indexing(connection: sqlite3.Connection, session: str) -> None:
    """Queue a session and all its messages for indexing, because their position or session changed."""
    of_messages = "INSERT INTO passage_debts (kind, id) SELECT 'message', id FROM messages WHERE session_id = ?"
    connection.execute(of_messages, (session,))
    connection.execute("INSERT INTO passage_debts (kind, id) VALUES ('session', ?)", (session,))
