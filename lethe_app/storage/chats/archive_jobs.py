"""Archive jobs: the state of every part of an archived session, stored so that interrupted work continues; undo of a part."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from uuid import UUID

from lethe_app.domain.changes import PartValue
from lethe_app.domain.chat import ChatSession, PartRecord, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.storage.chats.branches import branch_state
from lethe_app.storage.chats.session_row import queue_for_indexing, update_session_row
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, RecordTable, column_values, select_dicts, storable_text, update

PARTS = RecordTable("session_parts", PartRecord, "session_id, part")
OF_PART = "WHERE session_id = ? AND part = ?"
QUEUE_PART = """
INSERT INTO session_parts (session_id, part, state, made_by, maker, tries, trouble) VALUES (?, ?, 'pending', 'rules', '', 0, '')
ON CONFLICT (session_id, part) DO UPDATE SET state = 'pending', tries = 0, trouble = '' WHERE made_by <> 'user'
"""
VALUE_COLUMNS: dict[SessionPart, dict[str, tuple[str, ...]]] = {
    SessionPart.TITLE: {"memories": ("name",)},
    SessionPart.SUMMARY: {"memories": ("content",)},
    SessionPart.KEYWORDS: {"memories": ("keywords_main", "enabled")},
    SessionPart.GOALS: {"sessions": ("future_goals",)},
    SessionPart.RELEVANCE: {"sessions": ("relevance",)},
    SessionPart.ROLEPLAY: {"sessions": ("is_roleplay",)},
}
"""Columns of each archive part by table; facts have a table of their own."""
BLANK_FIELDS = {
    "title": "UPDATE memories SET name = '' WHERE guid = ?",
    "summary": "UPDATE memories SET content = '' WHERE guid = ?",
    "keywords": "UPDATE memories SET keywords_main = '[]' WHERE guid = ?",
    "goals": "UPDATE sessions SET future_goals = '[]' WHERE guid = ?",
}
"""Statements that remove a part of a session that was made of its messages."""
RELEASE_PART = """
UPDATE session_parts SET made_by = 'rules', maker = '', state = 'pending', tries = 0, trouble = ''
WHERE session_id = ? AND part = ? AND made_by = 'user'
"""
"""Statement that removes the user's mark from a part and queues it."""


class ArchiveJobs(Store):
    """Table of the archive jobs, one per session and part. Every method is one transaction."""

    @in_transaction
    def start_archive(
        self,
        connection: sqlite3.Connection,
        session_id: UUID,
        parts: Iterable[SessionPart] = SessionPart,
        *,
        archive: bool = True,
    ) -> None:
        """Queue the given parts of a session and mark it as archived; parts written by the user remain. Raise `StorageError`
        if it is gone.

        If the session continued since a model wrote its parts, those no longer cover all of it: they count as made by rules,
        which may overwrite them. If it did not continue, they stay until a model writes them again.
        """
        guid = str(session_id)
        rows = [(guid, part.value) for part in parts]
        branch_state(connection, guid)
        (continued,) = connection.execute("SELECT archived = 0 FROM sessions WHERE guid = ?", (guid,)).fetchone()
        if archive:
            connection.execute("UPDATE sessions SET archived = 1 WHERE guid = ?", (guid,))
        connection.executemany(QUEUE_PART, rows)
        if archive and continued:
            connection.execute(
                "UPDATE session_parts SET made_by = 'rules', maker = '' WHERE session_id = ? AND made_by = 'model'", (guid,)
            )

    @in_transaction
    def blank(self, connection: sqlite3.Connection, session_id: UUID) -> None:
        """Remove what was made of the messages of a session, except what the user wrote."""
        blank_session(connection, str(session_id))

    @in_transaction
    def parts_of(self, connection: sqlite3.Connection, session_id: UUID) -> dict[SessionPart, PartRecord]:
        """Return the jobs of a session by part; empty if it was never archived."""
        return {record.part: record for record in PARTS.load(connection, "WHERE session_id = ?", (str(session_id),))}

    @in_transaction
    def pending_parts(self, connection: sqlite3.Connection) -> list[PartRecord]:
        """Return all pending jobs, those of the most recent session first."""
        conditions = """
            JOIN sessions s ON s.guid = session_id JOIN memories m ON m.guid = s.guid
            WHERE state = 'pending' AND m.deleted_at IS NULL ORDER BY s.last_activity DESC, s.guid
        """
        return PARTS.load(connection, conditions)

    @in_transaction
    def save_value(
        self, connection: sqlite3.Connection, record: PartRecord, expected: PartRecord | None = None, /, **fields: object
    ) -> bool:
        """Write fields of the session and the state of the job in one transaction.

        With `expected`, only if the job is still in that state; return False otherwise. Raise `StorageError` if the session
        is gone.
        """
        guid = str(record.session_id)
        values = column_values(ChatSession.model_validate({"persona_id": "", **fields}), fields)
        memory_values = {name: value for name, value in values.items() if name in MEMORY_COLUMNS}
        session_values = {name: value for name, value in values.items() if name not in MEMORY_COLUMNS}
        branch_state(connection, guid)
        stored = PARTS.find(connection, OF_PART, (guid, record.part))
        if expected is not None and stored != expected:
            return False
        for table, row in (("memories", memory_values), ("sessions", session_values)):
            if row:
                update(connection, table, "guid", {**row, "guid": guid})
        if stored is None or stored.made_by is not MadeBy.USER or record.made_by is MadeBy.USER:
            PARTS.save(connection, record)
        return True

    @in_transaction
    def requeue_parts(self, connection: sqlite3.Connection, parts: Sequence[SessionPart], model: str = "") -> int:
        """Queue these parts again for all sessions where only rules wrote them; return the number of jobs.

        Jobs at which this very model failed are skipped: their error text begins with the model's name. The number of tries
        is kept; otherwise a model that crashes at a part whenever it is loaded would do so for ever.
        """
        rows = [(part.value, f"{storable_text(model)}: ") for part in parts]
        return connection.executemany(
            "UPDATE session_parts SET state = 'pending', trouble = '' WHERE part = ?1 AND made_by = 'rules'"
            " AND (state = 'done' OR state = 'failed' AND substr(trouble, 1, length(?2)) <> ?2)",
            rows,
        ).rowcount

    # Undo

    @in_transaction
    def part_of(self, connection: sqlite3.Connection, session: UUID, part: SessionPart) -> PartValue:
        """Return the current value of a part. Raise StorageError if the session is gone."""
        guid = str(session)
        branch_state(connection, guid)
        values = {
            table: select_dicts(connection, f"SELECT {', '.join(names)} FROM {table} WHERE guid = ?", (guid,))[0]
            for table, names in VALUE_COLUMNS.get(part, {}).items()
        }
        return PartValue(session, part, values, PARTS.find(connection, OF_PART, (guid, part)))

    @in_transaction
    def restore_part(self, connection: sqlite3.Connection, before: PartValue) -> None:
        """Restore a part to an earlier value, regardless of who has written it since."""
        guid = str(before.session)
        branch_state(connection, guid)
        for table, values in before.values.items():
            update(connection, table, "guid", {**values, "guid": guid})
        connection.execute(f"DELETE FROM session_parts {OF_PART}", (guid, before.part))
        if before.record is not None:
            PARTS.save(connection, before.record)

    @in_transaction
    def release_part(self, connection: sqlite3.Connection, session: UUID, part: SessionPart) -> None:
        """Allow a part written by the user to be overwritten, and queue it."""
        connection.execute(RELEASE_PART, (str(session), part.value))


def blank_session(connection: sqlite3.Connection, guid: str) -> None:
    """Remove what was made of the messages of a session, except what the user wrote, and bring its row up to date."""
    parts = dict(connection.execute("SELECT part, made_by FROM session_parts WHERE session_id = ?", (guid,)).fetchall())
    for part, statement in BLANK_FIELDS.items():
        if parts.get(part) != "user":
            connection.execute(statement, (guid,))
    connection.execute("DELETE FROM session_parts WHERE session_id = ? AND made_by <> 'user'", (guid,))
    update_session_row(connection, guid)
    queue_for_indexing(connection, guid)
