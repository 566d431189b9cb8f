"""Keeps what lies on a persona's workbench for some minutes, so that a restart in the middle of work loses none of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from lethe_app.domain.tools import BenchEntry
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import storable, understood, utc

COLUMNS = tuple(BenchEntry.model_fields)
_ALL = f"SELECT {', '.join(COLUMNS)} FROM workbench"  # noqa: S608 - names are ours
_PUT = f"INSERT OR REPLACE INTO workbench ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
_CROWD = """
DELETE FROM workbench WHERE namespace = :here AND key IN (
    SELECT key FROM workbench WHERE namespace = :here AND key <> :key ORDER BY expires DESC, stored DESC LIMIT -1 OFFSET :room)
"""


class BenchRows:
    """Every method is one transaction; what has expired is not there for any of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_entry(self, entry: BenchEntry, most: int, moment: datetime) -> None:
        """In the place of what has its key; where more than `most` would lie there, those that expire first make room."""
        moments = (utc(entry.stored), utc(entry.expires))
        tags = storable(json.dumps(entry.tags, ensure_ascii=False))
        words = (entry.namespace, entry.key, entry.value, entry.category)
        row = (*(storable(text) for text in words), tags, *moments)

        def work(connection: sqlite3.Connection) -> None:
            _sweep(connection, moment)
            connection.execute(_PUT, row)
            connection.execute(_CROWD, {"here": row[0], "key": row[1], "room": most - 1})

        await self._database.run(work)

    async def get(self, namespace: str, key: str, moment: datetime) -> BenchEntry | None:
        found = await self._read("WHERE namespace = ? AND key = ? AND expires > ?", (namespace, key, utc(moment)))
        return found[0] if found else None

    async def entries_of(self, namespace: str, moment: datetime) -> list[BenchEntry]:
        """All that lie there, by key."""
        return await self._read("WHERE namespace = ? AND expires > ? ORDER BY key", (namespace, utc(moment)))

    async def sweep(self, moment: datetime) -> int:
        """Throw away what has expired; returns how many that were."""
        return await self._database.run(lambda connection: _sweep(connection, moment))

    async def _read(self, where: str, values: Sequence[str]) -> list[BenchEntry]:
        def work(connection: sqlite3.Connection) -> list[BenchEntry]:
            rows = connection.execute(f"{_ALL} {where}", tuple(values))
            return [understood(BenchEntry, dict(zip(COLUMNS, row, strict=True))) for row in rows]

        return await self._database.run(work)


def _sweep(connection: sqlite3.Connection, moment: datetime) -> int:
    return connection.execute("DELETE FROM workbench WHERE expires <= ?", (utc(moment),)).rowcount
