"""Switches of mode and language within sessions, recorded with the user's messages."""

from __future__ import annotations

import sqlite3
from uuid import UUID

from lethe_app.domain.chat import Message, Role, SessionEvent, SessionEventKind, SwitchTrigger
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import RecordTable

EVENTS = RecordTable("session_events", SessionEvent, "message_id, kind")
PREVIOUS_MODE = """
SELECT p.mode FROM messages p JOIN messages m ON m.session_id = p.session_id
WHERE m.id = ? AND p.seq < m.seq AND p.role = 'user' AND p.hidden = 0 AND p.deleted_at IS NULL ORDER BY p.seq DESC LIMIT 1
"""
PREVIOUS_LANGUAGE = """
SELECT a.language FROM messages p JOIN messages m ON m.session_id = p.session_id
JOIN alternatives a ON a.message_id = p.id AND a.position = p.shown
WHERE m.id = ? AND p.seq < m.seq AND p.role = 'user' AND p.hidden = 0 AND p.deleted_at IS NULL AND a.language <> ''
ORDER BY p.seq DESC LIMIT 1
"""
"""Query: language in which the user last wrote before a message."""
CURRENT_LANGUAGE = """
SELECT e.after FROM messages p JOIN messages m ON m.session_id = p.session_id JOIN session_events e ON e.message_id = p.id
WHERE m.id = ? AND p.seq < m.seq AND p.deleted_at IS NULL AND e.kind = 'language_switch' ORDER BY p.seq DESC LIMIT 1
"""
"""Query: language to which the session last switched before a message."""


class SessionEvents(Store):
    """Store of the switches within sessions; they are deleted with their messages."""

    @in_transaction
    def events_of(self, connection: sqlite3.Connection, session_id: UUID) -> list[SessionEvent]:
        """Return the switches of a session in the order of its messages."""
        return load_events(connection, str(session_id))

    @in_transaction
    def set_language(
        self, connection: sqlite3.Connection, message_id: UUID, text: str, language: str, requested: str = ""
    ) -> None:
        """Store the detected language of the displayed text of a message, unless the text has changed since; a message of the
        user may be a switch, as may the language that it asks for.
        """
        key = (language, str(message_id), text)
        changed = connection.execute(
            "UPDATE alternatives SET language = ? WHERE message_id = ? AND content = ?"
            " AND position = (SELECT shown FROM messages WHERE id = message_id)",
            key,
        ).rowcount
        if changed:
            note_language(connection, str(message_id), language, requested)


def load_events(connection: sqlite3.Connection, session_id: str) -> list[SessionEvent]:
    """Return the switches of a session in the order of its messages, inside a transaction."""
    of_session = "JOIN messages m ON m.id = message_id WHERE m.session_id = ? AND m.deleted_at IS NULL"
    return EVENTS.load(connection, f"{of_session} ORDER BY m.seq, kind", (session_id,))


def note_switches(connection: sqlite3.Connection, message: Message, requested: str = "") -> None:
    """Record the switches that a stored message of the user makes, inside the caller's transaction. `requested` is the language
    that the user asks for in it; empty if none.
    """
    if message.role is not Role.USER or message.hidden:
        return
    previous = connection.execute(PREVIOUS_MODE, (str(message.id),)).fetchone()
    if previous is not None and previous[0] != message.mode:
        _save(connection, str(message.id), SessionEventKind.MODE_SWITCH, previous[0], message.mode, SwitchTrigger.USER_REQUEST)
    note_language(connection, str(message.id), message.current.language, requested)


def note_language(connection: sqlite3.Connection, message_id: str, language: str, requested: str = "") -> None:
    """Record the language switch that a message of the user makes, if any.

    A language that was asked for stays that of the session until the user writes in another one than before.
    """
    (role,) = connection.execute("SELECT role FROM messages WHERE id = ?", (message_id,)).fetchone()
    written = connection.execute(PREVIOUS_LANGUAGE, (message_id,)).fetchone()
    switched = connection.execute(CURRENT_LANGUAGE, (message_id,)).fetchone()
    current = (switched or written or ("",))[0]
    if role != Role.USER:
        return
    kind = SessionEventKind.LANGUAGE_SWITCH
    if requested and requested != (current or language):
        _save(connection, message_id, kind, current or language, requested, SwitchTrigger.USER_REQUEST)
    elif language and current and language not in {current, written[0] if written else ""}:
        _save(connection, message_id, kind, current, language, SwitchTrigger.AUTO_DETECTED)


def _save(
    connection: sqlite3.Connection, message_id: str, kind: SessionEventKind, before: str, after: str, trigger: SwitchTrigger
) -> None:
    event = SessionEvent(message_id=UUID(message_id), kind=kind, before=before, after=after, trigger=trigger)
    EVENTS.save(connection, event)
