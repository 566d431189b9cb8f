"""Import of a persona's records from a bundle, in one transaction.

All records get new ids, the same wherever an id is referenced, so that they never collide with existing ones.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

from lethe_app.domain.bundle import BundledConversation, BundledMessage, PersonaHistory
from lethe_app.storage.bundles.export import ORIGINAL, PARTS
from lethe_app.storage.chats.messages import insert_message
from lethe_app.storage.chats.session_events import EVENTS
from lethe_app.storage.chats.session_merge import NOTES, WORLDS
from lethe_app.storage.chats.session_row import insert_session, queue_for_indexing, update_session_row
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.key_value import set_app_value, set_session_value
from lethe_app.storage.memory.facts import FACTS
from lethe_app.storage.row_mapping import (
    MEMORY_COLUMNS,
    ColumnValue,
    column_values,
    insert,
    json_list,
    json_text,
    storable_text,
)

UUIDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class IdMapping:
    """Mapping from the ids in the bundle to new ones; other ids remain."""

    def __init__(self, history: PersonaHistory, assigned: Mapping[UUID, UUID]) -> None:
        """Assign new ids to all records of the bundle; `assigned` were assigned before, such as those of World Info entries."""
        conversations = history.conversations
        old_ids = [
            *(memory.guid for memory in history.memories),
            *(fact.guid for fact in history.facts),
            *(conversation.record.session.guid for conversation in conversations),
            *(message.id for conversation in conversations for message in conversation.messages),
        ]
        self._new = {str(old): str(new) for old, new in assigned.items()} | {str(old): str(uuid4()) for old in old_ids}

    def new_id(self, old: UUID | str | None) -> str | None:
        """Return the new id of a record, or `old` if it is not in the bundle; None for None."""
        return self._new.get(str(old), str(old)) if old is not None else None

    def new_ids_json(self, old: Iterable[UUID]) -> str:
        """Return the new ids as a JSON list."""
        return json_list(map(self.new_id, old))

    def replace_ids(self, text: str) -> str:
        """Replace every known id inside a JSON text."""
        return UUIDS.sub(lambda found: self._new.get(found[0], found[0]), text)


@dataclass(frozen=True)
class PersonaImport:
    """Records to import for a persona whose files are written."""

    persona_id: str
    history: PersonaHistory
    entries: Mapping[UUID, UUID]
    """New ids of World Info entries by those in the bundle; `worlds` is the same for their names."""
    worlds: Mapping[str, str]
    map_speaker: Callable[[str], str]
    """Function from a speaker's name in the bundle to the name in this home."""
    app_state: Mapping[tuple[str, str], object]
    """Values for the app state by scope and key."""
    keeps_guests: bool = False
    """True if the guests of the sessions are personas of this home; those of a bundle are not, whatever their names."""


class BundleImport(Store):
    """Import of bundles."""

    @in_transaction
    def import_persona(
        self, connection: sqlite3.Connection, write_files: Callable[[], PersonaImport], report_progress: Callable[[float], None]
    ) -> IdMapping:
        """Import a bundle and return the mapping from its ids to those of the stored records.

        `write_files` is called inside the transaction; `report_progress` receives a fraction from 0 to 1 and may raise, which
        rolls the import back.
        """
        persona = write_files()
        ids = IdMapping(persona.history, persona.entries)
        _store(connection, persona, ids, report_progress)
        for (scope, key), values in persona.app_state.items():
            if values:
                set_app_value(connection, scope, key, json.loads(ids.replace_ids(json_text(values))))
        report_progress(1.0)
        return ids


def _store(
    connection: sqlite3.Connection, persona: PersonaImport, ids: IdMapping, report_progress: Callable[[float], None]
) -> None:
    persona_id, history = persona.persona_id, persona.history
    for memory in history.memories:
        # A path in a bundle belongs to another computer, or was chosen by a stranger.
        sources = ids.replace_ids(json_text(memory.sources))
        overrides: dict[str, ColumnValue] = {"guid": ids.new_id(memory.guid), "path": "", "sources": sources}
        insert(connection, "memories", {**column_values(memory, MEMORY_COLUMNS), **overrides, "persona_id": persona_id})
    for fact in history.facts:
        FACTS.save(
            connection,
            fact,
            persona_id=persona_id,
            guid=ids.new_id(fact.guid),
            superseded_by=ids.new_id(fact.superseded_by),
            source_memories=ids.new_ids_json(fact.source_memories),
            source_messages=ids.new_ids_json(fact.source_messages),
        )
    for tombstone in history.forgotten:
        connection.execute(
            "INSERT OR REPLACE INTO forgotten_facts (persona_id, digest, messages) VALUES (?, ?, ?)",
            (persona_id, storable_text(tombstone.digest), ids.new_ids_json(tombstone.messages)),
        )
    for number, conversation in enumerate(history.conversations):
        report_progress(number / len(history.conversations))
        _store_conversation(connection, persona, conversation, ids)


def _store_conversation(
    connection: sqlite3.Connection, persona: PersonaImport, conversation: BundledConversation, ids: IdMapping
) -> None:
    session, map_speaker = conversation.record.session, persona.map_speaker
    guid = str(ids.new_id(session.guid))
    # A path in a bundle belongs to another computer, and guests that are no personas here have no card.
    own = session.model_copy(update={"path": "", "guests": session.guests if persona.keeps_guests else []})
    insert_session(connection, own, guid=guid, persona_id=persona.persona_id, user_id=map_speaker(session.user_id))
    for seq, message in enumerate(conversation.messages, start=1):
        _store_message(connection, guid, seq, message, ids, map_speaker)
    last = conversation.messages[-1].id if conversation.messages else None
    connection.execute("UPDATE sessions SET tip_id = ? WHERE guid = ?", (ids.new_id(session.leaf_id or last), guid))
    for part in conversation.record.parts:
        PARTS.save(connection, part, session_id=guid)
    worlds = [persona.worlds[name] for name in conversation.record.worlds if name in persona.worlds]
    state = {WORLDS: worlds, NOTES: conversation.record.session_notes, ORIGINAL: conversation.record.original}
    for key, value in state.items():
        if value:
            set_session_value(connection, UUID(guid), key, value)
    update_session_row(connection, guid)
    queue_for_indexing(connection, guid)


def _store_message(
    connection: sqlite3.Connection,
    session: str,
    seq: int,
    message: BundledMessage,
    ids: IdMapping,
    map_speaker: Callable[[str], str],
) -> None:
    id_ = str(ids.new_id(message.id))
    columns = {"id": id_, "session_id": session, "parent_id": ids.new_id(message.parent_id), "seq": seq}
    insert_message(connection, message, **columns, speaker=map_speaker(message.speaker))
    for event in message.switches:
        EVENTS.save(connection, event, message_id=id_)
    if message.turn is not None:
        text = ids.replace_ids(json_text(message.turn))
        insert(connection, "turn_memories", {"message_id": id_, "value": text})
    if message.original:
        insert(connection, "message_originals", {"message_id": id_, "value": json_text(message.original)})
