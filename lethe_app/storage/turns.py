"""Keeps what each turn remembered, beside the message that called it up."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
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

    async def forgotten(self, guids: Sequence[UUID]) -> set[UUID]:
        """Those of these sessions, memories and facts that were forgotten since: in the trash, or gone for good."""
        wanted = json.dumps([str(guid) for guid in guids])

        def work(connection: sqlite3.Connection) -> set[UUID]:
            rows = connection.execute(
                "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT guid FROM memories WHERE deleted_at IS NULL)"
                " AND value NOT IN (SELECT guid FROM facts WHERE deleted_at IS NULL)",
                (wanted,),
            )
            return {UUID(guid) for (guid,) in rows}

        return await self._database.run(work)

    async def put(self, message_id: UUID, memory: TurnMemory) -> None:
        """Raises StorageError if the message is gone."""
        row = (str(message_id), storable(memory.model_dump_json()))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO turn_memories (message_id, value) VALUES (?, ?)", row)

        await self._database.run(work)
