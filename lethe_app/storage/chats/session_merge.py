"""Merging of sessions: concatenates the messages and combines titles, summaries and settings."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.errors import StorageError
from lethe_app.storage.chats import branches
from lethe_app.storage.chats.session_row import queue_for_indexing, update_session_row
from lethe_app.storage.key_value import session_values, set_session_value
from lethe_app.storage.memory import derived_memories
from lethe_app.storage.row_mapping import ColumnValue, json_text, update

MERGED_FIELDS = """
SELECT m.name, m.content, m.keywords_main, m.sticky, m.protected, m.enabled, s.future_goals, s.relevance, s.is_roleplay,
    s.archived FROM memories m JOIN sessions s USING (guid) WHERE m.guid = ?
"""
NOTES, WORLDS = "session_notes", "worlds"
"""Keys of the session state that are merged."""
PARTS = ("title", "summary", "keywords", "goals", "relevance", "roleplay")
"""Parts of a session that the user may have written."""
COPY_USER_MARKS = """
INSERT INTO session_parts (session_id, part, state, made_by, maker, tries, trouble)
SELECT ?, part, 'done', 'user', '', 0, '' FROM session_parts WHERE session_id = ? AND made_by = 'user'
ON CONFLICT (session_id, part) DO UPDATE SET state = 'done', made_by = 'user', maker = '', tries = 0, trouble = ''
"""
"""Statement that copies the marks of parts written by the user to the merged session."""
SELECT_FACT_SOURCES = """
SELECT guid, source_memories, source_messages FROM facts
WHERE EXISTS (SELECT 1 FROM json_each(source_memories) WHERE value = ?)
"""
"""Query: facts extracted from a session, with their sources."""


def sort_by_start(connection: sqlite3.Connection, guids: Sequence[str]) -> list[str]:
    """Return the sessions in the order in which they began. Raise StorageError if they cannot be merged."""
    if len(guids) < 2:
        raise StorageError("At least two conversations are needed to merge them.")
    began, personas = {}, set()
    for guid in guids:
        branches.branch_state(connection, guid)
        added, persona = connection.execute(
            "SELECT m.added, s.persona_id FROM memories m JOIN sessions s USING (guid) WHERE m.guid = ?", (guid,)
        ).fetchone()
        began[guid] = datetime.fromisoformat(added)
        personas.add(persona)
    if len(personas) > 1:
        raise StorageError("Only conversations of the same persona can be merged.")
    return sorted(guids, key=lambda guid: began[guid])


def merge_into_first(connection: sqlite3.Connection, guids: Sequence[str]) -> None:
    """Merge all sessions into the first; the others are deleted."""
    target, *sources = guids
    fields = _merged_fields(connection, guids)
    _merge_state(connection, guids)
    for source in sources:
        _append_messages(connection, target, source)
        connection.execute(COPY_USER_MARKS, (target, source))
        replace_fact_source(connection, source, None, target)
        derived_memories.add_session(connection, source, target)
        connection.execute("DELETE FROM memories WHERE guid = ?", (source,))
    for table, row in fields.items():
        update(connection, table, "guid", {**row, "guid": target})
    update_session_row(connection, target)
    queue_for_indexing(connection, target)


def _append_messages(connection: sqlite3.Connection, target: str, source: str) -> None:
    """Append the messages of one session: its first messages become children of the tip of the other."""
    tip, source_tip = branches.branch_state(connection, target).tip, branches.branch_state(connection, source).tip
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM messages WHERE session_id = ?", (target,)).fetchone()
    (first,) = connection.execute("SELECT coalesce(min(seq), 1) FROM messages WHERE session_id = ?", (source,)).fetchone()
    connection.execute("UPDATE messages SET parent_id = ? WHERE session_id = ? AND parent_id IS NULL", (tip, source))
    connection.execute(
        "UPDATE messages SET session_id = ?, seq = seq + ? WHERE session_id = ?", (target, max(0, last + 1 - first), source)
    )
    connection.execute("UPDATE sessions SET tip_id = ? WHERE guid = ?", (source_tip or tip, target))


def _merged_fields(connection: sqlite3.Connection, guids: Sequence[str]) -> dict[str, dict[str, ColumnValue]]:
    """Return the combined fields of all sessions by table; values written by the user take precedence."""
    rows = [connection.execute(MERGED_FIELDS, (guid,)).fetchone() for guid in guids]
    names, texts, keywords, sticky, protected, enabled, goals, relevance, roleplay, archived = zip(*rows, strict=True)
    user_written = {part: _sessions_written_by_user(connection, guids, part) for part in PARTS}

    def prefer_user_values(part: str, values: Sequence[ColumnValue]) -> list[ColumnValue]:
        return [value for value, guid in zip(values, guids, strict=True) if guid in user_written[part]] or list(values)

    titles = [name for name in dict.fromkeys(prefer_user_values("title", names)) if name]
    summaries = [text for text in texts if str(text).strip()]
    return {
        "memories": {
            "name": " · ".join(map(str, titles)) if user_written["title"] else str(titles[0]) if titles else "",
            "content": "\n\n".join(summaries),
            "keywords_main": _merge_lists(keywords),
            "sticky": max(sticky),
            "protected": max(protected),
            "enabled": max(enabled),
        },
        "sessions": {
            "future_goals": _merge_lists(goals),
            "relevance": max(int(str(value)) for value in prefer_user_values("relevance", relevance)),
            "is_roleplay": max(int(str(value)) for value in prefer_user_values("roleplay", roleplay)),
            "archived": min(archived),
        },
    }


def _merge_state(connection: sqlite3.Connection, guids: Sequence[str]) -> None:
    """Store the notes and the worlds of all sessions with the first; of notes with the same key the newest is kept."""
    states = [session_values(connection, UUID(guid)) for guid in guids]
    notes: dict[str, object] = {}
    worlds: dict[str, None] = {}
    for state in states:
        stored_notes, stored_worlds = state.get(NOTES), state.get(WORLDS)
        notes |= stored_notes if isinstance(stored_notes, dict) else {}
        worlds |= dict.fromkeys(map(str, stored_worlds)) if isinstance(stored_worlds, list) else {}
    set_session_value(connection, UUID(guids[0]), NOTES, notes or None)
    set_session_value(connection, UUID(guids[0]), WORLDS, list(worlds) or None)


def _sessions_written_by_user(connection: sqlite3.Connection, guids: Sequence[str], part: str) -> set[str]:
    rows = connection.execute("SELECT session_id FROM session_parts WHERE part = ? AND made_by = 'user'", (part,))
    return {guid for (guid,) in rows}.intersection(guids)


def _merge_lists(lists: Sequence[str]) -> str:
    return json_text(list(dict.fromkeys(word for values in lists for word in json.loads(values))))


def replace_fact_source(connection: sqlite3.Connection, old: str, moved_messages: Collection[str] | None, new: str) -> None:
    """Replace the source session `old` by `new` in the facts extracted from `moved_messages`; None means all its messages."""
    moved_ids = set(moved_messages) if moved_messages is not None else None
    for guid, source_memories, source_messages in connection.execute(SELECT_FACT_SOURCES, (old,)).fetchall():
        fact_messages = set(json.loads(source_messages))
        if moved_ids is None:
            replacement = [new]
        elif fact_messages & moved_ids:
            replacement = [old, new] if fact_messages - moved_ids else [new]
        else:
            continue
        sources = [id_ for source in json.loads(source_memories) for id_ in (replacement if source == old else [source])]
        connection.execute(
            "UPDATE facts SET source_memories = ? WHERE guid = ?", (json.dumps(list(dict.fromkeys(sources))), guid)
        )
