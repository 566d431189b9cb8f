"""Texts and states of incognito sessions, in temporary tables of the connection. Those are kept in memory (`temp_store`), so
that nothing of them reaches a file; they end with the connection, also by a crash. The tables of the file hold the same rows
without texts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from lethe_app.storage.row_mapping import ColumnValue

CREATE_TABLES = (
    """CREATE TEMP TABLE IF NOT EXISTS incognito_texts (
        message_id TEXT, position INTEGER, content TEXT, thinking TEXT, PRIMARY KEY (message_id, position))""",
    """CREATE TEMP TABLE IF NOT EXISTS incognito_state (
        session_id TEXT, key TEXT, value TEXT, PRIMARY KEY (session_id, key))""",
)
"""Statements to execute on every new connection."""
SELECT_TEXTS = """
SELECT message_id, position, content, thinking FROM incognito_texts WHERE message_id IN (SELECT value FROM json_each(?))
"""
OF_SESSION = "SELECT is_incognito FROM sessions WHERE guid = ?"
OF_MESSAGE = "SELECT is_incognito FROM sessions WHERE guid = (SELECT session_id FROM messages WHERE id = ?)"
ERASE = "DELETE FROM memories WHERE guid IN (SELECT guid FROM sessions WHERE is_incognito AND (?1 IS NULL OR guid = ?1))"
ERASE_TEXTS = "DELETE FROM incognito_texts WHERE message_id NOT IN (SELECT id FROM messages)"
ERASE_STATES = "DELETE FROM incognito_state WHERE session_id NOT IN (SELECT guid FROM sessions)"


def is_session_incognito(connection: sqlite3.Connection, session_id: str) -> bool:
    """Return whether a session is incognito."""
    row = connection.execute(OF_SESSION, (session_id,)).fetchone()
    return bool(row and row[0])


def keep_text(connection: sqlite3.Connection, row: Mapping[str, ColumnValue]) -> dict[str, ColumnValue]:
    """Return the row of an alternative as it is written to the file: without its texts, which are kept here, if its session is
    incognito.
    """
    incognito = connection.execute(OF_MESSAGE, (row["message_id"],)).fetchone()
    if not (incognito and incognito[0]):
        return dict(row)
    values = (row["message_id"], row["position"], row["content"], row["thinking"])
    connection.execute("INSERT OR REPLACE INTO incognito_texts VALUES (?, ?, ?, ?)", values)
    return {**row, "content": "", "thinking": ""}


def remove_text(connection: sqlite3.Connection, message_id: str, position: int, count: int) -> None:
    """Remove the text of one of the `count` alternatives of a message; later ones move up."""
    connection.execute("DELETE FROM incognito_texts WHERE message_id = ? AND position = ?", (message_id, position))
    for later in range(position + 1, count):  # one by one, since two may not share a position even for a moment
        key = (message_id, later)
        connection.execute("UPDATE incognito_texts SET position = position - 1 WHERE message_id = ? AND position = ?", key)


def load_texts(connection: sqlite3.Connection, ids_json: str) -> dict[tuple[str, int], dict[str, object]]:
    """Return the texts of messages of incognito sessions, by message and position."""
    rows = connection.execute(SELECT_TEXTS, (ids_json,))
    return {(message_id, position): {"content": text, "thinking": thinking} for message_id, position, text, thinking in rows}


def erase(connection: sqlite3.Connection, session_id: str | None) -> int:
    """Erase an incognito session for good, or all of them; return the number erased."""
    count = connection.execute(ERASE, (session_id,)).rowcount
    connection.execute(ERASE_TEXTS)
    connection.execute(ERASE_STATES)
    return count
