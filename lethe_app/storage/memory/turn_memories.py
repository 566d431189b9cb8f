"""Memories recalled for each message. A record is valid only while the message's text is unchanged."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from lethe_app.domain.chat import Message
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.recall import LOGGED, RecallCounts, TurnMemory, count_recalled
from lethe_app.errors import StorageError
from lethe_app.storage import key_value
from lethe_app.storage.chats import messages
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory import memories
from lethe_app.storage.memory.facts import IS_KNOWN
from lethe_app.storage.row_mapping import json_list, storable_text

DISPLAYED_TEXT = """
SELECT a.content FROM messages m JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
WHERE m.id = ? AND m.deleted_at IS NULL
"""
SELECT_TURNS = """
SELECT t.message_id, m.session_id, a.content, t.value
FROM json_each(?) w JOIN turn_memories t ON t.message_id = w.value JOIN messages m ON m.id = t.message_id
JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
"""
# The facts are narrowed to the given ones first: whether a fact is dormant takes two subqueries.
DELETED_AMONG = f"""
SELECT value FROM json_each(?1) WHERE value NOT IN (SELECT guid FROM memories WHERE deleted_at IS NULL)
AND value NOT IN (SELECT guid FROM facts WHERE guid IN (SELECT value FROM json_each(?1)) AND {IS_KNOWN})
AND value NOT IN (SELECT id FROM messages WHERE deleted_at IS NULL AND withdrawn = '{{}}')
AND value NOT IN (SELECT id FROM document_chunks)
"""


class _Row(BaseModel):
    """JSON record of a turn."""

    model_config = ConfigDict(extra="forbid")

    said: str
    """Digest of the message text: an edited message is recalled for anew."""
    memory: TurnMemory


@dataclass(frozen=True)
class TurnEffects:
    """All effects of one turn besides the messages. They are stored together: with only half of them, a memory would be
    announced twice or never.
    """

    persona_id: str
    session: UUID
    message: UUID
    """The user's message for which the memories were recalled."""
    memory: TurnMemory
    moment: datetime
    hidden_message: Message | None = None
    """Hidden message to insert directly above the message."""
    changed: Sequence[MemoryUnit] = ()
    deleted: Sequence[UUID] = ()
    """Memories that are moved to the trash."""
    recalled: Sequence[UUID] = ()
    """Memories and sessions that were recalled."""
    states: Mapping[str, object] = field(default_factory=dict)
    """Session state by key; None deletes the key."""
    app_state: Mapping[tuple[str, str], object] = field(default_factory=dict)
    """App state by scope and key; None deletes the key."""


@dataclass(frozen=True)
class StoredTurn:
    """Stored record of the turn that a message of the user began."""

    memory: TurnMemory | None
    """Memories recalled for the message; None if nothing is stored or the message was edited since."""
    deleted_ids: frozenset[UUID] = frozenset()
    """Ids in `memory` of records that were deleted since."""
    is_edited: bool = False
    """True if the message was edited since memories were recalled for it."""


NO_TURN = StoredTurn(None)


class TurnMemories(Store):
    """Table of the memories recalled per message; a record is deleted when its message is purged. One in the format of
    another version counts as missing.
    """

    async def get(self, message_id: UUID) -> TurnMemory | None:
        """Return the memories recalled for a message, or None if nothing is stored or the message was edited since."""
        return (await self.load(message_id)).memory

    @in_transaction
    def load(self, connection: sqlite3.Connection, message_id: UUID) -> StoredTurn:
        """Return the stored record of a turn."""
        return load_turn(connection, message_id)

    @in_transaction
    def recall_counts(self, connection: sqlite3.Connection, message_ids: Sequence[UUID]) -> dict[UUID, RecallCounts]:
        """Return the numbers of what was recalled for each of these messages, if anything; forgotten memories are not counted.

        The note of the time, whose id is that of the session itself, is not counted either.
        """
        ids_json = json_list(message_ids)
        counts: dict[UUID, RecallCounts] = {}
        for message_id, session_id, content, value in connection.execute(SELECT_TURNS, (ids_json,)).fetchall():
            record = _parse_row(value)
            if record is not None and record.said == _digest(content):
                recalled = [memory for memory in record.memory.recalled if str(memory.memory) != session_id]
                record_ids = [str(memory.memory) for memory in recalled if not (memory.world or memory.way in LOGGED)]
                removed = [one for one in record.memory.blocked if one.was_recalled]
                record_ids += [str(one.memory) for one in removed if not one.world]
                deleted = _deleted_among(connection, record_ids)
                count = count_recalled(one for one in recalled if str(one.memory) not in deleted)
                counts[UUID(message_id)] = replace(count, irrelevant=sum(str(one.memory) not in deleted for one in removed))
        return {message_id: count for message_id, count in counts.items() if count.total}

    @in_transaction
    def deleted_among(self, connection: sqlite3.Connection, guids: Sequence[UUID]) -> set[UUID]:
        """Return those of these sessions, memories, facts and messages that are in the trash or erased."""
        return set(map(UUID, _deleted_among(connection, [str(guid) for guid in guids])))

    @in_transaction
    def strip_texts(self, connection: sqlite3.Connection) -> int:
        """Remove the recalled texts from all stored turns, and all stored prompts; return the number of turns changed."""
        rows = connection.execute("SELECT message_id, value FROM turn_memories").fetchall()
        records = [(message_id, record) for message_id, value in rows if (record := _parse_row(value)) is not None]
        changed = [
            (record.model_copy(update={"memory": record.memory.without_texts()}).model_dump_json(), message_id)
            for message_id, record in records
            if not record.memory.is_stripped
        ]
        connection.executemany("UPDATE turn_memories SET value = ? WHERE message_id = ?", changed)
        connection.execute("DELETE FROM kept_prompts")
        return len(changed)

    @in_transaction
    def save_turn(self, connection: sqlite3.Connection, message_id: UUID, memory: TurnMemory) -> None:
        """Store the memories recalled for a message. Raise StorageError if the message is gone."""
        _save(connection, message_id, memory)

    @in_transaction
    def save_effects(self, connection: sqlite3.Connection, effects: TurnEffects) -> Message | None:
        """Store all effects of a turn in one transaction; return the hidden message as stored. Raise StorageError if the
        message is gone.
        """
        below, hidden_message = str(effects.message), effects.hidden_message
        stored = messages.insert_above(connection, below, hidden_message) if hidden_message is not None else None
        _save(connection, effects.message, effects.memory)
        memories.save_in_transaction(connection, effects.persona_id, effects.changed)
        memories.delete(connection, effects.deleted)
        memories.mark_recalled(connection, effects.recalled, effects.moment)
        for key, value in effects.states.items():
            key_value.set_session_value(connection, effects.session, key, value)
        for (scope, key), value in effects.app_state.items():
            key_value.set_app_value(connection, scope, key, value)
        return stored


def load_turn(connection: sqlite3.Connection, message_id: UUID) -> StoredTurn:
    """Return the stored record of the turn that a message began, inside a transaction."""
    row = connection.execute("SELECT value FROM turn_memories WHERE message_id = ?", (str(message_id),)).fetchone()
    text_digest, record = _text_digest(connection, message_id), _parse_row(row[0]) if row else None
    if text_digest is None or record is None:
        return NO_TURN
    if record.said != text_digest:
        return StoredTurn(None, is_edited=True)
    deleted_ids = _deleted_among(connection, [str(guid) for guid in record.memory.sources])
    return StoredTurn(record.memory, frozenset(map(UUID, deleted_ids)))


def _save(connection: sqlite3.Connection, message_id: UUID, memory: TurnMemory) -> None:
    text_digest = _text_digest(connection, message_id)
    if text_digest is None:
        raise StorageError("This message no longer exists.", "It may be in the Trash.")
    row = (str(message_id), storable_text(_Row(said=text_digest, memory=memory).model_dump_json()))
    connection.execute("INSERT OR REPLACE INTO turn_memories (message_id, value) VALUES (?, ?)", row)


def _parse_row(value: str) -> _Row | None:
    try:
        return _Row.model_validate_json(value)
    except ValidationError:
        return None


def _text_digest(connection: sqlite3.Connection, message_id: UUID) -> str | None:
    """Return a digest of the displayed text; None if the message is gone."""
    row = connection.execute(DISPLAYED_TEXT, (str(message_id),)).fetchone()
    return _digest(row[0]) if row else None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _deleted_among(connection: sqlite3.Connection, guids: Sequence[str]) -> set[str]:
    """Return those that are no longer a memory, a known fact, a message or a passage of a document."""
    return {guid for (guid,) in connection.execute(DELETED_AMONG, (json_list(guids),))} if guids else set()


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
