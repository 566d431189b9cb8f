"""Keeps what each turn remembered, beside the message that called it up and only as long as that says the same."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from lethe_app.domain.chat import Message
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.recall import LOGGED, TurnMemory
from lethe_app.errors import StorageError
from lethe_app.storage import key_value
from lethe_app.storage.chats import messages
from lethe_app.storage.database import Database
from lethe_app.storage.memory import memories
from lethe_app.storage.memory.facts import KNOWN
from lethe_app.storage.row_mapping import storable

SAID = """
SELECT a.content FROM messages m JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
WHERE m.id = ? AND m.deleted_at IS NULL
"""
OF_MESSAGES = """
SELECT t.message_id, m.session_id, a.content, t.value
FROM json_each(?) w JOIN turn_memories t ON t.message_id = w.value JOIN messages m ON m.id = t.message_id
JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
"""
GONE = f"""
SELECT value FROM json_each(?1) WHERE value NOT IN (SELECT guid FROM memories WHERE deleted_at IS NULL)
AND value NOT IN (SELECT guid FROM facts WHERE guid IN (SELECT value FROM json_each(?1)) AND {KNOWN})
AND value NOT IN (SELECT id FROM messages WHERE deleted_at IS NULL)
"""  # noqa: S608 - names are ours


class _Row(BaseModel):
    """A turn as it lies in its row."""

    model_config = ConfigDict(extra="forbid")

    said: str
    """Digest of the message's words: when it is edited, it brings up something else."""
    memory: TurnMemory


@dataclass(frozen=True)
class Traces:
    """All that one turn leaves behind besides what was said: of half of it, a memory would be told twice or never."""

    persona_id: str
    session: UUID
    message: UUID
    """The user's, at which all of it came to mind."""
    memory: TurnMemory
    moment: datetime
    line: Message | None = None
    """Hidden, and to stand right above the message."""
    changed: Sequence[MemoryUnit] = ()
    gone: Sequence[UUID] = ()
    """Memories for the trash."""
    anew: Sequence[UUID] = ()
    """Memories and sessions that were brought up."""
    states: Mapping[str, object] = field(default_factory=dict)
    """Of the session, by key; None takes a key away."""
    app_state: Mapping[tuple[str, str], object] = field(default_factory=dict)
    """The same of the app state, by scope and key."""


class TurnMemories:
    """Gone when the message is purged. One that an older or newer version wrote differently counts as none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, message_id: UUID) -> TurnMemory | None:
        """None where nothing is known, or where the message has been edited since."""

        def work(connection: sqlite3.Connection) -> TurnMemory | None:
            row = connection.execute("SELECT value FROM turn_memories WHERE message_id = ?", (str(message_id),)).fetchone()
            said = _said(connection, message_id)
            known = _understood(row[0]) if row and said else None
            return known.memory if known and known.said == said else None

        return await self._database.run(work)

    async def is_reworded(self, message_id: UUID) -> bool:
        """Did the message once bring up something, and was it edited since?"""

        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT value FROM turn_memories WHERE message_id = ?", (str(message_id),)).fetchone()
            said, known = _said(connection, message_id), _understood(row[0]) if row else None
            return said is not None and known is not None and known.said != said

        return await self._database.run(work)

    async def counts(self, message_ids: Sequence[UUID]) -> dict[UUID, int]:
        """How many memories each of these messages brought up, where there are any; forgotten ones do not count.

        Neither does the note of the time, which belongs to the conversation itself.
        """
        wanted = json.dumps([str(message_id) for message_id in message_ids])

        def work(connection: sqlite3.Connection) -> dict[UUID, int]:
            found: dict[UUID, int] = {}
            for message_id, session_id, content, value in connection.execute(OF_MESSAGES, (wanted,)).fetchall():
                kept = _understood(value)
                if kept is not None and kept.said == _digest(content):
                    recalled = [one for one in kept.memory.recalled if str(one.memory) != session_id]
                    told = [str(one.memory) for one in recalled if not (one.world or one.way in LOGGED)]
                    found[UUID(message_id)] = len(recalled) - len(_gone(connection, told))
            return {message_id: count for message_id, count in found.items() if count}

        return await self._database.run(work)

    async def forgotten(self, guids: Sequence[UUID]) -> set[UUID]:
        """Those of these sessions, memories, facts and messages that were forgotten since: in the trash, or gone for good."""
        wanted = [str(guid) for guid in guids]
        return {UUID(guid) for guid in await self._database.run(lambda connection: _gone(connection, wanted))}

    async def save_turn(self, message_id: UUID, memory: TurnMemory) -> None:
        """Raises StorageError if the message is gone."""
        await self._database.run(lambda connection: _put(connection, message_id, memory))

    async def leave(self, traces: Traces) -> Message | None:
        """Keep all of it or, whatever happens meanwhile, nothing; returns the hidden line as it stands now.

        Raises StorageError if the message is gone.
        """

        def work(connection: sqlite3.Connection) -> Message | None:
            below, line = str(traces.message), traces.line
            stored = messages.insert_above(connection, below, line) if line is not None else None
            _put(connection, traces.message, traces.memory)
            memories.save_in_transaction(connection, traces.persona_id, traces.changed)
            memories.delete(connection, traces.gone)
            memories.touch(connection, traces.anew, traces.moment)
            for key, value in traces.states.items():
                key_value.set_in_transaction(connection, traces.session, key, value)
            for (scope, key), value in traces.app_state.items():
                key_value.keep_for_app(connection, scope, key, value)
            return stored

        return await self._database.run(work)


def _put(connection: sqlite3.Connection, message_id: UUID, memory: TurnMemory) -> None:
    said = _said(connection, message_id)
    if said is None:
        raise StorageError("This message is no longer there.", "It may be in the trash.")
    row = (str(message_id), storable(_Row(said=said, memory=memory).model_dump_json()))
    connection.execute("INSERT OR REPLACE INTO turn_memories (message_id, value) VALUES (?, ?)", row)


def _understood(value: str) -> _Row | None:
    try:
        return _Row.model_validate_json(value)
    except ValidationError:
        return None


def _said(connection: sqlite3.Connection, message_id: UUID) -> str | None:
    """A digest of the words on display; None where the message is gone."""
    row = connection.execute(SAID, (str(message_id),)).fetchone()
    return _digest(row[0]) if row else None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _gone(connection: sqlite3.Connection, guids: Sequence[str]) -> set[str]:
    """Those that are neither a memory, a known fact nor a message any more."""
    return {guid for (guid,) in connection.execute(GONE, (json.dumps(guids),))} if guids else set()
