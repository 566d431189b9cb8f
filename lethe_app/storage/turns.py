"""Keeps what each turn remembered, beside the message that called it up."""

from __future__ import annotations

import sqlite3
from uuid import UUID

from pydantic import ValidationError

from lethe_app.domain.recollection import TurnMemory
from lethe_app.storage.database import Database
from lethe_app.storage.text import storable


class TurnMemories:
    """Gone when the message is purged. One that an older or newer version wrote differently counts as none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, message_id: UUID) -> TurnMemory | None:
        def work(connection: sqlite3.Connection) -> TurnMemory | None:
            row = connection.execute("SELECT value FROM turn_memories WHERE message_id = ?", (str(message_id),)).fetchone()
            try:
                return TurnMemory.model_validate_json(row[0]) if row else None
            except ValidationError:
                return None

        return await self._database.run(work)

    async def put(self, message_id: UUID, memory: TurnMemory) -> None:
        """Raises StorageError if the message is gone."""
        row = (str(message_id), storable(memory.model_dump_json()))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO turn_memories (message_id, value) VALUES (?, ?)", row)

        await self._database.run(work)
