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

from lethe_app.storage.memory.derived_memories import terms_of
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
IS_MERGED = "EXISTS (SELECT 1 FROM facts part WHERE part.superseded_by = facts.guid AND part.superseded_because = 'merged')"
_IS_DORMANT = f"""
(pinned = 0 AND (
    ({_IS_GONE} AND {IS_MERGED})
    OR (made_by <> 'user' AND NOT {_IS_LEFT}
        AND ({_IS_GONE} OR ({_MEMORY.format("NOT")} AND NOT {_MEMORY.format("")})))))
"""
"""Condition: sources of the fact are missing, and none that is left states it. Without messages its sessions decide."""
_UPDATE_DORMANT = f"""
UPDATE facts SET dormant = 1 - dormant WHERE guid IN (SELECT value FROM json_each(?)) AND dormant <> {_IS_DORMANT}
"""
_UPDATE_SUPERSEDED = """
WITH RECURSIVE concerned (guid) AS (
    SELECT value FROM json_each(?) UNION SELECT f.guid FROM facts f JOIN concerned c ON f.superseded_by = c.guid)
UPDATE facts SET superseded = 1 - superseded
WHERE guid IN (SELECT guid FROM concerned) AND superseded_by IS NOT NULL AND superseded = EXISTS (
    WITH RECURSIVE successors (guid) AS (
        SELECT facts.superseded_by
        UNION SELECT f.superseded_by FROM successors JOIN facts f USING (guid)
        WHERE {is_gone} AND f.superseded_by IS NOT NULL)
    SELECT 1 FROM successors JOIN facts f USING (guid) WHERE {is_gone} AND f.superseded_by IS NULL)
""".format(is_gone="(f.dormant = 1 OR (f.deleted_at IS NOT NULL AND facts.superseded_because IN ('extended', 'merged')))")
"""Statement: of these facts and all they superseded, one is valid again if all of its successors in turn are dormant, or were
forgotten although they only extended or summed it up.
"""
_FACTS_OF_SESSIONS = """
SELECT DISTINCT facts.guid FROM facts, json_each(facts.source_messages) s JOIN messages m ON m.id = s.value
WHERE m.session_id IN (SELECT value FROM json_each(?1))
UNION SELECT facts.guid FROM facts, json_each(facts.source_memories) s WHERE s.value IN (SELECT value FROM json_each(?1))
UNION SELECT guid FROM facts WHERE lapsed_sources <> '[]'
"""
REPLACE_SUCCESSOR = """
UPDATE facts SET (superseded, superseded_by, superseded_because) =
    (SELECT superseded, superseded_by, superseded_because FROM facts WHERE guid = :guid)
WHERE superseded_by = :guid
"""
"""Statement before a fact is erased: facts it superseded become valid again, or superseded by its own successor."""


def update_validity(connection: sqlite3.Connection, guids: Collection[object]) -> None:
    """Decide whether these facts are dormant, and whether they and those they superseded are superseded."""
    changed = json_list(guids)
    connection.execute(_UPDATE_DORMANT, (changed,))
    connection.execute(_UPDATE_SUPERSEDED, (changed,))


def follow_sessions(connection: sqlite3.Connection, sessions: Collection[object]) -> None:
    """Decide the same for the facts of sessions which were deleted or restored, or messages of which were."""
    update_validity(connection, [guid for (guid,) in connection.execute(_FACTS_OF_SESSIONS, (json_list(sessions),))])


def erase_unsupported(connection: sqlite3.Connection, erased: Collection[str]) -> None:
    """Erase the facts that nothing states any more once these messages, sessions and memories are erased; the others lose them
    as sources. What the user wrote or pinned remains, unless it was merged from what is erased.
    """
    within = """
    SELECT id, session_id FROM messages WHERE session_id IN (
        SELECT session_id FROM messages WHERE id IN (SELECT value FROM json_each(?1)) UNION SELECT value FROM json_each(?1))
    """
    session_of = dict(connection.execute(within, (json_list(erased),)).fetchall())
    gone = {*erased, *(id_ for id_, session in session_of.items() if session in erased)}
    query = f"""
    SELECT guid, source_messages, source_memories, lapsed_sources,
        pinned OR (made_by = 'user' AND superseded_by IS NULL), {IS_MERGED} FROM facts
    WHERE guid IN ({_FACTS_OF_SESSIONS})
    """
    remaining = []
    sessions = json_list({*erased, *session_of.values()})
    for guid, *lists, is_by_user, is_merged in connection.execute(query, (sessions,)).fetchall():
        before = said, memories, lapsed = [json.loads(value) for value in lists]
        incomplete = {session_of.get(id_) for id_ in (*said, *(id_ for id_, _digest in lapsed)) if id_ in gone}
        after = [
            [id_ for id_ in said if id_ not in gone and session_of.get(id_, id_) not in incomplete],
            [guid for guid in memories if guid not in gone],
            [source for source in lapsed if source[0] not in gone and session_of.get(source[0], "") not in incomplete],
        ]
        is_unsupported = not after[0] and not after[2] if said or lapsed else not after[1]
        if before == after:
            continue
        if (is_unsupported and not is_by_user) or (is_merged and after[0] != said):
            erase_fact(connection, guid)
        else:
            update = "UPDATE facts SET source_messages = ?, source_memories = ?, lapsed_sources = ? WHERE guid = ?"
            connection.execute(update, (*map(json.dumps, after), guid))
            remaining.append(guid)
    update_validity(connection, remaining)


def erase_lapsed(connection: sqlite3.Connection) -> None:
    """Erase the dormant facts that rest on former texts of messages and could be valid again only if an edit were undone."""
    query = f"""
    SELECT guid FROM facts WHERE dormant = 1 AND lapsed_sources <> '[]'
    AND NOT EXISTS (SELECT 1 FROM {_SOURCES} WHERE s.says_it AND NOT {_STATES})
    """
    for (guid,) in connection.execute(query).fetchall():
        erase_fact(connection, guid)


def erase_fact(connection: sqlite3.Connection, guid: str) -> None:
    """Erase a fact; those it superseded become valid again, or superseded by its own successor."""
    connection.execute(REPLACE_SUCCESSOR, {"guid": guid})
    connection.execute("DELETE FROM facts WHERE guid = ?", (guid,))


def digest_of(text: str) -> str:
    """Return what is kept of a former text of a message."""
    return hashlib.sha256(text.encode()).hexdigest()


def follow_text(connection: sqlite3.Connection, message_id: str, old_text: str, new_text: str) -> None:
    """Note that a message has another text: facts taken from the old one lose it as a source, and those taken from a text that
    it has again get it back. A fact in the user's words keeps it if the words that it has of the old text are still there.
    """
    query = """
    SELECT guid, made_by, fact, source_messages, lapsed_sources FROM facts WHERE instr(source_messages || lapsed_sources, ?)
    """
    rows = connection.execute(query, (message_id,)).fetchall()
    old_source, new_source = ([message_id, digest_of(text)] for text in (old_text, new_text))
    for guid, made_by, fact, *lists in rows:
        sources, lapsed = map(json.loads, lists)
        is_still_said = made_by == "user" and terms_of(fact) & terms_of(old_text) <= terms_of(new_text)
        if message_id in sources and not is_still_said:
            sources.remove(message_id)
            lapsed.append(old_source)
        if new_source in lapsed:
            lapsed.remove(new_source)
            sources.append(message_id)
        values = (json.dumps(sources), json.dumps(lapsed), guid)
        connection.execute("UPDATE facts SET source_messages = ?, lapsed_sources = ? WHERE guid = ?", values)
    update_validity(connection, [guid for guid, *_lists in rows])
