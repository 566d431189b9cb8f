"""Messages by calendar day, across the sessions of a persona. A message belongs to the day on which it was written, in the time
zone of that moment.
"""

from __future__ import annotations

import sqlite3
from datetime import date
from uuid import UUID

from lethe_app.domain.chat import Message
from lethe_app.domain.facts import ExtractedFact
from lethe_app.storage import message_erasure, trash
from lethe_app.storage.chats import messages
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory.facts import FACTS
from lethe_app.storage.message_erasure import ErasedDay
from lethe_app.storage.row_mapping import json_list

VISIBLE = """
FROM messages m JOIN sessions s ON s.guid = m.session_id JOIN memories u ON u.guid = s.guid
WHERE s.persona_id = ? AND NOT s.is_incognito AND u.deleted_at IS NULL AND m.deleted_at IS NULL AND m.hidden = 0
AND m.role IN ('user', 'assistant')
"""
COUNT_BY_DAY = f"SELECT substr(m.time, 1, 10), count(*) {VISIBLE} GROUP BY 1 ORDER BY 1"
IDS_OF_DAY = f"SELECT m.id {VISIBLE} AND substr(m.time, 1, 10) = ? ORDER BY m.time, m.seq"

SESSIONS_OF_DAY = f"SELECT DISTINCT s.guid {VISIBLE} AND substr(m.time, 1, 10) = ?"
FACTS_REPLACED_WITHIN_A_DAY = """
SELECT old.guid, new.guid FROM facts old JOIN facts new ON new.guid = old.superseded_by
WHERE old.persona_id = ? AND old.superseded = 1 AND old.deleted_at IS NULL AND new.deleted_at IS NULL
AND substr(old.first_seen, 1, 10) = substr(new.first_seen, 1, 10)
"""


class DayStore(Store):
    """Store of days: their messages and the facts that changed within them. Every method is one transaction."""

    @in_transaction
    def count_messages(self, connection: sqlite3.Connection, persona_id: str) -> dict[date, int]:
        """Return the number of visible messages by day, oldest first."""
        rows = connection.execute(COUNT_BY_DAY, (persona_id,)).fetchall()
        return {date.fromisoformat(day): count for day, count in rows}

    @in_transaction
    def sessions_of(self, connection: sqlite3.Connection, persona_id: str, day: date) -> list[UUID]:
        """Return the sessions with a visible message of a day."""
        return [UUID(guid) for (guid,) in connection.execute(SESSIONS_OF_DAY, (persona_id, day.isoformat()))]

    @in_transaction
    def messages_of(self, connection: sqlite3.Connection, persona_id: str, day: date) -> list[Message]:
        """Return the visible messages of a day in the order of time."""
        ids = [id_ for (id_,) in connection.execute(IDS_OF_DAY, (persona_id, day.isoformat()))]
        return messages.load(connection, ids)

    @in_transaction
    def delete_day(self, connection: sqlite3.Connection, persona_id: str, day: date) -> None:
        """Move the visible messages of a day to the trash, so that facts known from them alone are dormant."""
        ids = [id_ for (id_,) in connection.execute(IDS_OF_DAY, (persona_id, day.isoformat()))]
        trash.mark_messages(connection, ids, is_deleted=True)

    @in_transaction
    def erase_day(self, connection: sqlite3.Connection, persona_id: str, day: date) -> ErasedDay:
        """Erase a day of a persona with everything derived from its messages, see `message_erasure.erase_day`."""
        return message_erasure.erase_day(connection, persona_id, day.isoformat())

    @in_transaction
    def facts_replaced_within_a_day(self, connection: sqlite3.Connection, persona_id: str) -> dict[date, list[ExtractedFact]]:
        """Return the facts that were replaced on the day on which they were stated, and their successors, by day."""
        guids = {guid for row in connection.execute(FACTS_REPLACED_WITHIN_A_DAY, (persona_id,)) for guid in row}
        days: dict[date, list[ExtractedFact]] = {}
        for fact in FACTS.load(connection, "WHERE guid IN (SELECT value FROM json_each(?))", (json_list(sorted(guids)),)):
            days.setdefault(fact.first_seen.date(), []).append(fact)
        return days
