"""Splitting and merging of sessions and insertion of messages into old ones, each in one transaction and with undo.

Messages keep their order, branches and dates. A message that moves to another session is queued for indexing, and facts
extracted from it name its new session as their source.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.changes import SessionSnapshot
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.errors import StorageError
from lethe_app.storage import trash
from lethe_app.storage.chats import branches, messages, session_merge
from lethe_app.storage.chats.session_row import insert_session, queue_for_indexing, update_session_row
from lethe_app.storage.chats.session_snapshots import restore_snapshot, take_snapshot
from lethe_app.storage.database import Store, in_transaction

DESCENDANTS = """
WITH RECURSIVE down (id) AS (
    SELECT ? UNION ALL SELECT m.id FROM down JOIN messages m ON m.parent_id = down.id)
SELECT id FROM down
"""
COPIED_STATE = (session_merge.WORLDS, session_merge.NOTES)
"""Keys of the session state that are copied to the new session of a split."""


class SessionReshaping(Store):
    """Changes of the structure of sessions. Every method is one transaction; messages in the trash move with the others."""

    @in_transaction
    def split(self, connection: sqlite3.Connection, message_id: UUID, new_session: ChatSession) -> SessionSnapshot:
        """Move a message and everything below it, other branches included, to `new_session`; return what undo needs.

        Raise StorageError if the message is not on the displayed branch or is its first.
        """
        id_ = str(message_id)
        old = messages.session_of(connection, id_)
        branch = branches.newest_message_ids(connection, old, -1, None)
        if id_ not in branch:
            raise StorageError("A conversation can only be split at a message that is shown.")
        if branch[0] == id_:
            raise StorageError("This is already the first message of the conversation.")
        before = take_snapshot(connection, [old], created=[str(new_session.guid)])
        _move_subtree(connection, old, id_, new_session)
        return before

    @in_transaction
    def merge(self, connection: sqlite3.Connection, guids: Sequence[UUID]) -> SessionSnapshot:
        """Merge sessions of one persona, in the order in which they began, into the earliest; return what undo needs.

        `SessionSnapshot.kept` is the merged session. Raise StorageError for fewer than two sessions or several personas.
        """
        sorted_guids = session_merge.sort_by_start(connection, list(dict.fromkeys(map(str, guids))))
        before = take_snapshot(connection, sorted_guids)
        session_merge.merge_into_first(connection, sorted_guids)
        return before

    @in_transaction
    def insert(self, connection: sqlite3.Connection, message: Message, above: UUID | None) -> Message:
        """Insert a message above another one of its session, or at the end of the displayed branch. Raise StorageError."""
        if above is None:
            return messages.add(connection, message)
        if messages.session_of(connection, str(above)) != str(message.session_id):
            raise StorageError("A message cannot be inserted above a message of another conversation.")
        inserted = messages.insert_above(connection, str(above), message)
        queue_for_indexing(connection, str(message.session_id))  # the position of every later message has changed
        return inserted

    @in_transaction
    def erase_inserted(self, connection: sqlite3.Connection, message_id: UUID) -> None:
        """Undo `insert`: erase the message for good; its children become those of its parent."""
        id_ = str(message_id)
        session = messages.session_of(connection, id_)
        trash.erase_messages(connection, [id_])
        update_session_row(connection, session)
        queue_for_indexing(connection, session)

    @in_transaction
    def undo(self, connection: sqlite3.Connection, before: SessionSnapshot) -> None:
        """Undo a split or merge; messages added since are kept in the session they belong to now."""
        restore_snapshot(connection, before)


def _move_subtree(connection: sqlite3.Connection, old: str, first: str, new_session: ChatSession) -> None:
    """Move a message and its descendants to the new session, whose tip is that of the old one."""
    new = str(new_session.guid)
    (parent,) = connection.execute("SELECT parent_id FROM messages WHERE id = ?", (first,)).fetchone()
    insert_session(connection, new_session, tip_id=branches.branch_state(connection, old).tip)
    moved = [(new, id_) for (id_,) in connection.execute(DESCENDANTS, (first,)).fetchall()]
    connection.executemany("UPDATE messages SET session_id = ? WHERE id = ?", moved)
    connection.execute("UPDATE messages SET parent_id = NULL WHERE id = ?", (first,))
    connection.execute("UPDATE sessions SET tip_id = ? WHERE guid = ?", (parent, old))
    connection.execute(
        "INSERT INTO session_state (session_id, key, value) SELECT ?, key, value FROM session_state"
        " WHERE session_id = ? AND key IN (?, ?)",
        (new, old, *COPIED_STATE),
    )
    session_merge.replace_fact_source(connection, old, [id_ for _new, id_ in moved], new)
    for session in (old, new):
        update_session_row(connection, session)
        queue_for_indexing(connection, session)
