"""Finds the reminders of all personas at once, which is asked whenever a minute has gone by."""

from __future__ import annotations

import sqlite3

from lethe_app.domain.memory import MemoryUnit
from lethe_app.storage.database import Database
from lethe_app.storage.records import MEMORY_COLUMNS, understood

WAITING = f"""
SELECT persona_id, {", ".join(MEMORY_COLUMNS)} FROM memories
WHERE category = 'reminder' AND insertion <> 'none' AND deleted_at IS NULL ORDER BY added
"""  # noqa: S608 - names are ours


class ReminderRows:
    """What is still to be told, with whose it is."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(self) -> list[tuple[str, MemoryUnit]]:
        """By persona's unique name, those that are due and those that lie ahead."""

        def work(connection: sqlite3.Connection) -> list[tuple[str, MemoryUnit]]:
            rows = connection.execute(WAITING).fetchall()
            return [(row[0], understood(MemoryUnit, dict(zip(MEMORY_COLUMNS, row[1:], strict=True)))) for row in rows]

        return await self._database.run(work)
