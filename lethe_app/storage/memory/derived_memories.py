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
RETURNING persona_id, guid
"""
_ADD_SESSION = """
UPDATE memories SET sources = json_insert(sources, '$[#]', :new)
WHERE category <> 'chat_session' AND sources <> '[]' AND EXISTS (SELECT 1 FROM json_each(sources) WHERE value = :old)
"""
_TERM = re.compile(r"[^\W_\u0e00-\U0010ffff]{2,}|(?=([\u0e00-\U0010ffff]{2}))")
"""Words, and pairs of adjacent characters in scripts that most often separate no words."""


def withdraw(
    connection: sqlite3.Connection, cause: str, session: str, messages: Collection[str], lost: Iterable[str]
) -> list[Owned]:
    """Move the memories made of a session, or of these messages of it, to the trash if they contain what only the `lost` texts
    said, or if none of their sources is left; return them.
    """
    withdrawn, lost_terms = list[Owned](), _terms(*lost)
    for persona_id, guid, text, sources in connection.execute(_SELECT_DERIVED, (session, json_list(messages))).fetchall():
        left = _terms(*(content for (content,) in connection.execute(_SELECT_LEFT, (sources,))))
        if not left or _terms(text) & lost_terms - left:
            withdrawn.append((persona_id, guid))
    update = "UPDATE memories SET deleted_at = ?, deleted_with = ? WHERE guid = ?"
    connection.executemany(update, [(utc_text(now()), cause, guid) for _persona, guid in withdrawn])
    return withdrawn


def restore(connection: sqlite3.Connection, causes: Iterable[str]) -> list[Owned]:
    """Restore the memories that went with these sessions, messages or former texts, and return them."""
    return connection.execute(_RESTORE, (json_list(causes),)).fetchall()


def add_session(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Make the memories of a session those of another one, too, because messages have moved there."""
    connection.execute(_ADD_SESSION, {"old": f"session:{old}", "new": f"session:{new}"})


def erase_lapsed(connection: sqlite3.Connection) -> None:
    """Erase the memories that went with former texts of messages and could come back only if an edit were undone."""
    connection.execute("DELETE FROM memories WHERE deleted_with LIKE '% %'")


def _terms(*texts: str) -> set[str]:
    return {match[1] or match[0] for text in texts for match in _TERM.finditer(text.casefold())} - {""}
