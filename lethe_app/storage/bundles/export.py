"""Export of all database records of a persona; what is in the trash is left out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from uuid import UUID

from pydantic import ValidationError

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
from lethe_app.domain.chat import Message
from lethe_app.domain.facts import ExtractedFact
from lethe_app.errors import RecordMissing
from lethe_app.storage.chats import messages, session_events
from lethe_app.storage.chats.session_merge import NOTES, WORLDS
from lethe_app.storage.chats.sessions import load_session
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory.facts import FACTS, IS_KNOWN
from lethe_app.storage.memory.memories import MEMORIES, OF_PERSONA
from lethe_app.storage.row_mapping import RecordTable, parse_record, unreadable_error

ORIGINAL = "original"
"""Key of the session state: what the import kept of the chat's header."""
PARTS = RecordTable("session_parts", BundledPart, "session_id, part")
NOT_DELETED = "persona_id = ? AND deleted_at IS NULL"
SESSIONS = (
    "SELECT guid FROM sessions JOIN memories m USING (guid)"
    " WHERE m.persona_id = ? AND m.deleted_at IS NULL AND NOT is_incognito"
)
MESSAGES = f"SELECT id FROM messages WHERE deleted_at IS NULL AND session_id IN ({SESSIONS})"
COUNTS = {
    "memories": f"SELECT count(*) FROM memories WHERE category <> 'chat_session' AND {NOT_DELETED}",
    "facts": f"SELECT count(*) FROM facts WHERE persona_id = ? AND {IS_KNOWN}",
    "conversations": f"SELECT count(*) FROM ({SESSIONS})",
    "messages": f"SELECT count(*) FROM ({MESSAGES})",
}
"""Queries that count the records, by kind."""
MESSAGE_CHARACTERS = f"SELECT coalesce(sum(length), 0) FROM alternatives WHERE message_id IN ({MESSAGES})"
ORIGINALS = "SELECT message_id, value FROM message_originals WHERE message_id IN (SELECT id FROM messages WHERE session_id = ?)"
STATE = "SELECT key, value FROM session_state WHERE session_id = ? AND key IN (?, ?, ?)"
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
        memories = MEMORIES.load(connection, f"{OF_PERSONA} AND deleted_at IS NULL ORDER BY rowid", (persona_id,))
        facts = FACTS.load(connection, f"WHERE persona_id = ? AND {IS_KNOWN} ORDER BY rowid", (persona_id,))
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
        try:
            session = load_session(connection, str(guid))
        except RecordMissing:
            return None
        of_session, by_arrival = (str(guid),), "WHERE session_id = ? AND deleted_at IS NULL ORDER BY seq"
        ids = [id_ for (id_,) in connection.execute(f"SELECT id FROM messages {by_arrival}", of_session)]
        turns = dict(connection.execute(TURNS, of_session).fetchall())
        originals = dict(connection.execute(ORIGINALS, of_session).fetchall())
        bundled = {
            id_: _bundle_message(message, turns.get(id_), originals.get(id_))
            for id_, message in zip(ids, messages.load(connection, ids), strict=True)
        }
        for event in session_events.load_events(connection, str(guid)):
            bundled[str(event.message_id)].switches.append(event)
        parts = PARTS.load(connection, "WHERE session_id = ?", of_session)
        record = parse_record(BundledSession, {**_load_state(connection, str(guid)), "session": session, "parts": parts})
        return BundledConversation(record, list(bundled.values()))


def _load_state(connection: sqlite3.Connection, guid: str) -> dict[str, object]:
    """Return the exported state of a session by key, without values of another type. Raise DatabaseDamaged."""
    try:
        state = {key: json.loads(text) for key, text in connection.execute(STATE, (guid, WORLDS, NOTES, ORIGINAL))}
    except ValueError as error:
        raise unreadable_error("state of a conversation", error) from error
    worlds, notes, original = (state.get(key) for key in (WORLDS, NOTES, ORIGINAL))
    return {
        WORLDS: [name for name in worlds if isinstance(name, str)] if isinstance(worlds, list) else [],
        NOTES: {key: text for key, text in notes.items() if isinstance(text, str)} if isinstance(notes, dict) else {},
        ORIGINAL: original if isinstance(original, dict) else {},
    }


def _bundle_message(message: Message, turn: str | None, original: str | None) -> BundledMessage:
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
