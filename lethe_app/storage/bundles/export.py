"""Export of all database records of a persona; what is in the trash is left out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from uuid import UUID

from pydantic import JsonValue, ValidationError

from lethe_app.domain.bundle import (
    BundleCounts,
    BundledConversation,
    BundledMessage,
    BundledPart,
    BundledSession,
    BundledTurn,
    ForgottenFact,
    PersonaHistory,
)
from lethe_app.domain.chat import ChatSession, Message, SessionEvent
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import DatabaseDamaged
from lethe_app.storage.chats import messages, session_events
from lethe_app.storage.chats.branches import nearest_undeleted
from lethe_app.storage.chats.sessions import SELECT_SESSION
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory.facts import FACT_COLUMNS, SELECT_FACT
from lethe_app.storage.memory.memories import SELECT_MEMORY
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, SESSION_COLUMNS, parse_record, parse_row

WORLDS, SESSION_NOTES, ORIGINAL = "worlds", "session_notes", "original"
"""Keys of the session state that are valid in another home."""
NOT_DELETED = "persona_id = ? AND deleted_at IS NULL"
SESSIONS = (
    "SELECT guid FROM sessions JOIN memories m USING (guid)"
    " WHERE m.persona_id = ? AND m.deleted_at IS NULL AND NOT is_incognito"
)
MESSAGES = f"SELECT id FROM messages WHERE deleted_at IS NULL AND session_id IN ({SESSIONS})"  # noqa: S608 - names are ours
COUNTS = {
    "memories": f"SELECT count(*) FROM memories WHERE category <> 'chat_session' AND {NOT_DELETED}",  # noqa: S608 - names are ours
    "facts": f"SELECT count(*) FROM facts WHERE {NOT_DELETED}",  # noqa: S608 - names are ours
    "conversations": f"SELECT count(*) FROM ({SESSIONS})",  # noqa: S608 - names are ours
    "messages": f"SELECT count(*) FROM ({MESSAGES})",  # noqa: S608 - names are ours
}
"""Queries that count the records, by kind."""
MESSAGE_CHARACTERS = f"SELECT coalesce(sum(length), 0) FROM alternatives WHERE message_id IN ({MESSAGES})"  # noqa: S608 - names are ours
PARTS = "SELECT part, state, made_by, maker, tries, trouble FROM session_parts WHERE session_id = ?"
ORIGINALS = "SELECT message_id, value FROM message_originals WHERE message_id IN (SELECT id FROM messages WHERE session_id = ?)"
TURNS = "SELECT message_id, value FROM turn_memories WHERE message_id IN (SELECT id FROM messages WHERE session_id = ?)"


class PersonaExport(Store):
    """Reader of a persona's records. Every method is one transaction."""

    @in_transaction
    def count_records(self, connection: sqlite3.Connection, persona_id: str) -> tuple[BundleCounts, int]:
        """Return the number of records by kind, and the number of characters in all messages."""
        counts = {name: connection.execute(query, (persona_id,)).fetchone()[0] for name, query in COUNTS.items()}
        (characters,) = connection.execute(MESSAGE_CHARACTERS, (persona_id,)).fetchone()
        return BundleCounts(**counts), characters

    @in_transaction
    def history_of(self, connection: sqlite3.Connection, persona_id: str, sources: Collection[UUID] | None) -> PersonaHistory:
        """Return memories, facts and tombstones of forgotten facts, without sessions.

        `sources` are the sessions to be exported: facts name only those and memories as their sources, and tombstones are
        left out. None stands for all sessions.
        """
        memories = [
            parse_row(MemoryUnit, MEMORY_COLUMNS, row)
            for row in connection.execute(f"{SELECT_MEMORY} AND {NOT_DELETED} ORDER BY rowid", (persona_id,))
        ]
        facts = [
            parse_row(ExtractedFact, FACT_COLUMNS, row)
            for row in connection.execute(f"{SELECT_FACT} WHERE {NOT_DELETED} ORDER BY rowid", (persona_id,))
        ]
        tombstones = connection.execute("SELECT digest, messages FROM forgotten_facts WHERE persona_id = ?", (persona_id,))
        forgotten = [ForgottenFact(digest=digest, messages=json.loads(message_ids)) for digest, message_ids in tombstones]
        if sources is None:
            return PersonaHistory(memories, facts, forgotten)
        exported_ids = {memory.guid for memory in memories} | set(sources)
        return PersonaHistory(memories, [_with_sources(fact, exported_ids) for fact in facts], [])

    @in_transaction
    def session_ids_of(self, connection: sqlite3.Connection, persona_id: str) -> list[UUID]:
        """Return the ids of the persona's sessions, by last activity, oldest first."""
        query = f"{SESSIONS} ORDER BY last_activity"
        return [UUID(guid) for (guid,) in connection.execute(query, (persona_id,))]

    @in_transaction
    def conversation(self, connection: sqlite3.Connection, guid: UUID) -> BundledConversation | None:
        """Return a complete session with its messages in order of arrival, or None if it is in the trash."""
        return _conversation(connection, str(guid))


def _conversation(connection: sqlite3.Connection, guid: str) -> BundledConversation | None:
    row = connection.execute(SELECT_SESSION, (guid,)).fetchone()
    if row is None:
        return None
    *fields, tip_id = row
    tip = nearest_undeleted(connection, tip_id)
    session = parse_record(ChatSession, {**dict(zip((*MEMORY_COLUMNS, *SESSION_COLUMNS), fields, strict=True)), "leaf_id": tip})
    ids = connection.execute("SELECT id FROM messages WHERE session_id = ? AND deleted_at IS NULL ORDER BY seq", (guid,))
    stored_messages = messages.load(connection, [id_ for (id_,) in ids])
    switches: dict[str, list[SessionEvent]] = {}
    for event in session_events.load_events(connection, guid):
        switches.setdefault(str(event.message_id), []).append(event)
    turns = dict(connection.execute(TURNS, (guid,)).fetchall())
    originals = dict(connection.execute(ORIGINALS, (guid,)).fetchall())
    parts = connection.execute(PARTS, (guid,))
    record = BundledSession(
        session=session,
        worlds=_as_strings(_state(connection, guid, WORLDS)),
        session_notes=_as_string_dict(_state(connection, guid, SESSION_NOTES)),
        original=_as_object(_state(connection, guid, ORIGINAL)),
        parts=[parse_row(BundledPart, BundledPart.model_fields, row) for row in parts],
    )
    bundled = [_with_turn(message, turns.get(str(message.id)), originals.get(str(message.id))) for message in stored_messages]
    return BundledConversation(
        record, [message.model_copy(update={"switches": switches.get(str(message.id), [])}) for message in bundled]
    )


def _with_turn(message: Message, turn: str | None, original: str | None) -> BundledMessage:
    """Attach the recalled memories and the imported fields to a message; memories in the format of another version are left
    out.
    """
    try:
        record = BundledTurn.model_validate_json(turn) if turn is not None else None
    except ValidationError:
        record = None
    return BundledMessage(
        **{name: getattr(message, name) for name in Message.model_fields},
        turn=record,
        original=json.loads(original) if original is not None else {},
    )


def _with_sources(fact: ExtractedFact, exported_ids: Collection[UUID]) -> ExtractedFact:
    sources = [source for source in fact.source_memories if source in exported_ids]
    return fact.model_copy(update={"source_memories": sources, "source_messages": []})


def _state(connection: sqlite3.Connection, guid: str, key: str) -> object:
    row = connection.execute("SELECT value FROM session_state WHERE session_id = ? AND key = ?", (guid, key)).fetchone()
    try:
        return json.loads(row[0]) if row else None
    except ValueError as error:
        raise DatabaseDamaged("The database contains an unreadable state of a conversation.") from error


def _as_strings(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _as_object(value: object) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _as_string_dict(value: object) -> dict[str, str]:
    return {key: text for key, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}
