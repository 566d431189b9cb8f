"""Reading and writing of messages and their alternatives inside the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lethe_app.domain.chat import UNREADABLE_NOTE, Alternative, Message, Role
from lethe_app.domain.clock import now
from lethe_app.errors import DatabaseDamaged, StorageError
from lethe_app.storage.chats import branches, incognito
from lethe_app.storage.row_mapping import (
    ALTERNATIVE_COLUMNS,
    MESSAGE_COLUMNS,
    ColumnValue,
    column_values,
    insert,
    parse_record,
    parse_rows,
    update,
    utc_text,
)

# `json_each` takes any number of ids as one parameter; SQLite limits the number of parameters of a statement.
MESSAGES = f"""
SELECT {", ".join(f"m.{name}" for name in MESSAGE_COLUMNS)}, p.deleted_at IS NOT NULL
FROM messages m LEFT JOIN messages p ON p.id = m.parent_id WHERE m.id IN (SELECT value FROM json_each(?))
"""

ALTERNATIVES = f"""
SELECT message_id, {", ".join(ALTERNATIVE_COLUMNS)} FROM alternatives
WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, position
"""

COUNT_UP_TO_MESSAGE = """
SELECT count(*), coalesce(sum(m.role = 'user'), 0) FROM messages m JOIN messages here ON here.session_id = m.session_id
WHERE here.id = ? AND m.seq <= here.seq AND m.deleted_at IS NULL AND m.hidden = 0 AND m.role IN ('user', 'assistant')
"""
COUNT_IN_SESSION = """
SELECT count(*), coalesce(sum(m.role = 'user'), 0) FROM messages m
WHERE m.session_id = ? AND m.deleted_at IS NULL AND m.hidden = 0 AND m.role IN ('user', 'assistant')
"""
SELECT_LAST_USER_TIME = """
SELECT m.time FROM messages m INDEXED BY messages_in_order
WHERE m.session_id = ? AND m.deleted_at IS NULL AND m.role = 'user' AND m.id <> ? ORDER BY m.seq DESC LIMIT 1
"""
HAS_LATER_SESSION = """
SELECT EXISTS (
    SELECT 1 FROM sessions here JOIN memories began ON began.guid = here.guid
    JOIN sessions s ON s.persona_id = here.persona_id AND s.guid <> here.guid JOIN memories u ON u.guid = s.guid
    WHERE here.guid = ? AND u.deleted_at IS NULL AND julianday(u.added) > julianday(began.added))
"""
NEWEST_SESSIONS = """
SELECT s.guid FROM sessions s JOIN memories u USING (guid)
WHERE s.persona_id = (SELECT persona_id FROM sessions WHERE guid = ?)
    AND u.deleted_at IS NULL ORDER BY s.last_activity DESC LIMIT 8
"""


@dataclass(frozen=True)
class TurnPosition:
    """Position of a message in its session, and the user's previous activity."""

    messages: int
    """Number of visible messages up to and including this one."""
    user_messages: int
    """Number of these that are the user's."""
    previous_user_time: datetime | None
    """Time of the user's previous message to the same persona, in any session; None if there is none."""
    is_latest: bool
    """True if no session with this persona began later."""


ALL_BUT_TEXT = frozenset(ALTERNATIVE_COLUMNS) - {"content", "thinking"}
"""Columns of an alternative without which its text can still be read."""
DISPENSABLE = frozenset({"mode", "note", "speaker", "speaker_name"})
"""Columns of a message without which it can still be read."""
UNDECODABLE = "\ufffd"
"""Character in place of bytes that are no text."""
RAISE_LAST_ACTIVITY = """
UPDATE sessions SET last_activity = CASE
    WHEN guid <> :session THEN substr(:now, 1, 17) || '00.000000+00:00'
    WHEN last_activity > :now THEN :time
    ELSE max(last_activity, :time) END
WHERE guid = :session
    OR (persona_id = (SELECT persona_id FROM sessions WHERE guid = :session) AND last_activity > :now)
"""
"""Statement that raises a session's last activity to a time; times are UTC. Other sessions of the persona that a wrong clock
dated after now get the current minute, so that they do not stay the newest; their messages keep their times.
"""


def load(connection: sqlite3.Connection, ids: Sequence[str]) -> list[Message]:
    """Return the messages with these ids, in this order; a parent in the trash is replaced by its nearest ancestor that is
    not.
    """
    ids_json = json.dumps(ids)
    alternatives: dict[str, list[Alternative]] = {id_: [] for id_ in ids}
    private_texts = incognito.load_texts(connection, ids_json)
    for message_id, *values in connection.execute(ALTERNATIVES, (ids_json,)):
        alternative = dict(zip(ALTERNATIVE_COLUMNS, values, strict=True))
        alternative |= private_texts.get((message_id, len(alternatives[message_id])), {})
        alternatives[message_id].append(parse_record(Alternative, alternative, ALL_BUT_TEXT))
    loaded = {}
    for *values, is_parent_deleted in connection.execute(MESSAGES, (ids_json,)):
        row = dict(zip(MESSAGE_COLUMNS, values, strict=True))
        if is_parent_deleted:
            row["parent_id"] = branches.nearest_undeleted(connection, row["parent_id"])
        loaded[row["id"]] = _parse_message({**row, "alternatives": alternatives[row["id"]]})
    return [loaded[id_] for id_ in ids]


def _parse_message(values: dict[str, object]) -> Message:
    """Build a message; one that cannot be read is a system message without text, which says why in its note."""
    try:
        message = parse_record(Message, values, DISPENSABLE)
    except DatabaseDamaged as error:
        reason = error.message
    else:
        if 2 * message.content.count(UNDECODABLE) <= len(message.content):
            return message
        reason = "What is stored as the text of a message is no text."
    kept = {name: values[name] for name in ("id", "session_id", "parent_id")}
    return Message.model_validate(
        {**kept, "hidden": bool(values["hidden"]), "role": Role.SYSTEM, "note": UNREADABLE_NOTE + reason}
    )


def load_message(connection: sqlite3.Connection, message_id: str) -> Message:
    """Return a message. Raise StorageError if it does not exist, is in the trash or cannot be read."""
    session_of(connection, message_id)
    message = load(connection, [message_id])[0]
    if message.is_unreadable:
        raise DatabaseDamaged(message.note.removeprefix(UNREADABLE_NOTE), "Restore a backup, or delete the message.")
    return message


def session_of(connection: sqlite3.Connection, message_id: str) -> str:
    """Return the session id of a message. Raise StorageError if the message does not exist or is in the trash."""
    row = connection.execute("SELECT session_id FROM messages WHERE id = ? AND deleted_at IS NULL", (message_id,)).fetchone()
    if row is None:
        raise StorageError("This message no longer exists.", "It may be in the Trash.")
    return str(row[0])


def add(connection: sqlite3.Connection, message: Message) -> Message:
    """Store a message as child of the displayed branch's tip, or of its own `parent_id`, and make it the tip. Raise
    StorageError.
    """
    session_id = str(message.session_id)
    branch = branches.branch_state(connection, session_id)
    parent, branched = branch.tip, branch.branched
    if message.parent_id is not None and str(message.parent_id) != branches.nearest_undeleted(connection, branch.tip):
        parent, branched = str(message.parent_id), True
        if session_of(connection, parent) != session_id:
            raise StorageError("A message cannot follow a message of another conversation.")
    (seq,) = connection.execute("SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = ?", (session_id,)).fetchone()
    insert_message(connection, message, parent_id=parent, seq=seq)
    connection.execute(
        "UPDATE sessions SET tip_id = ?, branched = ?, message_count = message_count + ? WHERE guid = ?",
        (str(message.id), branched, not message.hidden, session_id),
    )
    values = {"session": session_id, "time": utc_text(message.time), "now": utc_text(now())}
    connection.execute(RAISE_LAST_ACTIVITY, values)
    return load_message(connection, str(message.id))


def insert_above(connection: sqlite3.Connection, below: str, message: Message) -> Message:
    """Insert a message between another one and its parent; the `seq` of all later messages grows by one. Raise StorageError."""
    session_id = session_of(connection, below)
    parent, seq = connection.execute("SELECT parent_id, seq FROM messages WHERE id = ?", (below,)).fetchone()
    for (later,) in connection.execute(
        # From the last one on, since `seq` must be unique in a session after every single update.
        "SELECT id FROM messages WHERE session_id = ? AND seq >= ? ORDER BY seq DESC",
        (session_id, seq),
    ).fetchall():
        connection.execute("UPDATE messages SET seq = seq + 1 WHERE id = ?", (later,))
    insert_message(connection, message, session_id=session_id, parent_id=parent, seq=seq)
    connection.execute("UPDATE messages SET parent_id = ? WHERE id = ?", (str(message.id), below))
    update_message_count(connection, session_id)
    return load_message(connection, str(message.id))


def turn_position_of(connection: sqlite3.Connection, message_id: str) -> TurnPosition:
    """Return the position of a message that is stored. For the user's previous activity only the eight most recent sessions are
    searched, which include the last one the user wrote in. Raise StorageError.
    """
    visible, by_user = connection.execute(COUNT_UP_TO_MESSAGE, (message_id,)).fetchone()
    return _build_turn_position(connection, session_of(connection, message_id), message_id, visible, by_user)


def turn_position_of_next(connection: sqlite3.Connection, session_id: str) -> TurnPosition:
    """Return the position that the next message of the user in a session will have."""
    visible, by_user = connection.execute(COUNT_IN_SESSION, (session_id,)).fetchone()
    return _build_turn_position(connection, session_id, "", visible + 1, by_user + 1)


def _build_turn_position(
    connection: sqlite3.Connection, session_id: str, message_id: str, visible: int, by_user: int
) -> TurnPosition:
    newest = connection.execute(NEWEST_SESSIONS, (session_id,)).fetchall()
    rows = [connection.execute(SELECT_LAST_USER_TIME, (guid, message_id)).fetchone() for (guid,) in newest]
    times = parse_rows(lambda row: datetime.fromisoformat(row[0]), [row for row in rows if row])
    (has_later,) = connection.execute(HAS_LATER_SESSION, (session_id,)).fetchone()
    return TurnPosition(visible, by_user, max(times, default=None), is_latest=not has_later)


def append_alternative(connection: sqlite3.Connection, message_id: str, alternative: Alternative) -> int:
    """Add an alternative, display it and return its position."""
    session_id = session_of(connection, message_id)
    position = _count_alternatives(connection, message_id)
    row = incognito.keep_text(connection, _alternative_row(message_id, position, alternative))
    insert(connection, "alternatives", row)
    connection.execute("UPDATE messages SET shown = ? WHERE id = ?", (position, message_id))
    values = {"session": session_id, "time": utc_text(alternative.created), "now": utc_text(now())}
    connection.execute(RAISE_LAST_ACTIVITY, values)
    return position


def replace_alternative(connection: sqlite3.Connection, message_id: str, position: int, alternative: Alternative) -> None:
    """Overwrite the alternative at a position. Raise StorageError if there is none."""
    row = incognito.keep_text(connection, _alternative_row(message_id, position, alternative))
    if update(connection, "alternatives", "message_id, position", row) == 0:
        raise StorageError("This message no longer exists.", "It may have been deleted.")


def remove_alternative(connection: sqlite3.Connection, message_id: str, position: int) -> None:
    """Delete an alternative. Later ones move up; the displayed one stays displayed, or its neighbour takes its place.

    Raise StorageError for the only alternative of a message.
    """
    count = _count_alternatives(connection, message_id)
    _check_position(position, count)
    if count == 1:
        raise StorageError("The only version of a message cannot be removed.", "Delete the message instead.")
    key = (message_id, position)
    connection.execute("DELETE FROM alternatives WHERE message_id = ? AND position = ?", key)
    incognito.remove_text(connection, message_id, position, count)
    for later in range(position + 1, count):  # one by one, since two may not share a position even for a moment
        connection.execute(
            "UPDATE alternatives SET position = position - 1 WHERE message_id = ? AND position = ?", (message_id, later)
        )
    connection.execute(
        "UPDATE messages SET shown = CASE WHEN shown > ? THEN shown - 1 ELSE min(shown, ?) END WHERE id = ?",
        (position, count - 2, message_id),
    )


def show_alternative(connection: sqlite3.Connection, message_id: str, position: int) -> None:
    """Display the alternative at a position. Raise StorageError if there is none."""
    session_of(connection, message_id)
    _check_position(position, _count_alternatives(connection, message_id))
    connection.execute("UPDATE messages SET shown = ? WHERE id = ?", (position, message_id))


def update_message_count(connection: sqlite3.Connection, session_id: str) -> None:
    """Update the number of visible messages of a session."""
    connection.execute(
        "UPDATE sessions SET message_count ="
        " (SELECT count(*) FROM messages WHERE session_id = :id AND deleted_at IS NULL AND hidden = 0) WHERE guid = :id",
        {"id": session_id},
    )


def insert_message(connection: sqlite3.Connection, message: Message, **columns: ColumnValue) -> None:
    """Insert a message with its alternatives; `columns` are its position and what differs from the record."""
    shown = min(message.shown, len(message.alternatives) - 1)
    insert(connection, "messages", {**column_values(message, MESSAGE_COLUMNS), **columns, "shown": shown})
    for number, alternative in enumerate(message.alternatives):
        row = _alternative_row(str(columns.get("id", message.id)), number, alternative)
        insert(connection, "alternatives", incognito.keep_text(connection, row))


def _alternative_row(message_id: str, position: int, alternative: Alternative) -> dict[str, ColumnValue]:
    row = column_values(alternative, ALTERNATIVE_COLUMNS)
    return {**row, "message_id": message_id, "position": position, "length": len(str(row["content"]))}


def _count_alternatives(connection: sqlite3.Connection, message_id: str) -> int:
    return int(connection.execute("SELECT count(*) FROM alternatives WHERE message_id = ?", (message_id,)).fetchone()[0])


def _check_position(position: int, count: int) -> None:
    if not 0 <= position < count:
        raise StorageError(f"The message has {count} swipes, so there is no number {position + 1}.")
