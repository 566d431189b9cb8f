"""Working memory of a persona: entries that expire after some minutes, stored so that they survive a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime

from lethe_app.domain.tools import WorkingMemoryEntry
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import RecordTable, column_values, utc_text

ENTRIES = RecordTable("working_memory", WorkingMemoryEntry, "persona_id, namespace, key")
_IS_BELOW = (
    "(:prefix = '' OR namespace || '/' || key = :prefix"
    " OR substr(namespace || '/' || key, 1, length(:prefix) + 1) = :prefix || '/')"
)
_DELETE_EXCESS = """
DELETE FROM working_memory WHERE persona_id = :persona_id AND namespace = :namespace AND key IN (
    SELECT key FROM working_memory WHERE persona_id = :persona_id AND namespace = :namespace AND key <> :key
    ORDER BY expires DESC, stored DESC LIMIT -1 OFFSET :others)
"""
"""Statement that deletes all entries of a namespace but the newly stored one and those that expire last."""


class WorkingMemoryRows(Store):
    """Table of working-memory entries. Every method is one transaction; expired entries count as missing."""

    @in_transaction
    def save_entry(self, connection: sqlite3.Connection, entry: WorkingMemoryEntry, max_entries: int, moment: datetime) -> None:
        """Insert or replace an entry; of more than `max_entries` in the namespace, those that expire first are deleted."""
        _delete_expired(connection, moment)
        ENTRIES.save(connection, entry)
        key = column_values(entry, ("persona_id", "namespace", "key"))
        connection.execute(_DELETE_EXCESS, {**key, "others": max_entries - 1})

    async def get(self, persona_id: str, namespace: str, key: str, moment: datetime) -> WorkingMemoryEntry | None:
        """Return an entry, or None."""
        values = {"persona_id": persona_id, "namespace": namespace, "key": key}
        found = await self._read("namespace = :namespace AND key = :key", values, moment)
        return found[0] if found else None

    async def entries_below(self, persona_id: str, prefix: str, moment: datetime) -> list[WorkingMemoryEntry]:
        """Return the entries whose path is or lies below `prefix`, by path; an empty prefix is that of all entries."""
        return await self._read(_IS_BELOW, {"persona_id": persona_id, "prefix": prefix}, moment)

    @in_transaction
    def delete_stored(
        self, connection: sqlite3.Connection, persona_id: str, namespace: str, since: datetime, until: datetime
    ) -> int:
        """Delete the entries of a namespace that were stored in a span of time, and return their number."""
        query = "DELETE FROM working_memory WHERE persona_id = ? AND namespace = ? AND stored BETWEEN ? AND ?"
        values = (persona_id, namespace, utc_text(since), utc_text(until))
        return connection.execute(query, values).rowcount

    @in_transaction
    def delete_expired(self, connection: sqlite3.Connection, moment: datetime) -> int:
        """Delete expired entries and return their number."""
        return _delete_expired(connection, moment)

    @in_transaction
    def _read(
        self, connection: sqlite3.Connection, condition: str, values: Mapping[str, str], moment: datetime
    ) -> list[WorkingMemoryEntry]:
        parameters = {**values, "moment": utc_text(moment)}
        conditions = f"WHERE persona_id = :persona_id AND expires > :moment AND {condition} ORDER BY namespace, key"
        return ENTRIES.load(connection, conditions, parameters)


def _delete_expired(connection: sqlite3.Connection, moment: datetime) -> int:
    return connection.execute("DELETE FROM working_memory WHERE expires <= ?", (utc_text(moment),)).rowcount
