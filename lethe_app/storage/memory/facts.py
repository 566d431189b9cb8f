"""Keeps what a persona knows as single sentences, and the traces of facts the user wanted forgotten.

A fact goes to the trash and comes back with the conversations it was taken from: it rests while the only ones that are left lie
there. What the user wrote or pinned never rests.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from uuid import UUID

from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, Tombstone
from lethe_app.errors import StorageError
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import cells, insert, understood, update, utc

FACT_COLUMNS = tuple(ExtractedFact.model_fields)
FACT = f"SELECT {', '.join(FACT_COLUMNS)} FROM facts"  # noqa: S608 - names are ours
RESTS = """
(pinned = 0 AND made_by <> 'user'
AND EXISTS (SELECT 1 FROM json_each(source_memories) s JOIN memories m ON m.guid = s.value
    WHERE m.deleted_at IS NOT NULL AND m.category = 'chat_session')
AND NOT EXISTS (SELECT 1 FROM json_each(source_memories) s JOIN memories m ON m.guid = s.value WHERE m.deleted_at IS NULL))
"""
REPLACE_SUCCESSOR = """
UPDATE facts SET (superseded, superseded_by) = (SELECT superseded, superseded_by FROM facts WHERE guid = :gone)
WHERE superseded_by = :gone
"""
"""Before a fact is deleted: what it superseded holds again, or is superseded by what came after it."""
SUCCESSORS = """
SELECT said.value, successor.fact
FROM facts gone, json_each(gone.source_messages) said
JOIN facts successor ON successor.guid = gone.superseded_by
WHERE gone.superseded = 1 AND gone.deleted_at IS NULL AND successor.deleted_at IS NULL AND successor.superseded = 0
    AND said.value IN (SELECT value FROM json_each(?))
    AND said.value NOT IN (SELECT value FROM json_each(successor.source_messages))
ORDER BY successor.rowid
"""
KNOWN = f"deleted_at IS NULL AND NOT {RESTS}"


class FactStore:
    """Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save_facts(self, persona_id: str, *facts: ExtractedFact) -> None:
        """Store new ones and replace those whose guid is known; all of them or none."""

        def work(connection: sqlite3.Connection) -> None:
            for fact in facts:
                row = cells(fact, FACT_COLUMNS)
                if connection.execute("SELECT 1 FROM facts WHERE guid = ?", (row["guid"],)).fetchone():
                    update(connection, "facts", "guid", {**row, "persona_id": persona_id})
                else:
                    insert(connection, "facts", {**row, "persona_id": persona_id})

        await self._database.run(work)

    async def get(self, guid: UUID) -> ExtractedFact:
        """Raises StorageError if there is none, it was forgotten or it rests."""

        def work(connection: sqlite3.Connection) -> ExtractedFact:
            row = connection.execute(f"{FACT} WHERE guid = ? AND {KNOWN}", (str(guid),)).fetchone()
            if row is None:
                raise StorageError("This fact is no longer known.", "It, or the conversation it is from, may be in the trash.")
            return _fact(row)

        return await self._database.run(work)

    async def facts_of(self, persona_id: str, *, deleted: bool = False) -> list[ExtractedFact]:
        """Everything known, superseded facts included, newest first; forgotten ones instead if `deleted`."""
        return await self._those(persona_id, "deleted_at IS NOT NULL" if deleted else KNOWN)

    async def learnt(self, persona_id: str) -> list[ExtractedFact]:
        """The same with those that rest: what is said once more is not to be a second fact beside one that comes back."""
        return await self._those(persona_id, "deleted_at IS NULL")

    async def _those(self, persona_id: str, which: str) -> list[ExtractedFact]:
        def work(connection: sqlite3.Connection) -> list[ExtractedFact]:
            rows = connection.execute(f"{FACT} WHERE persona_id = ? AND {which} ORDER BY rowid DESC", (persona_id,))
            found = [_fact(row) for row in rows]
            return sorted(found, key=lambda fact: fact.last_seen, reverse=True)  # not as text: zones differ

        return await self._database.run(work)

    async def changed(self, messages: Collection[UUID]) -> dict[UUID, str]:
        """Return for each of these messages that states a superseded fact the newest fact that took its place."""

        def work(connection: sqlite3.Connection) -> dict[UUID, str]:
            rows = connection.execute(SUCCESSORS, (json.dumps([str(message) for message in messages]),))
            return {UUID(message): str(fact) for message, fact in rows}

        return await self._database.run(work) if messages else {}

    async def owner(self, guid: UUID) -> str:
        """The persona who knows it."""

        def work(connection: sqlite3.Connection) -> str:
            row = connection.execute("SELECT persona_id FROM facts WHERE guid = ?", (str(guid),)).fetchone()
            if row is None:
                raise StorageError("This fact is no longer known.")
            return str(row[0])

        return await self._database.run(work)

    async def forget_facts(self, persona_id: str, guids: Sequence[UUID], tombstones: Sequence[Tombstone]) -> None:
        """Move them to the trash and remember that they are not to be learnt again.

        What was forgotten before stays so: a stone that is there already gets the new one's messages too.
        """
        moment = utc(now())

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE facts SET deleted_at = ? WHERE guid = ? AND persona_id = ? AND deleted_at IS NULL",
                [(moment, str(guid), persona_id) for guid in guids],
            )
            for stone in tombstones:
                _lay(connection, persona_id, stone)

        await self._database.run(work)

    async def remove(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Delete facts for good; those they superseded hold again, and the same may be learnt again."""

        def work(connection: sqlite3.Connection) -> None:
            for guid in guids:
                connection.execute(REPLACE_SUCCESSOR, {"gone": str(guid)})
                connection.execute("DELETE FROM facts WHERE guid = ? AND persona_id = ?", (str(guid), persona_id))

        await self._database.run(work)

    async def restore(self, persona_id: str, guid: UUID, digest: str) -> None:
        """Know it again."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE facts SET deleted_at = NULL WHERE guid = ? AND persona_id = ?", (str(guid), persona_id))
            connection.execute("DELETE FROM forgotten_facts WHERE persona_id = ? AND digest = ?", (persona_id, digest))

        await self._database.run(work)

    async def tombstones(self, persona_id: str) -> list[Tombstone]:
        """Facts that are not to be learnt again."""

        def work(connection: sqlite3.Connection) -> list[Tombstone]:
            rows = connection.execute("SELECT digest, messages FROM forgotten_facts WHERE persona_id = ?", (persona_id,))
            return [Tombstone(digest, tuple(UUID(id_) for id_ in json.loads(messages))) for digest, messages in rows]

        return await self._database.run(work)


def _lay(connection: sqlite3.Connection, persona_id: str, stone: Tombstone) -> None:
    """A stone without messages stands for all there are or will be."""
    here = (persona_id, stone.digest)
    row = connection.execute("SELECT messages FROM forgotten_facts WHERE persona_id = ? AND digest = ?", here).fetchone()
    messages = [str(id_) for id_ in stone.messages]
    if row is not None:
        known = json.loads(row[0])
        messages = list(dict.fromkeys([*known, *messages])) if known and messages else []
    connection.execute(
        "INSERT OR REPLACE INTO forgotten_facts (persona_id, digest, messages) VALUES (?, ?, ?)", (*here, json.dumps(messages))
    )


def _fact(row: tuple[object, ...]) -> ExtractedFact:
    return understood(ExtractedFact, dict(zip(FACT_COLUMNS, row, strict=True)))
