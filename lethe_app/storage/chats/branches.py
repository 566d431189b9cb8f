"""Queries for the messages of the displayed branch.

Every message references its parent, which may be in the trash; a branch is the chain of parents from the session's tip
upwards, without messages in the trash. Deleting and restoring therefore change one cell each, in any order. A parent changes
only when a message is inserted above or erased for good, and when sessions are split or merged. A parent always has a
smaller `seq` than its children; a session that never branched is simply ordered by `seq`.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from uuid import UUID

from lethe_app.domain.chat import MessageOutline, Role
from lethe_app.errors import StorageError

ROLES = {role.value: role for role in Role}
"""Roles by value; a dictionary is faster than ten thousand enum lookups."""

SELECT_NEAREST_UNDELETED = """
WITH RECURSIVE up (id, parent_id, deleted_at) AS (
    SELECT id, parent_id, deleted_at FROM messages WHERE id = ?
    UNION ALL
    SELECT m.id, m.parent_id, m.deleted_at FROM up JOIN messages m ON m.id = up.parent_id WHERE up.deleted_at IS NOT NULL
)
SELECT id FROM up WHERE deleted_at IS NULL
"""

SELECT_ANCESTORS = """
WITH RECURSIVE up (id, parent_id, deleted_at) AS (
    SELECT id, parent_id, deleted_at FROM messages WHERE id = ?
    UNION ALL
    SELECT m.id, m.parent_id, m.deleted_at FROM up JOIN messages m ON m.id = up.parent_id
)
SELECT id FROM up WHERE deleted_at IS NULL LIMIT ?
"""

SELECT_NEWEST_DESCENDANT = """
WITH RECURSIVE down (id, seq) AS (
    SELECT id, seq FROM messages WHERE id = ?
    UNION ALL SELECT m.id, m.seq FROM down JOIN messages m ON m.parent_id = down.id WHERE m.deleted_at IS NULL)
SELECT id FROM down ORDER BY seq DESC LIMIT 1
"""

SELECT_OUTLINE = """
SELECT m.id, m.parent_id, m.deleted_at, m.role, m.hidden, a.length
FROM messages m LEFT JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
WHERE m.session_id = ? ORDER BY m.seq DESC
"""

SELECT_PAGE = """
SELECT id FROM messages INDEXED BY messages_in_order
WHERE session_id = ? AND deleted_at IS NULL ORDER BY seq LIMIT ? OFFSET ?
"""


@dataclass(frozen=True)
class BranchState:
    """Tip of the displayed branch, which may be in the trash, and whether the session has other branches."""

    tip: str | None
    branched: bool


def branch_state(connection: sqlite3.Connection, session_id: str) -> BranchState:
    """Return tip and branching of a session. Raise `StorageError` if it does not exist or is in the trash."""
    row = connection.execute(
        "SELECT tip_id, branched FROM sessions JOIN memories USING (guid) WHERE guid = ? AND deleted_at IS NULL", (session_id,)
    ).fetchone()
    if row is None:
        raise StorageError("This conversation no longer exists.", "It may be in the Trash.")
    return BranchState(row[0], bool(row[1]))


def nearest_undeleted(connection: sqlite3.Connection, message_id: str | None) -> str | None:
    """Return the message itself or, if it is in the trash, its nearest ancestor that is not; None if there is none."""
    row = connection.execute(SELECT_NEAREST_UNDELETED, (message_id,)).fetchone()
    return str(row[0]) if row else None


def newest_descendant(connection: sqlite3.Connection, message_id: str) -> str:
    """Return the message with which the branch ends that was continued last below a message; it must exist."""
    return str(connection.execute(SELECT_NEWEST_DESCENDANT, (message_id,)).fetchone()[0])


def outline(connection: sqlite3.Connection, session_id: str) -> list[MessageOutline]:
    """Return an outline of the displayed branch, oldest first, in one pass over the session from its newest message."""
    next_id = branch_state(connection, session_id).tip
    outlines = []
    for id_, parent, deleted, role, hidden, length in connection.execute(SELECT_OUTLINE, (session_id,)):
        if id_ == next_id:
            next_id = parent
            if deleted is None:
                outlines.append(MessageOutline(UUID(id_), ROLES.get(role, Role.SYSTEM), bool(hidden), length or 0))
    outlines.reverse()
    return outlines


def page_of_message_ids(connection: sqlite3.Connection, session_id: str, start: int, count: int) -> list[str]:
    """Return the ids of `count` messages of the displayed branch from index `start` on, oldest first."""
    state = branch_state(connection, session_id)
    start, count = max(start, 0), max(count, 0)
    if state.branched:
        # A branch can only be found upwards from its tip; the index by seq serves sessions that never branched.
        newest_first = [row[0] for row in connection.execute(SELECT_ANCESTORS, (state.tip, -1))]
        newest_first.reverse()
        return newest_first[start : start + count]
    return [row[0] for row in connection.execute(SELECT_PAGE, (session_id, count, start))]


def newest_message_ids(connection: sqlite3.Connection, session_id: str, count: int, before: str | None) -> list[str]:
    """Return the ids of the last `count` messages of the displayed branch, or of those above `before`, oldest first."""
    tip = branch_state(connection, session_id).tip
    if before is not None:
        row = connection.execute(
            "SELECT parent_id FROM messages WHERE id = ? AND session_id = ?", (before, session_id)
        ).fetchone()
        if row is None:
            raise StorageError("This message no longer exists.")
        tip = row[0]
    ids = [row[0] for row in connection.execute(SELECT_ANCESTORS, (tip, count))]
    ids.reverse()
    return ids
