"""Merging of sessions: concatenates the messages and combines titles, summaries and settings."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime

from lethe_app.errors import StorageError
from lethe_app.storage.chats import branches
from lethe_app.storage.chats.session_row import queue_for_indexing, update_session_row
from lethe_app.storage.row_mapping import Cell, storable, update

MERGED_FIELDS = """
SELECT m.name, m.content, m.keywords_main, m.sticky, m.protected, m.enabled, s.future_goals, s.relevance, s.is_roleplay,
    s.archived FROM memories m JOIN sessions s USING (guid) WHERE m.guid = ?
"""
PARTS = ("title", "summary", "keywords", "goals", "relevance", "roleplay")
"""Parts of a session that the user may have written."""
COPY_USER_MARKS = """
INSERT INTO session_parts (session_id, part, state, made_by, maker, tries, trouble)
SELECT ?, part, 'done', 'user', '', 0, '' FROM session_parts WHERE session_id = ? AND made_by = 'user'
ON CONFLICT (session_id, part) DO UPDATE SET state = 'done', made_by = 'user', maker = '', tries = 0, trouble = ''
"""
"""Statement that copies the marks of parts written by the user to the merged session."""
SOURCES = """
SELECT guid, source_memories, source_messages FROM facts
WHERE EXISTS (SELECT 1 FROM json_each(source_memories) WHERE value = ?)
"""
"""Query: facts extracted from a session, with their sources."""


def sorted_by_start(connection: sqlite3.Connection, guids: Sequence[str]) -> list[str]:
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
    kept, *others = guids
    fields = _merged_fields(connection, guids)
    for other in others:
        _append(connection, kept, other)
        connection.execute(COPY_USER_MARKS, (kept, other))
        rename_sources(connection, other, None, kept)
        connection.execute("DELETE FROM memories WHERE guid = ?", (other,))
    for table, row in fields.items():
        update(connection, table, "guid", {**row, "guid": kept})
    update_session_row(connection, kept)
    queue_for_indexing(connection, kept)


def _append(connection: sqlite3.Connection, kept: str, other: str) -> None:
    """Append the messages of one session: its first messages become children of the tip of the other."""
    tip, next_tip = branches.branch_state(connection, kept).tip, branches.branch_state(connection, other).tip
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM messages WHERE session_id = ?", (kept,)).fetchone()
    (first,) = connection.execute("SELECT coalesce(min(seq), 1) FROM messages WHERE session_id = ?", (other,)).fetchone()
    connection.execute("UPDATE messages SET parent_id = ? WHERE session_id = ? AND parent_id IS NULL", (tip, other))
    connection.execute(
        "UPDATE messages SET session_id = ?, seq = seq + ? WHERE session_id = ?", (kept, max(0, last + 1 - first), other)
    )
    connection.execute("UPDATE sessions SET tip_id = ? WHERE guid = ?", (next_tip or tip, kept))


def _merged_fields(connection: sqlite3.Connection, guids: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Return the combined fields of all sessions by table; values written by the user take precedence."""
    rows = [connection.execute(MERGED_FIELDS, (guid,)).fetchone() for guid in guids]
    names, texts, words, sticky, protected, enabled, goals, relevance, roleplay, archived = zip(*rows, strict=True)
    own = {part: _by_user(connection, guids, part) for part in PARTS}

    def chosen(part: str, values: Sequence[Cell]) -> list[Cell]:
        return [value for value, guid in zip(values, guids, strict=True) if guid in own[part]] or list(values)

    titles = [name for name in dict.fromkeys(chosen("title", names)) if name]
    summaries = [text for text in texts if str(text).strip()]
    return {
        "memories": {
            "name": " · ".join(map(str, titles)) if own["title"] else str(titles[0]) if titles else "",
            "content": "\n\n".join(summaries),
            "keywords_main": _merged_list(words),
            "sticky": max(sticky),
            "protected": max(protected),
            "enabled": max(enabled),
        },
        "sessions": {
            "future_goals": _merged_list(goals),
            "relevance": max(int(str(value)) for value in chosen("relevance", relevance)),
            "is_roleplay": max(int(str(value)) for value in chosen("roleplay", roleplay)),
            "archived": min(archived),
        },
    }


def _by_user(connection: sqlite3.Connection, guids: Sequence[str], part: str) -> set[str]:
    rows = connection.execute("SELECT session_id FROM session_parts WHERE part = ? AND made_by = 'user'", (part,))
    return {guid for (guid,) in rows}.intersection(guids)


def _merged_list(lists: Sequence[str]) -> str:
    return storable(
        json.dumps(list(dict.fromkeys(word for values in lists for word in json.loads(values))), ensure_ascii=False)
    )


def rename_sources(connection: sqlite3.Connection, old: str, moved: Collection[str] | None, new: str) -> None:
    """Replace the source of facts extracted from `moved` messages of the session `old`, or from any of it, by the session
    `new`.
    """
    moved_ids = set(moved) if moved is not None else None
    for guid, source_memories, source_messages in connection.execute(SOURCES, (old,)).fetchall():
        fact_messages = set(json.loads(source_messages))
        if moved_ids is None:
            replacement = [new]
        elif fact_messages & moved_ids:
            replacement = [old, new] if fact_messages - moved_ids else [new]
        else:
            continue
        sources = [one for source in json.loads(source_memories) for one in (replacement if source == old else [source])]
        connection.execute(
            "UPDATE facts SET source_memories = ? WHERE guid = ?", (json.dumps(list(dict.fromkeys(sources))), guid)
        )
