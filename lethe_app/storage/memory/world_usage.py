"""Usage of World Info entries, counted from the memories recorded per turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from uuid import UUID

from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import json_list

ACTIVATION_COUNTS = """
SELECT json_extract(item.value, '$.memory'), count(*)
FROM turn_memories, json_each(turn_memories.value, '$.memory.recalled') AS item
WHERE json_valid(turn_memories.value) AND json_extract(item.value, '$.world') <> ''
GROUP BY 1
"""
PERSONAS_OF_ENTRIES = """
SELECT DISTINCT sessions.persona_id
FROM turn_memories, json_each(turn_memories.value, '$.memory.recalled') AS item
JOIN messages ON messages.id = turn_memories.message_id
JOIN sessions ON sessions.guid = messages.session_id
WHERE json_valid(turn_memories.value) AND json_extract(item.value, '$.memory') IN (SELECT value FROM json_each(?))
"""


class WorldUsage(Store):
    """Queries for the usage of World Info entries, which are files and have no counter of their own."""

    @in_transaction
    def activation_counts(self, connection: sqlite3.Connection) -> dict[UUID, int]:
        """Return the number of turns in which each entry was activated, by guid; entries never activated are omitted."""
        return {UUID(guid): count for guid, count in connection.execute(ACTIVATION_COUNTS)}

    @in_transaction
    def personas_of_entries(self, connection: sqlite3.Connection, guids: Iterable[UUID]) -> list[str]:
        """Return the ids of the personas for whom any of these entries was ever activated."""
        ids_json = json_list(guids)
        return [str(persona_id) for (persona_id,) in connection.execute(PERSONAS_OF_ENTRIES, (ids_json,))]
