"""Snapshots of sessions before a split or merge, and their restoration with the messages added since."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from uuid import UUID

from lethe_app.domain.changes import MessagePosition, Row, SessionSnapshot
from lethe_app.storage.chats.session_merge import SELECT_FACT_SOURCES, replace_fact_source
from lethe_app.storage.chats.session_row import queue_for_indexing, update_session_row
from lethe_app.storage.row_mapping import insert, json_list, save_row

TABLES = {"memories": "guid", "sessions": "guid", "session_parts": "session_id", "session_state": "session_id"}
"""Tables with the rows of a session and the column of its id; a table follows those it references."""
AMONG = "IN (SELECT value FROM json_each(?))"
SEQ_OFFSET = 2**40
"""Offset added to `seq` while messages are renumbered, because `seq` must be unique in a session after every update."""


def take_snapshot(connection: sqlite3.Connection, sessions: Sequence[str], created: Sequence[str] = ()) -> SessionSnapshot:
    """Return the current rows of these sessions; `created` are the sessions about to be created from them."""
    ids_json = json_list(sessions)
    rows = {table: _rows(connection, f"SELECT * FROM {table} WHERE {key} {AMONG}", ids_json) for table, key in TABLES.items()}
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
        raise_activity = "UPDATE sessions SET last_activity = max(last_activity, ?) WHERE guid = ?"
        connection.execute(raise_activity, (row["last_activity"], guid))


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


def _rows(connection: sqlite3.Connection, query: str, ids_json: str) -> list[Row]:
    cursor = connection.execute(query, (ids_json,))
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
