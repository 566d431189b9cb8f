"""Queue of records whose passages are out of date, filled by triggers in the transaction that changes a record."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.domain.chat import Role
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import json_list, parse_rows

# Place and opening must not depend on the deletion of other messages: those events do not queue this message again.
MESSAGES_TO_INDEX = """
WITH wanted AS MATERIALIZED (SELECT m.* FROM messages m WHERE m.id IN (SELECT value FROM json_each(?))),
hidden AS MATERIALIZED (
    SELECT session_id, seq FROM messages WHERE hidden = 1 AND session_id IN (SELECT session_id FROM wanted))
SELECT m.id, m.session_id, s.persona_id, m.speaker_name, m.role, m.time, m.place, a.content,
    m.role = 'assistant' AND m.place = 1, m.withdrawn
FROM (SELECT w.*, w.seq - (SELECT count(*) FROM hidden h WHERE h.session_id = w.session_id AND h.seq < w.seq) AS place
      FROM wanted w) m JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
JOIN sessions s ON s.guid = m.session_id JOIN memories u ON u.guid = s.guid
WHERE m.deleted_at IS NULL AND m.hidden = 0 AND u.deleted_at IS NULL AND m.role IN ('user', 'assistant')
ORDER BY m.session_id, m.seq
"""
_QUEUE_ORPHANS = """
INSERT INTO passage_debts (kind, id) SELECT DISTINCT 'memory', origin FROM passages
WHERE origin NOT IN (SELECT id FROM messages) AND origin NOT IN (SELECT guid FROM memories)
    AND origin NOT IN (SELECT guid FROM facts) AND origin NOT IN (SELECT id FROM document_chunks)
"""
"""Statement that queues passages whose origin no longer exists; the kind does not matter, since no record will be found."""

HAS_ENTRIES_OUTSIDE = """
SELECT EXISTS (
    SELECT 1 FROM passage_debts d LEFT JOIN messages m ON d.kind = 'message' AND m.id = d.id
    WHERE d.id <> :session AND (m.session_id IS NULL OR m.session_id <> :session))
"""


def has_entries_outside(connection: sqlite3.Connection, session_id: UUID) -> bool:
    """Return whether anything but this session and its messages waits to be indexed, inside a transaction."""
    return bool(connection.execute(HAS_ENTRIES_OUTSIDE, {"session": str(session_id)}).fetchone()[0])


@dataclass(frozen=True)
class PendingRecord:
    """Queue entry: a record whose passages must be rebuilt."""

    number: int
    """Queue number. A record that changes again gets a higher one, so that a rebuild in progress does not delete the new
    entry.
    """
    kind: str
    """`message`, `session`, `memory`, `fact`, or `document` for a passage of one."""
    id: UUID


@dataclass(frozen=True)
class PendingMessage:
    """Message as needed for building its passages."""

    id: UUID
    session: UUID
    persona_id: str
    speaker_name: str
    role: Role
    time: datetime
    position: int
    """Position among the visible messages of its session, in order of arrival."""
    text: str
    is_opening: bool
    """True for a greeting, the first message of a session if it is the persona's; it is the same in many sessions."""
    withdrawn: Collection[str] = ()
    """Digests of the sentences that the user wants forgotten."""


class PendingIndex(Store):
    """Indexing queue. Entries are deleted by `Passages.replace`, in the transaction that changes the passages."""

    @in_transaction
    def newest_entries(self, connection: sqlite3.Connection, limit: int) -> list[PendingRecord]:
        """Return queue entries, newest first, because the newest message is searched for soonest."""
        rows = connection.execute("SELECT number, kind, id FROM passage_debts ORDER BY number DESC LIMIT ?", (limit,))
        return [PendingRecord(number, kind, UUID(id_)) for number, kind, id_ in rows]

    @in_transaction
    def count_entries(self, connection: sqlite3.Connection) -> int:
        """Return the length of the queue."""
        return int(connection.execute("SELECT count(*) FROM passage_debts").fetchone()[0])

    @in_transaction
    def messages_to_index(self, connection: sqlite3.Connection, ids: Sequence[UUID]) -> list[PendingMessage]:
        """Return those of these messages that are neither hidden nor in the trash, by session and order of arrival."""
        wanted = json_list(ids)
        return parse_rows(_pending_message, connection.execute(MESSAGES_TO_INDEX, (wanted,)))

    @in_transaction
    def queue_all(self, connection: sqlite3.Connection) -> None:
        """Queue all records and rebuild the word index, after passages were found to be damaged."""
        queue_all(connection)


def queue_all(connection: sqlite3.Connection) -> None:
    """Queue all records and rebuild the word index, inside a transaction.

    Passages whose origin no longer exists are queued too and thereby deleted, including those of World Info files.
    """
    for kind, source in (
        ("message", "SELECT id FROM messages"),
        ("session", "SELECT guid FROM sessions"),
        ("memory", "SELECT guid FROM memories WHERE category <> 'chat_session'"),
        ("fact", "SELECT guid FROM facts"),
        ("document", "SELECT id FROM document_chunks"),
    ):
        query = f"INSERT INTO passage_debts (kind, id) SELECT '{kind}', * FROM ({source})"
        connection.execute(query)
    connection.execute(_QUEUE_ORPHANS)
    connection.execute("INSERT INTO passage_words (passage_words) VALUES ('rebuild')")


def _pending_message(row: tuple[str, str, str, str, str, str, int, str, int, str]) -> PendingMessage:
    id_, session, persona_id, name, role, time, position, text, is_opening, withdrawn = row
    moment = datetime.fromisoformat(time)
    return PendingMessage(
        UUID(id_), UUID(session), persona_id, name, Role(role), moment, position, text, bool(is_opening), json.loads(withdrawn)
    )
