"""Counts how often each world entry has come to a persona's mind, from what is kept of every turn."""

from __future__ import annotations

import sqlite3
from uuid import UUID

from lethe_app.storage.database import Database

COUNTED = """
SELECT json_extract(one.value, '$.memory'), count(*)
FROM turn_memories, json_each(turn_memories.value, '$.memory.recalled') AS one
WHERE json_valid(turn_memories.value) AND json_extract(one.value, '$.world') <> ''
GROUP BY 1
"""


class Awakenings:
    """World entries are files and count nothing themselves; the turns they came in are all there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def counts(self) -> dict[UUID, int]:
        """Turns in which an entry came, by its guid; those in which none did are not in it."""

        def work(connection: sqlite3.Connection) -> dict[UUID, int]:
            return {UUID(guid): count for guid, count in connection.execute(COUNTED)}

        return await self._database.run(work)
