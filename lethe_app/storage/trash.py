"""Soft deletion of sessions and messages, and erasing for good. Deleted records are only marked until they are purged."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.storage.chats import messages
from lethe_app.storage.key_value import NOTEBOOK_PROGRESS, REMOVE_ENTRY
from lethe_app.storage.memory import derived_memories, fact_validity
from lethe_app.storage.memory.derived_memories import Owned
from lethe_app.storage.row_mapping import json_list, utc_text

ERASE_FOLLOWERS = """
DELETE FROM memories WHERE deleted_with <> '' AND substr(deleted_with, 1, 36) IN (SELECT value FROM json_each(?))
"""
"""Statement that erases the memories which went to the trash with these sessions or messages, or with former texts of these."""


def purge(connection: sqlite3.Connection, before: str) -> int:
    """Erase memories, sessions and messages deleted before that time (UTC); children of an erased message become those of
    its parent.

    Return the number of records erased.
    """
    guids = [guid for (guid,) in connection.execute("SELECT guid FROM memories WHERE deleted_at < ?", (before,))]
    erase_memories(connection, guids)
    # After the sessions: what they contained is gone by now and is not counted.
    rows = connection.execute("SELECT id FROM messages WHERE deleted_at < ?", (before,)).fetchall()
    erase_messages(connection, [id_ for (id_,) in rows])
    return len(guids) + len(rows)


def erase_memories(connection: sqlite3.Connection, guids: list[str]) -> None:
    """Erase those of these memories and sessions that are in the trash; with a session, the facts that only it states."""
    in_trash = "deleted_at IS NOT NULL AND guid IN (SELECT value FROM json_each(?))"
    rows = connection.execute(f"SELECT guid FROM memories WHERE {in_trash}", (json_list(guids),)).fetchall()
    fact_validity.erase_unsupported(connection, [guid for (guid,) in rows])
    connection.execute(ERASE_FOLLOWERS, (json_list(guids),))
    # With a session, the foreign keys delete its messages, alternatives, jobs, state, receipts and prompts.
    connection.execute(f"DELETE FROM memories WHERE {in_trash}", (json_list(guids),))


def erase_messages(connection: sqlite3.Connection, ids: list[str]) -> None:
    """Erase messages for good, with the facts and memories that only they state; their children become those of their
    parents.
    """
    fact_validity.erase_unsupported(connection, ids)
    connection.execute(ERASE_FOLLOWERS, (json_list(ids),))
    for id_ in ids:
        (parent,) = connection.execute("SELECT parent_id FROM messages WHERE id = ?", (id_,)).fetchone()
        connection.execute("UPDATE messages SET parent_id = ? WHERE parent_id = ?", (parent, id_))
        connection.execute(
            "UPDATE sessions SET tip_id = ? WHERE tip_id = ? AND guid = (SELECT session_id FROM messages WHERE id = ?)",
            (parent, id_, id_),
        )
        connection.execute("DELETE FROM messages WHERE id = ?", (id_,))


def mark_sessions(connection: sqlite3.Connection, guids: Sequence[str], is_deleted: bool) -> list[Owned]:
    """Move sessions to the trash, or restore them; return the memories that follow. Raise `StorageError` if one does not exist,
    or is where it shall go.
    """
    followers = list[Owned]()
    for guid in guids:
        count = connection.execute(
            "UPDATE memories SET deleted_at = ?"
            " WHERE guid = ? AND (deleted_at IS NULL) = ? AND guid IN (SELECT guid FROM sessions)",
            (utc_text(now()) if is_deleted else None, guid, is_deleted),
        ).rowcount
        if not count:
            reason = "This conversation no longer exists." if is_deleted else "This conversation is no longer in the Trash."
            raise StorageError(reason)
        if is_deleted:
            texts = _texts_of(connection, "m.session_id = ?", guid)
            followers += derived_memories.withdraw(connection, guid, guid, texts.keys(), texts.values())
    fact_validity.follow_sessions(connection, guids)
    return followers if is_deleted else _restore_followers(connection, guids, guids)


def mark_messages(connection: sqlite3.Connection, ids: Sequence[str], is_deleted: bool) -> list[Owned]:
    """Move messages to the trash, or restore them, all or none; return the memories that follow. Raise StorageError if one of
    them does not exist.
    """
    deleted_at, sessions = utc_text(now()) if is_deleted else None, dict[str, str]()
    for id_ in ids:
        row = connection.execute(
            "UPDATE messages SET deleted_at = ? WHERE id = ? AND (deleted_at IS NULL) = ? RETURNING session_id",
            (deleted_at, id_, is_deleted),
        ).fetchone()
        if row is None:
            raise StorageError("This message no longer exists." if is_deleted else "This message is no longer in the Trash.")
        sessions[id_] = row[0]
    for session_id in set(sessions.values()):
        messages.update_message_count(connection, session_id)
    fact_validity.follow_sessions(connection, set(sessions.values()))
    if not is_deleted:
        return _restore_followers(connection, ids, set(sessions.values()))
    texts = {id_: _texts_of(connection, "m.id = ?", id_).values() for id_ in ids}
    return [owned for id_ in ids for owned in derived_memories.withdraw(connection, id_, sessions[id_], [id_], texts[id_])]


def _restore_followers(connection: sqlite3.Connection, causes: Sequence[str], sessions: Collection[str]) -> list[Owned]:
    """Restore the memories that went with sessions or messages, and have notebooks written of the sessions again."""
    connection.executemany(REMOVE_ENTRY, [(guid, NOTEBOOK_PROGRESS, guid) for guid in sessions])
    return derived_memories.restore(connection, causes)


def _texts_of(connection: sqlite3.Connection, condition: str, value: str) -> dict[str, str]:
    """Return the texts of all alternatives of messages by the ids of these."""
    query = f"""
    SELECT m.id, group_concat(a.content, char(10)) FROM messages m JOIN alternatives a ON a.message_id = m.id
    WHERE {condition} GROUP BY m.id
    """
    return dict(connection.execute(query, (value,)).fetchall())
