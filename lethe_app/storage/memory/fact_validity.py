"""Decide which facts are known and which are superseded, from what is left of the messages they were taken from.

The messages of one conversation that state a fact belong together, as a statement and the answer that confirms it; one
conversation is enough. A fact is dormant while in each of them a message is deleted or says something else now, and one merged
from several while any of their messages is. A fact that a dormant one superseded is valid again until that one returns.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection
from uuid import UUID

from lethe_app.storage.row_mapping import json_list

_SOURCES = """
(SELECT value AS id, 1 AS says_it FROM json_each(facts.source_messages)
    UNION ALL SELECT value ->> 0, 0 FROM json_each(facts.lapsed_sources)) s
JOIN messages m USING (id) JOIN memories c ON c.guid = m.session_id
"""
_STATES = "(s.says_it AND m.deleted_at IS NULL AND c.deleted_at IS NULL)"
_IS_LEFT = f"EXISTS (SELECT 1 FROM {_SOURCES} GROUP BY m.session_id HAVING min({_STATES}))"
_IS_GONE = f"EXISTS (SELECT 1 FROM {_SOURCES} WHERE NOT {_STATES})"
_MEMORY = """
EXISTS (SELECT 1 FROM json_each(facts.source_memories) s JOIN memories c ON c.guid = s.value WHERE c.deleted_at IS {} NULL)
"""
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
    within = """
    SELECT id FROM messages WHERE session_id IN (
        SELECT session_id FROM messages WHERE id IN (SELECT value FROM json_each(?)))
    """
    gone = {id_ for (id_,) in connection.execute(within, (json_list(erased),))}.union(erased)
    for guid, *lists, is_by_user, is_merged in rows:
        messages, memories, lapsed = map(json.loads, lists)
        kept = [source for source in messages if source not in gone]
        kept_memories = [source for source in memories if source not in gone]
        kept_lapsed = [source for source in lapsed if source[0] not in gone]
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


def follow_text(connection: sqlite3.Connection, message_id: str, old_text: str, new_text: str) -> None:
    """Note that a message has another text: facts taken from the old one lose it as a source, and those taken from a text that
    it has again get it back.
    """
    query = """
    SELECT persona_id, guid, source_messages, lapsed_sources FROM facts
    WHERE persona_id = (SELECT s.persona_id FROM messages m JOIN sessions s ON s.guid = m.session_id WHERE m.id = ?1)
    AND (EXISTS (SELECT 1 FROM json_each(source_messages) WHERE value = ?1)
        OR EXISTS (SELECT 1 FROM json_each(lapsed_sources) WHERE value ->> 0 = ?1))
    """
    old_source, new_source = ([message_id, hashlib.sha256(text.encode()).hexdigest()] for text in (old_text, new_text))
    for persona_id, guid, *lists in connection.execute(query, (message_id,)).fetchall():
        sources, lapsed = map(json.loads, lists)
        if message_id in sources:
            sources.remove(message_id)
            lapsed.append(old_source)
        if new_source in lapsed:
            lapsed.remove(new_source)
            sources.append(message_id)
        values = (json.dumps(sources), json.dumps(lapsed), guid)
        connection.execute("UPDATE facts SET source_messages = ?, lapsed_sources = ? WHERE guid = ?", values)
        update_validity(connection, persona_id)
