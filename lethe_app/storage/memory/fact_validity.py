"""Decide which facts are known and which are superseded, from what is left of the messages they were taken from.

A fact states words of certain messages. It is dormant while none of them is left, because they were deleted or say something
else now; a fact merged from several is dormant while one of their messages is missing. A fact that a dormant one superseded is
valid again until that one returns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from uuid import UUID

from lethe_app.storage.row_mapping import json_list

_MESSAGE = """
EXISTS (SELECT 1 FROM json_each(facts.source_messages) s
    JOIN messages m ON m.id = s.value JOIN memories c ON c.guid = m.session_id
    WHERE {} (m.deleted_at IS NULL AND c.deleted_at IS NULL))
"""
_MEMORY = """
EXISTS (SELECT 1 FROM json_each(facts.source_memories) s JOIN memories c ON c.guid = s.value WHERE c.deleted_at IS {} NULL)
"""
_IS_LEFT, _IS_GONE = _MESSAGE.format(""), f"(lapsed_sources <> '[]' OR {_MESSAGE.format('NOT')})"
_IS_MERGED = "EXISTS (SELECT 1 FROM facts part WHERE part.superseded_by = facts.guid AND part.superseded_because = 'merged')"
_IS_DORMANT = f"""
(pinned = 0 AND (
    ({_IS_GONE} AND {_IS_MERGED})
    OR (made_by <> 'user' AND NOT {_IS_LEFT}
        AND ({_IS_GONE} OR ({_MEMORY.format("NOT")} AND NOT {_MEMORY.format("")})))))
"""
"""Condition: sources of the fact are missing, and none that is left states it. Without messages its sessions decide."""
_UPDATE_DORMANT = f"UPDATE facts SET dormant = 1 - dormant WHERE {{}} AND dormant <> {_IS_DORMANT}"
_UPDATE_SUPERSEDED = """
UPDATE facts SET superseded = 1 - superseded WHERE {} AND superseded_by IS NOT NULL AND superseded = EXISTS (
    WITH RECURSIVE successors (guid) AS (
        SELECT facts.superseded_by
        UNION SELECT f.superseded_by FROM successors JOIN facts f USING (guid)
        WHERE f.dormant = 1 AND f.superseded_by IS NOT NULL)
    SELECT 1 FROM successors JOIN facts f USING (guid) WHERE f.dormant = 1 AND f.superseded_by IS NULL)
"""
"""Statement: a fact is valid again if all of its successors in turn are dormant."""
REPLACE_SUCCESSOR = """
UPDATE facts SET (superseded, superseded_by, superseded_because) =
    (SELECT superseded, superseded_by, superseded_because FROM facts WHERE guid = :guid)
WHERE superseded_by = :guid
"""
"""Statement before a fact is erased: facts it superseded become valid again, or superseded by its own successor."""


def update_validity(connection: sqlite3.Connection, persona_id: str) -> None:
    """Decide for all facts of a persona whether they are dormant or superseded, after sources were deleted or restored."""
    for statement in (_UPDATE_DORMANT, _UPDATE_SUPERSEDED):
        connection.execute(statement.format("persona_id = ?"), (persona_id,))


def update_validity_of(connection: sqlite3.Connection, guids: Collection[UUID]) -> None:
    """Decide the same for facts that were stored, and for those they superseded."""
    stored = json_list(guids)
    connection.execute(_UPDATE_DORMANT.format("guid IN (SELECT value FROM json_each(?))"), (stored,))
    connection.execute(_UPDATE_SUPERSEDED.format("guid IN (SELECT value FROM json_each(?))"), (stored,))
    connection.execute(_UPDATE_SUPERSEDED.format("superseded_by IN (SELECT value FROM json_each(?))"), (stored,))


def update_validity_by_sessions(connection: sqlite3.Connection, sessions: Collection[str]) -> None:
    """Decide the same for all facts of the personas of these sessions."""
    query = "SELECT DISTINCT persona_id FROM sessions WHERE guid IN (SELECT value FROM json_each(?))"
    for (persona_id,) in connection.execute(query, (json_list(sessions),)).fetchall():
        update_validity(connection, persona_id)


def erase_unsupported(connection: sqlite3.Connection, persona_id: str, erased: Collection[str]) -> None:
    """Erase the facts of a persona that nothing states any more once these messages, sessions and memories are erased; the
    others lose them as sources. What the user wrote or pinned remains, unless it was merged from what is erased.
    """
    query = f"""
    SELECT guid, source_messages, source_memories, lapsed_sources,
        pinned OR (made_by = 'user' AND superseded = 0), {_IS_MERGED} FROM facts
    WHERE persona_id = ? AND (EXISTS (SELECT 1 FROM json_each(source_messages) s JOIN json_each(?2) e USING (value))
        OR EXISTS (SELECT 1 FROM json_each(source_memories) s JOIN json_each(?2) e USING (value))
        OR EXISTS (SELECT 1 FROM json_each(lapsed_sources) s JOIN json_each(?2) e ON e.value = s.value ->> 0))
    """
    rows = connection.execute(query, (persona_id, json_list(erased))).fetchall()
    for guid, *lists, is_by_user, is_merged in rows:
        messages, memories, lapsed = map(json.loads, lists)
        kept = [source for source in messages if source not in erased]
        kept_memories = [source for source in memories if source not in erased]
        kept_lapsed = [source for source in lapsed if source[0] not in erased]
        is_unsupported = not kept and not kept_lapsed if messages or lapsed else not kept_memories
        if (is_unsupported and not is_by_user) or (is_merged and len(kept) < len(messages)):
            erase_fact(connection, guid)
        else:
            values = (json.dumps(kept), json.dumps(kept_memories), json.dumps(kept_lapsed), guid)
            update = "UPDATE facts SET source_messages = ?, source_memories = ?, lapsed_sources = ? WHERE guid = ?"
            connection.execute(update, values)


def erase_fact(connection: sqlite3.Connection, guid: str) -> None:
    """Erase a fact; those it superseded become valid again, or superseded by its own successor."""
    connection.execute(REPLACE_SUCCESSOR, {"guid": guid})
    connection.execute("DELETE FROM facts WHERE guid = ?", (guid,))


def move_changed_source(connection: sqlite3.Connection, message_id: str, old_digest: str, new_digest: str) -> None:
    """Note that a message has another text: facts taken from the old one lose it as a source, and those taken from a text that
    it has again get it back.
    """
    query = """
    SELECT guid, source_messages, lapsed_sources FROM facts
    WHERE EXISTS (SELECT 1 FROM json_each(source_messages) WHERE value = ?1)
        OR EXISTS (SELECT 1 FROM json_each(lapsed_sources) WHERE value ->> 0 = ?1)
    """
    for guid, *lists in connection.execute(query, (message_id,)).fetchall():
        sources, lapsed = map(json.loads, lists)
        if message_id in sources:
            sources.remove(message_id)
            lapsed.append([message_id, old_digest])
        if [message_id, new_digest] in lapsed:
            lapsed.remove([message_id, new_digest])
            sources.append(message_id)
        values = (json.dumps(sources), json.dumps(lapsed), guid)
        connection.execute("UPDATE facts SET source_messages = ?, lapsed_sources = ? WHERE guid = ?", values)
