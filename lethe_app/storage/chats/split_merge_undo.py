"""Snapshots of sessions before a split or merge, and their restoration with the messages added since."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from uuid import UUID

from lethe_app.domain.changes import MessagePosition, PartValue, Row, SessionSnapshot
from lethe_app.domain.chat import SessionPart
from lethe_app.storage.chats.branches import branch_state
from lethe_app.storage.chats.message_position import placeholders, queue_for_indexing, update_session_row
from lethe_app.storage.chats.split_merge import SOURCES, rename_sources
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import Cell, insert, update

TABLES = {"memories": "guid", "sessions": "guid", "session_parts": "session_id", "session_state": "session_id"}
"""Tables with the rows of a session and the column of its id; a table follows those it references."""
SEQ_OFFSET = 2**40
"""Offset added to `seq` while messages are renumbered, because `seq` must be unique in a session after every update."""


def take_snapshot(connection: sqlite3.Connection, sessions: Sequence[str], made: Sequence[str] = ()) -> SessionSnapshot:
    """Return the current rows of these sessions; `made` are the sessions about to be created from them."""
    rows = {
        table: _rows(connection, f"SELECT * FROM {table} WHERE {key} IN ({placeholders(sessions)})", sessions)  # noqa: S608 - ours
        for table, key in TABLES.items()
    }
    places = connection.execute(
        f"SELECT id, session_id, parent_id, seq FROM messages WHERE session_id IN ({placeholders(sessions)})",  # noqa: S608 - ours
        sessions,
    )
    kept = [MessagePosition(*row) for row in places]
    sources = {guid: named for one in sessions for guid, named, _said in connection.execute(SOURCES, (one,))}
    known = tuple(map(UUID, sessions))
    return SessionSnapshot(known[0], known, tuple(map(UUID, made)), rows, kept, sources)


def restore_snapshot(connection: sqlite3.Connection, before: SessionSnapshot) -> None:
    """Restore messages, rows and sources of facts; messages added since stay with the message they follow."""
    sessions = [str(guid) for guid in before.sessions]
    tips = _tips(connection, [*sessions, *map(str, before.created)])
    _restore_rows(connection, before.rows)
    homes = _restore_positions(connection, before)
    for guid in map(str, before.created):
        rename_sources(connection, guid, None, str(before.kept))
        connection.execute("DELETE FROM memories WHERE guid = ?", (guid,))
    for fact, named in before.fact_sources.items():
        connection.execute("UPDATE facts SET source_memories = ? WHERE guid = ?", (named, fact))
    known = {place.id for place in before.positions}
    for tip in tips:
        if tip not in known and tip in homes:  # said since then
            connection.execute("UPDATE sessions SET tip_id = ? WHERE guid = ?", (tip, homes[tip]))
    for row in before.rows["sessions"]:
        update_session_row(connection, str(row["guid"]))
        queue_for_indexing(connection, str(row["guid"]))
        late = "UPDATE sessions SET last_activity = max(last_activity, ?) WHERE guid = ?"
        connection.execute(late, (row["last_activity"], row["guid"]))


def _tips(connection: sqlite3.Connection, sessions: Sequence[str]) -> list[str]:
    question = f"SELECT tip_id FROM sessions WHERE guid IN ({placeholders(sessions)}) AND tip_id IS NOT NULL"  # noqa: S608 - ours
    return [tip for (tip,) in connection.execute(question, sessions)]


def _restore_rows(connection: sqlite3.Connection, rows: Mapping[str, Sequence[Row]]) -> None:
    for table, key in TABLES.items():
        is_one = key == "guid"
        if not is_one:
            guids = [row["guid"] for row in rows["sessions"]]
            connection.execute(f"DELETE FROM {table} WHERE {key} IN ({placeholders(guids)})", guids)  # noqa: S608 - names are ours
        for row in rows[table]:
            there = connection.execute(f"SELECT 1 FROM {table} WHERE {key} = ?", (row[key],)).fetchone()  # noqa: S608 - ours
            if is_one and there:
                update(connection, table, key, row)
            else:
                insert(connection, table, row)


def _restore_positions(connection: sqlite3.Connection, before: SessionSnapshot) -> dict[str, str]:
    """Restore every message's position, with new messages behind those they follow; returns the session id of each message."""
    sessions = [str(guid) for guid in (*before.sessions, *before.created)]
    found = connection.execute(
        f"SELECT id, session_id, parent_id FROM messages WHERE session_id IN ({placeholders(sessions)}) ORDER BY seq",  # noqa: S608
        sessions,
    ).fetchall()
    there = {id_ for id_, _session, _parent in found}
    was = {place.id: place for place in before.positions}
    connection.execute(
        f"UPDATE messages SET seq = seq + {SEQ_OFFSET} WHERE session_id IN ({placeholders(sessions)})",  # noqa: S608 - names are ours
        sessions,
    )
    homes = {id_: was[id_].session for id_ in there if id_ in was}
    ends: dict[str, int] = {}
    for place in before.positions:
        ends[place.session] = max(ends.get(place.session, 0), place.seq)
    connection.executemany(
        "UPDATE messages SET session_id = ?, parent_id = ?, seq = ? WHERE id = ?",
        [(was[id_].session, _nearest_existing(was, there, was[id_].parent), was[id_].seq, id_) for id_ in homes],
    )
    for id_, session, parent in found:
        if id_ not in was:
            home = homes.get(parent) or (session if session not in map(str, before.created) else str(before.kept))
            ends[home] = ends.get(home, 0) + 1
            homes[id_] = home
            connection.execute("UPDATE messages SET session_id = ?, seq = ? WHERE id = ?", (home, ends[home], id_))
    return homes


def _nearest_existing(was: Mapping[str, MessagePosition], there: set[str], parent: str | None) -> str | None:
    """Return the parent or its nearest ancestor that was not purged meanwhile."""
    while parent is not None and parent not in there:
        parent = was[parent].parent if parent in was else None
    return parent


def _rows(connection: sqlite3.Connection, question: str, values: Sequence[str]) -> list[Row]:
    found = connection.execute(question, values)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


COLUMNS: dict[SessionPart, dict[str, tuple[str, ...]]] = {
    SessionPart.TITLE: {"memories": ("name",)},
    SessionPart.SUMMARY: {"memories": ("content",)},
    SessionPart.KEYWORDS: {"memories": ("keywords_main", "enabled")},
    SessionPart.GOALS: {"sessions": ("future_goals",)},
    SessionPart.RELEVANCE: {"sessions": ("relevance",)},
    SessionPart.ROLEPLAY: {"sessions": ("is_roleplay",)},
}
"""Columns of each archive part by table; facts have a table of their own."""
RELEASE = """
UPDATE session_parts SET made_by = 'rules', maker = '', state = 'pending', tries = 0, trouble = ''
WHERE session_id = ? AND part = ? AND made_by = 'user'
"""
"""Statement that removes the user's mark from a part and queues it."""


class ArchivePartUndo:
    """Undo for archive parts. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def part_of(self, session: UUID, part: SessionPart) -> PartValue:
        """Return the current value of a part. Raise StorageError if the session is gone."""

        def work(connection: sqlite3.Connection) -> PartValue:
            here = str(session)
            branch_state(connection, here)
            values = {table: _values(connection, table, names, here) for table, names in COLUMNS.get(part, {}).items()}
            found = connection.execute("SELECT * FROM session_parts WHERE session_id = ? AND part = ?", (here, part.value))
            row = found.fetchone()
            record = dict(zip((column[0] for column in found.description), row, strict=True)) if row else None
            return PartValue(session, part, values, record)

        return await self._database.run(work)

    async def restore_part(self, told: PartValue) -> None:
        """Restore a part to an earlier value, regardless of who has written it since."""

        def work(connection: sqlite3.Connection) -> None:
            here = str(told.session)
            branch_state(connection, here)
            for table, values in told.values.items():
                update(connection, table, "guid", {**values, "guid": here})
            connection.execute("DELETE FROM session_parts WHERE session_id = ? AND part = ?", (here, told.part.value))
            if told.record is not None:
                insert(connection, "session_parts", told.record)

        await self._database.run(work)

    async def release_part(self, session: UUID, part: SessionPart) -> None:
        """Allow a part written by the user to be overwritten, and queue it."""
        await self._database.run(lambda connection: connection.execute(RELEASE, (str(session), part.value)).rowcount)


def _values(connection: sqlite3.Connection, table: str, names: Sequence[str], guid: str) -> dict[str, Cell]:
    question = f"SELECT {', '.join(names)} FROM {table} WHERE guid = ?"  # noqa: S608 - names are ours
    return dict(zip(names, connection.execute(question, (guid,)).fetchone(), strict=True))
