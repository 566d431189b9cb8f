"""Relations between the rows of a salvaged database: what lost its parent gets a new one, or goes as well."""

from __future__ import annotations

import sqlite3
from uuid import UUID

from lethe_app.domain.chat import ChatSession
from lethe_app.storage.chats.session_row import update_session_row
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, SESSION_COLUMNS, column_values, insert

RECOVERED = "Recovered conversation"
"""Title of a conversation of which only the messages were saved."""
ORPHANED_SESSIONS = """
SELECT m.session_id, coalesce((SELECT persona_id FROM sessions WHERE guid = m.session_id),
    (SELECT persona_id FROM memories WHERE guid = m.session_id), max(CASE m.role WHEN 'assistant' THEN m.speaker END), ''),
    min(m.time)
FROM messages m WHERE m.session_id NOT IN (SELECT guid FROM sessions JOIN memories USING (guid)) GROUP BY m.session_id
"""
MISSING_MESSAGES = """
SELECT CASE m.name WHEN '' THEN printf('%s, %.10s', coalesce(
        (SELECT max(speaker_name) FROM messages WHERE session_id = s.guid AND role = 'assistant'),
        printf('%s%s', upper(substr(s.persona_id, 1, 1)), substr(s.persona_id, 2))), s.last_activity) ELSE m.name END,
    (SELECT count(*) FROM messages t WHERE t.session_id = s.guid AND t.deleted_at IS NULL AND t.hidden = 0
        AND EXISTS (SELECT 1 FROM alternatives WHERE message_id = t.id)),
    s.message_count
FROM sessions s JOIN memories m USING (guid) WHERE m.deleted_at IS NULL
"""
# A message whose parent is lost follows the one before it.
MEND_PARENTS = """
UPDATE messages SET parent_id = (SELECT id FROM messages b WHERE b.session_id = messages.session_id AND b.seq < messages.seq
    ORDER BY b.seq DESC LIMIT 1)
WHERE parent_id IS NOT NULL AND parent_id NOT IN (SELECT id FROM messages)
"""
MEND_TIPS = """
UPDATE sessions SET tip_id = (SELECT id FROM messages m WHERE m.session_id = sessions.guid ORDER BY m.seq DESC LIMIT 1)
WHERE tip_id IS NULL OR tip_id NOT IN (SELECT id FROM messages)
"""
WITHOUT_TEXT = (
    "DELETE FROM messages WHERE id NOT IN (SELECT message_id FROM alternatives)",
    """
    DELETE FROM sessions WHERE guid NOT IN (SELECT session_id FROM messages)
        AND guid NOT IN (SELECT guid FROM memories WHERE content <> '')
    """,
)
"""Statements that delete messages of which nothing is left to read, and conversations without any message or summary."""
WITHOUT_SESSION = "DELETE FROM memories WHERE category = 'chat_session' AND guid NOT IN (SELECT guid FROM sessions)"


def mend_relations(connection: sqlite3.Connection) -> list[tuple[str, int, int]]:
    """Connect the rows with each other again, inside a transaction without foreign keys. Return the conversations that have
    fewer messages than before, with both numbers.

    Messages without a conversation get a new one. Other rows whose parent is lost are deleted, and what has no text left.
    """
    incomplete = [row for row in connection.execute(MISSING_MESSAGES) if row[1] < row[2]]
    for statement in WITHOUT_TEXT if any(there < before for _title, there, before in incomplete) else ():
        connection.execute(statement)
    for guid, persona_id, began in connection.execute(ORPHANED_SESSIONS).fetchall():
        try:
            _recover_session(connection, UUID(guid), persona_id, began)
        except ValueError:  # of a page of which only a part was left
            connection.execute("DELETE FROM messages WHERE session_id = ?", (guid,))
    for statement in (MEND_PARENTS, MEND_TIPS, WITHOUT_SESSION):
        connection.execute(statement)
    _delete_orphans(connection)
    for (guid,) in connection.execute("SELECT guid FROM sessions").fetchall():
        update_session_row(connection, guid)
    return incomplete


def _recover_session(connection: sqlite3.Connection, guid: UUID, persona_id: str, began: str) -> None:
    """Insert those of the two rows of a session that are lost."""
    session = ChatSession(guid=guid, persona_id=persona_id, name=RECOVERED)
    memory = column_values(session, (*MEMORY_COLUMNS, "persona_id")) | {"added": began}
    row = column_values(session, (*SESSION_COLUMNS, "guid")) | {"last_activity": ""}
    for table, values in (("memories", memory), ("sessions", row)):
        if not connection.execute(f"SELECT 1 FROM {table} WHERE guid = ?", (str(guid),)).fetchone():
            insert(connection, table, values)


def _delete_orphans(connection: sqlite3.Connection) -> None:
    """Delete rows whose parent is lost, until there are none."""
    while orphans := connection.execute('SELECT DISTINCT "table", fkid FROM pragma_foreign_key_check').fetchall():
        for table, number in orphans:
            keys = {row[0]: row for row in connection.execute(f"PRAGMA foreign_key_list({table})")}
            _, _, parent, column, referenced, *_ = keys[number]
            connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT {referenced} FROM {parent})")
