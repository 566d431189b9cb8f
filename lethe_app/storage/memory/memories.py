"""Memories of a persona other than sessions, with the trash."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.domain.clock import now
from lethe_app.domain.list_items import MemoryFiling
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.errors import RecordMissing, StorageError
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.row_mapping import RecordTable, json_list, parse_rows, read_json, utc_text

MEMORIES = RecordTable("memories", MemoryUnit, "guid")
OF_PERSONA = "WHERE category <> 'chat_session' AND persona_id = ?"


class MemoryStore(Store):
    """Store of memories. Every method is one transaction; sessions, which are memories too, are stored by `SessionStore`."""

    @in_transaction
    def save_memories(self, connection: sqlite3.Connection, persona_id: str, *memories: MemoryUnit) -> None:
        """Insert memories, or replace those with a known guid, restoring them from the trash; all or none. Raise
        StorageError for a session.
        """
        save_in_transaction(connection, persona_id, memories)

    @in_transaction
    def get(self, connection: sqlite3.Connection, guid: UUID) -> MemoryUnit:
        """Return a memory. Raise StorageError if it does not exist or is in the trash."""
        memory = find_memory(connection, guid)
        if memory is None:
            raise RecordMissing("This memory no longer exists.", "It may be in the Trash.")
        return memory

    @in_transaction
    def memories_of(self, connection: sqlite3.Connection, persona_id: str, *, deleted: bool = False) -> list[MemoryUnit]:
        """Return all memories of a persona, newest first; with `deleted` those in the trash."""
        conditions = f"{OF_PERSONA} AND (deleted_at IS NOT NULL) = ? ORDER BY rowid DESC"
        memories = MEMORIES.load(connection, conditions, (persona_id, deleted))
        # Time zones differ, so the texts cannot be compared. Comparing datetime objects is slow, and the interpreter
        # lock is held throughout the sort.
        return sorted(memories, key=lambda memory: memory.added.timestamp(), reverse=True)

    @in_transaction
    def memories_with_ids(self, connection: sqlite3.Connection, persona_id: str, guids: Collection[UUID]) -> list[MemoryUnit]:
        """Return those of these memories that are the persona's and not in the trash."""
        conditions = f"{OF_PERSONA} AND guid IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL"
        return MEMORIES.load(connection, conditions, (persona_id, json_list(guids)))

    @in_transaction
    def filings_of(self, connection: sqlite3.Connection, persona_id: str) -> list[MemoryFiling]:
        """Return category, tags and metadata of the memories that have any; no other column is read."""
        query = (
            "SELECT guid, filed_under, tags, metadata FROM memories WHERE persona_id = ? AND deleted_at IS NULL"
            " AND category <> 'chat_session' AND (filed_under <> '' OR tags <> '[]' OR metadata <> '{}')"
        )
        rows = connection.execute(query, (persona_id,))
        return [
            MemoryFiling(guid, filed_under, read_json(tags, []), read_json(metadata, {}))
            for guid, filed_under, tags, metadata in rows
        ]

    @in_transaction
    def memories_with_metadata(self, connection: sqlite3.Connection, name: str, value: str) -> list[tuple[str, MemoryUnit]]:
        """Return the memories of all personas that have this value in their metadata, oldest first, with the persona's id."""
        conditions = (
            "INDEXED BY memories_metadata WHERE category <> 'chat_session' AND deleted_at IS NULL AND metadata <> '{}'"
            " AND json_extract(metadata, '$.' || json_quote(?)) = ? ORDER BY rowid"
        )
        return _with_personas(connection, conditions, (name, value))

    @in_transaction
    def pending_reminders(self, connection: sqlite3.Connection) -> list[tuple[str, MemoryUnit]]:
        """Return all reminders that are not delivered yet, due and future ones, with the ids of their personas."""
        conditions = "WHERE category = 'reminder' AND insertion <> 'none' AND deleted_at IS NULL ORDER BY added"
        return _with_personas(connection, conditions)

    @in_transaction
    def owner_of(self, connection: sqlite3.Connection, guid: UUID) -> str:
        """Return the id of the persona the memory belongs to. Raise StorageError."""
        row = connection.execute("SELECT persona_id FROM memories WHERE guid = ?", (str(guid),)).fetchone()
        if row is None:
            raise RecordMissing("This memory no longer exists.")
        return str(row[0])

    @in_transaction
    def delete(self, connection: sqlite3.Connection, guids: Sequence[UUID]) -> int:
        """Move memories to the trash and return how many were moved."""
        return delete(connection, guids)

    @in_transaction
    def restore(self, connection: sqlite3.Connection, guids: Sequence[UUID]) -> int:
        """Restore memories from the trash and return how many were restored; those that went with their messages stay."""
        return _set_deleted_at(connection, guids, None)


# Functions for use inside the caller's transaction


def find_memory(connection: sqlite3.Connection, guid: UUID) -> MemoryUnit | None:
    """Return a memory; None if it does not exist or is in the trash."""
    conditions = "WHERE category <> 'chat_session' AND guid = ? AND deleted_at IS NULL"
    return MEMORIES.find(connection, conditions, (str(guid),))


def save_in_transaction(connection: sqlite3.Connection, persona_id: str, memories: Sequence[MemoryUnit]) -> None:
    """Insert memories, or replace those with a known guid. Raise StorageError for a session."""
    for memory in memories:
        if memory.category is MemoryType.CHAT_SESSION:
            raise StorageError("A conversation cannot be stored without its messages.")
        known = connection.execute("SELECT category FROM memories WHERE guid = ?", (str(memory.guid),)).fetchone()
        if known and known[0] == MemoryType.CHAT_SESSION:
            raise StorageError("A conversation cannot be changed into another type of memory.")
        MEMORIES.save(connection, memory, persona_id=persona_id, deleted_at=None, deleted_with="")


def mark_recalled(connection: sqlite3.Connection, guids: Sequence[UUID], moment: datetime) -> None:
    """Record that memories were recalled at `moment`."""
    rows = [(moment.isoformat(), str(guid)) for guid in guids]
    connection.executemany("UPDATE memories SET last_trigger = ?, trigger_count = trigger_count + 1 WHERE guid = ?", rows)


def delete(connection: sqlite3.Connection, guids: Sequence[UUID]) -> int:
    """Move memories to the trash and return how many were moved."""
    return _set_deleted_at(connection, guids, utc_text(now()))


def _set_deleted_at(connection: sqlite3.Connection, guids: Sequence[UUID], deleted_at: str | None) -> int:
    return connection.executemany(
        "UPDATE memories SET deleted_at = ?"
        " WHERE guid = ? AND (deleted_at IS NULL) = ? AND category <> 'chat_session' AND deleted_with = ''",
        [(deleted_at, str(guid), deleted_at is not None) for guid in guids],
    ).rowcount


def _with_personas(
    connection: sqlite3.Connection, conditions: str, values: Sequence[object] = ()
) -> list[tuple[str, MemoryUnit]]:
    query = f"SELECT persona_id, {', '.join(MEMORIES.columns)} FROM memories {conditions}"
    return parse_rows(lambda row: (row[0], MEMORIES.parse(row[1:])), connection.execute(query, values))
