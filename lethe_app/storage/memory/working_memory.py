"""Working memory of a persona: entries that expire after some minutes, stored so that they survive a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from lethe_app.domain.tools import WorkingMemoryEntry
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import column_values, parse_row, save_row, utc_text

COLUMNS = tuple(WorkingMemoryEntry.model_fields)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM workbench"  # noqa: S608 - names are ours
_DELETE_EXCESS = """
DELETE FROM workbench WHERE namespace = :namespace AND key IN (
    SELECT key FROM workbench WHERE namespace = :namespace AND key <> :key
    ORDER BY expires DESC, stored DESC LIMIT -1 OFFSET :others)
"""
"""Statement that deletes all entries of a namespace but the newly stored one and those that expire last."""


class WorkingMemoryRows:
    """Table of working-memory entries. Every method is one transaction; expired entries count as missing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_entry(self, entry: WorkingMemoryEntry, max_entries: int, moment: datetime) -> None:
        """Insert or replace an entry; of more than `max_entries` in the namespace, those that expire first are deleted."""
        row = column_values(entry, COLUMNS)

        def work(connection: sqlite3.Connection) -> None:
            _delete_expired(connection, moment)
            save_row(connection, "workbench", "namespace, key", row)
            connection.execute(_DELETE_EXCESS, {"namespace": row["namespace"], "key": row["key"], "others": max_entries - 1})

        await self._database.run(work)

    async def get(self, namespace: str, key: str, moment: datetime) -> WorkingMemoryEntry | None:
        """Return an entry, or None."""
        found = await self._read("WHERE namespace = ? AND key = ? AND expires > ?", (namespace, key, utc_text(moment)))
        return found[0] if found else None

    async def entries_of(self, namespace: str, moment: datetime) -> list[WorkingMemoryEntry]:
        """Return all entries of a namespace, by key."""
        return await self._read("WHERE namespace = ? AND expires > ? ORDER BY key", (namespace, utc_text(moment)))

    async def delete_expired(self, moment: datetime) -> int:
        """Delete expired entries and return their number."""
        return await self._database.run(lambda connection: _delete_expired(connection, moment))

    async def _read(self, where: str, values: Sequence[str]) -> list[WorkingMemoryEntry]:
        def work(connection: sqlite3.Connection) -> list[WorkingMemoryEntry]:
            rows = connection.execute(f"{_SELECT} {where}", tuple(values))
            return [parse_row(WorkingMemoryEntry, COLUMNS, row) for row in rows]

        return await self._database.run(work)


def _delete_expired(connection: sqlite3.Connection, moment: datetime) -> int:
    return connection.execute("DELETE FROM workbench WHERE expires <= ?", (utc_text(moment),)).rowcount
