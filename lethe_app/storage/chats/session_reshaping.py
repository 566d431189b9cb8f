"""Splitting and merging of sessions and insertion of messages into old ones, each in one transaction and with undo.

Messages keep their order, branches and dates. A message that moves to another session is queued for indexing, and facts
extracted from it name its new session as their source.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from uuid import UUID

from lethe_app.domain.changes import MessagePosition, Row, SessionSnapshot
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.storage import trash
from lethe_app.storage.chats import branches, messages, session_merge
from lethe_app.storage.chats.session_merge import SELECT_FACT_SOURCES, replace_fact_source
from lethe_app.storage.chats.session_row import insert_session, queue_for_indexing, update_session_row
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.memory import derived_memories
from lethe_app.storage.row_mapping import insert, json_list, save_row, select_dicts, utc_text

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
    derived_memories.add_session(connection, old, new)
    for session in (old, new):
        update_session_row(connection, session)
        queue_for_indexing(connection, session)


TABLES = {"memories": "guid", "sessions": "guid", "session_parts": "session_id", "session_state": "session_id"}
"""Tables with the rows of a session and the column of its id; a table follows those it references."""
AMONG = "IN (SELECT value FROM json_each(?))"
SEQ_OFFSET = 2**40
"""Offset added to `seq` while messages are renumbered, because `seq` must be unique in a session after every update."""


def take_snapshot(connection: sqlite3.Connection, sessions: Sequence[str], created: Sequence[str] = ()) -> SessionSnapshot:
    """Return the current rows of these sessions; `created` are the sessions about to be created from them."""
    ids_json = json_list(sessions)
    rows = {
        table: select_dicts(connection, f"SELECT * FROM {table} WHERE {key} {AMONG}", (ids_json,))
        for table, key in TABLES.items()
    }
    positions = connection.execute(f"SELECT id, session_id, parent_id, seq FROM messages WHERE session_id {AMONG}", (ids_json,))
    fact_sources = {
        guid: sources
        for session in sessions
        for guid, sources, _messages in connection.execute(SELECT_FACT_SOURCES, (session,))
    }
    guids = tuple(map(UUID, sessions))
    return SessionSnapshot(
        kept=guids[0],
        sessions=guids,
        created=tuple(map(UUID, created)),
        rows=rows,
        positions=[MessagePosition(*row) for row in positions],
        fact_sources=fact_sources,
    )


def restore_snapshot(connection: sqlite3.Connection, before: SessionSnapshot) -> None:
    """Restore messages, rows and sources of facts; messages added since stay with the message they follow."""
    is_changed = f"guid {AMONG} AND tip_id IS NOT NULL"
    values = (json_list([*before.sessions, *before.created]),)
    tips = [tip for (tip,) in connection.execute(f"SELECT tip_id FROM sessions WHERE {is_changed}", values)]
    _restore_rows(connection, before.rows)
    session_of_message = _restore_positions(connection, before)
    for guid in map(str, before.created):
        replace_fact_source(connection, guid, None, str(before.kept))
        connection.execute("DELETE FROM memories WHERE guid = ?", (guid,))
    for fact, sources in before.fact_sources.items():
        connection.execute("UPDATE facts SET source_memories = ? WHERE guid = ?", (sources, fact))
    known = {position.id for position in before.positions}
    for tip in tips:
        if tip not in known and tip in session_of_message:  # it was added since, and stays on display
            connection.execute("UPDATE sessions SET tip_id = ? WHERE guid = ?", (tip, session_of_message[tip]))
    for row in before.rows["sessions"]:
        guid = str(row["guid"])
        update_session_row(connection, guid)
        queue_for_indexing(connection, guid)
        # Recomputed from the messages, the time could be an earlier one: erased messages no longer count.
        connection.execute(
            messages.RAISE_LAST_ACTIVITY, {"session": guid, "time": row["last_activity"], "now": utc_text(now())}
        )


def _restore_rows(connection: sqlite3.Connection, rows: Mapping[str, Sequence[Row]]) -> None:
    guids = (json_list(row["guid"] for row in rows["sessions"]),)
    for table, key in TABLES.items():
        if key == "guid":
            # Not deleted and inserted anew: messages and facts refer to these rows.
            for row in rows[table]:
                save_row(connection, table, key, row)
        else:
            connection.execute(f"DELETE FROM {table} WHERE {key} {AMONG}", guids)
            for row in rows[table]:
                insert(connection, table, row)


def _restore_positions(connection: sqlite3.Connection, before: SessionSnapshot) -> dict[str, str]:
    """Restore every message's position, with new messages behind those they follow; return the session id of each message."""
    sessions = (json_list([*before.sessions, *before.created]),)
    messages = connection.execute(
        f"SELECT id, session_id, parent_id FROM messages WHERE session_id {AMONG} ORDER BY seq", sessions
    ).fetchall()
    existing = {id_ for id_, _session, _parent in messages}
    old = {position.id: position for position in before.positions}
    connection.execute(f"UPDATE messages SET seq = seq + {SEQ_OFFSET} WHERE session_id {AMONG}", sessions)
    session_of_message = {id_: old[id_].session for id_ in existing if id_ in old}
    last_seq: dict[str, int] = {}
    for position in before.positions:
        last_seq[position.session] = max(last_seq.get(position.session, 0), position.seq)
    connection.executemany(
        "UPDATE messages SET session_id = ?, parent_id = ?, seq = ? WHERE id = ?",
        [
            (old[id_].session, _nearest_existing(old, existing, old[id_].parent), old[id_].seq, id_)
            for id_ in session_of_message
        ],
    )
    created = set(map(str, before.created))
    for id_, session, parent in messages:  # by seq, so that a parent comes before its children
        if id_ not in old:
            target = session_of_message.get(parent) or (session if session not in created else str(before.kept))
            last_seq[target] = last_seq.get(target, 0) + 1
            session_of_message[id_] = target
            connection.execute("UPDATE messages SET session_id = ?, seq = ? WHERE id = ?", (target, last_seq[target], id_))
    return session_of_message


def _nearest_existing(old: Mapping[str, MessagePosition], existing: set[str], parent: str | None) -> str | None:
    """Return the parent or its nearest ancestor that was not purged meanwhile."""
    while parent is not None and parent not in existing:
        parent = old[parent].parent if parent in old else None
    return parent
