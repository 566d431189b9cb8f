"""Memories that tasks, tools and rules made of messages follow these: one that contains what only a deleted or reworded line
said goes with it, and comes back with it.

Such a memory is in the trash without being listed there; its `deleted_with` names what took it along: a session, a message, or
a message and the digest of its former text. What the user has edited belongs to the user and stays.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable

from lethe_app.domain.clock import now
from lethe_app.language_tables import load_words
from lethe_app.storage.row_mapping import json_list, utc_text

Owned = tuple[str, str]
"""Ids of a persona and of one of its memories."""
_SELECT_DERIVED = """
SELECT persona_id, guid, json_array(name, content), json_group_array(substr(source.value, 9))
FROM memories, json_each(sources) source
WHERE persona_id = (SELECT persona_id FROM sessions WHERE guid = ?) AND deleted_at IS NULL AND category <> 'chat_session'
AND (made_by <> '' OR category = 'reminder') AND (source.value LIKE 'session:%' OR source.value LIKE 'message:%')
GROUP BY guid HAVING max(substr(source.value, 9) = ?1 OR substr(source.value, 9) IN (SELECT value FROM json_each(?2)))
"""
"""Query: memories made of a session or of these of its messages, each with the ids of all its sessions and messages."""
_SELECT_LEFT = """
SELECT a.content FROM messages m JOIN memories c ON c.guid = m.session_id JOIN alternatives a ON a.message_id = m.id
WHERE (m.id IN (SELECT value FROM json_each(?1)) OR m.session_id IN (SELECT value FROM json_each(?1)))
AND m.deleted_at IS NULL AND c.deleted_at IS NULL AND a.position = m.shown
"""
_RESTORE = """
UPDATE memories SET deleted_at = NULL, deleted_with = '' WHERE deleted_with IN (SELECT value FROM json_each(?))
RETURNING persona_id, guid, json_array(name, content),
    (SELECT json_group_array(substr(value, 9)) FROM json_each(sources) WHERE value LIKE 'session:%' OR value LIKE 'message:%')
"""
_SELECT_DELETED = """
SELECT CASE WHEN c.deleted_at IS NULL THEN m.id ELSE c.guid END, a.content
FROM messages m JOIN memories c ON c.guid = m.session_id JOIN alternatives a ON a.message_id = m.id
WHERE (m.id IN (SELECT value FROM json_each(?1)) OR m.session_id IN (SELECT value FROM json_each(?1)))
AND (m.deleted_at IS NOT NULL OR c.deleted_at IS NOT NULL)
"""
"""Query: texts of sources that are in the trash, each with the session or message with which it went."""
_ADD_SESSION = """
UPDATE memories SET sources = json_insert(sources, '$[#]', :new)
WHERE category <> 'chat_session' AND sources <> '[]' AND EXISTS (SELECT 1 FROM json_each(sources) WHERE value = :old)
"""
_TERM = re.compile(r"[^\W_\u0e00-\U0010ffff]{3,}|(?=([\u0e00-\U0010ffff]{2}))")
"""Words, and pairs of adjacent characters in scripts that most often separate no words."""


def withdraw(
    connection: sqlite3.Connection, cause: str, session: str, messages: Collection[str], lost: Iterable[str]
) -> list[Owned]:
    """Move the memories made of a session, or of these messages of it, to the trash if they contain what only the `lost` texts
    said, or if none of their sources is left; return them.
    """
    rows, lost_terms = connection.execute(_SELECT_DERIVED, (session, json_list(messages))).fetchall(), terms_of(*lost)
    withdrawn = [(owner, guid) for owner, guid, text, sources in rows if _is_lost(connection, text, sources, lost_terms)]
    update = "UPDATE memories SET deleted_at = ?, deleted_with = ? WHERE guid = ?"
    connection.executemany(update, [(utc_text(now()), cause, guid) for _owner, guid in withdrawn])
    return withdrawn


def restore(connection: sqlite3.Connection, causes: Iterable[str]) -> list[Owned]:
    """Restore the memories that went with these sessions, messages or former texts, unless others of their sources are still
    deleted that they contain; return them.
    """
    restored = connection.execute(_RESTORE, (json_list(causes),)).fetchall()
    for _owner, guid, content, sources in restored:
        deleted = connection.execute(_SELECT_DELETED, (sources,)).fetchall()
        if deleted and _is_lost(connection, content, sources, terms_of(*(text for _cause, text in deleted))):
            update = "UPDATE memories SET deleted_at = ?, deleted_with = ? WHERE guid = ?"
            connection.execute(update, (utc_text(now()), deleted[0][0], guid))
    return [(owner, guid) for owner, guid, _content, _sources in restored]


def _is_lost(connection: sqlite3.Connection, text: str, sources: str, lost_terms: set[str]) -> bool:
    """Return whether a memory contains lost terms that no source left has, or has no source left."""
    left = terms_of(*(content for (content,) in connection.execute(_SELECT_LEFT, (sources,))))
    return not left or bool(terms_of(text) & lost_terms - left)


def add_session(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Make the memories of a session those of another one, too, because messages have moved there."""
    connection.execute(_ADD_SESSION, {"old": f"session:{old}", "new": f"session:{new}"})


def terms_of(*texts: str) -> set[str]:
    """Return the words of texts that say something, and pairs of characters in scripts without spaces."""
    found = {match[1] or match[0] for text in texts for match in _TERM.finditer(text.casefold())}
    return found.difference([""], load_words("stop_words"), load_words("everyday_words"))
