"""Splits and joins conversations and puts messages into old ones, each in one transaction and so that it can be taken back.

Messages keep their order, their branches and their dates. Where one moves to another conversation, what is derived from it is
owed to the passages again, and facts that were taken from it name the conversation in which it stands now.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.changes import Before
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.errors import StorageError
from lethe_app.storage.chats import branches, messages, split_merge
from lethe_app.storage.chats.message_position import marks, owe, update_session_row
from lethe_app.storage.chats.split_merge_undo import put_back, snapshot
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, SESSION_COLUMNS, cells, insert

DESCENDANTS = """
WITH RECURSIVE down (id) AS (
    SELECT ? UNION ALL SELECT m.id FROM down JOIN messages m ON m.parent_id = down.id)
SELECT id FROM down
"""
COPIED_STATE = ("worlds", "scratch")
"""What a conversation keeps besides its words and is as true of the part that is split off."""


class Reshaping:
    """Every method is one transaction; what is in the trash goes along with what it belongs to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def split(self, message_id: UUID, fresh: ChatSession) -> Before:
        """Everything from this message on becomes the new conversation `fresh`, other branches below it included.

        Raises StorageError for a message that is not on display, or with which its conversation begins.
        """

        def work(connection: sqlite3.Connection) -> Before:
            here = str(message_id)
            old = messages.session_of(connection, here)
            branch = branches.newest(connection, old, -1, None)
            if here not in branch:
                raise StorageError("A conversation can only be split where it is on display.")
            if branch[0] == here:
                raise StorageError("This message begins the conversation already.")
            before = snapshot(connection, [old], made=[str(fresh.guid)])
            _move_down(connection, old, here, fresh)
            return before

        return await self._database.run(work)

    async def merge(self, guids: Sequence[UUID]) -> Before:
        """Make one conversation of several of one persona's, in the order in which they began; it is the earliest of them.

        `Before.kept` names it. Raises StorageError where there are not several, or they are not one persona's.
        """

        def work(connection: sqlite3.Connection) -> Before:
            wanted = split_merge.in_order(connection, list(dict.fromkeys(map(str, guids))))
            before = snapshot(connection, wanted)
            split_merge.join(connection, wanted)
            return before

        return await self._database.run(work)

    async def insert(self, message: Message, above: UUID | None) -> Message:
        """Put a message above another one of its session, or at the end of the branch on display."""

        def work(connection: sqlite3.Connection) -> Message:
            if above is None:
                return messages.add(connection, message)
            if messages.session_of(connection, str(above)) != str(message.session_id):
                raise StorageError("A message cannot stand above one of another conversation.")
            made = messages.insert_above(connection, str(above), message)
            owe(connection, str(message.session_id))  # all below it have moved on by one place
            return made

        return await self._database.run(work)

    async def take_out(self, message_id: UUID) -> None:
        """Undo `insert`: the message is gone for good, and what followed it follows the one before."""

        def work(connection: sqlite3.Connection) -> None:
            here = str(message_id)
            session = messages.session_of(connection, here)
            (parent,) = connection.execute("SELECT parent_id FROM messages WHERE id = ?", (here,)).fetchone()
            connection.execute("UPDATE messages SET parent_id = ? WHERE parent_id = ?", (parent, here))
            connection.execute("UPDATE sessions SET tip_id = ? WHERE tip_id = ?", (parent, here))
            connection.execute("DELETE FROM messages WHERE id = ?", (here,))
            update_session_row(connection, session)
            owe(connection, session)

        await self._database.run(work)

    async def undo(self, before: Before) -> None:
        """Make it as it was, with what was said since then where it belongs now."""
        await self._database.run(lambda connection: put_back(connection, before))


def _move_down(connection: sqlite3.Connection, old: str, first: str, fresh: ChatSession) -> None:
    """The message and all below it go to the new session, which ends where the old one ended."""
    new, (parent,) = (
        str(fresh.guid),
        connection.execute("SELECT parent_id FROM messages WHERE id = ?", (first,)).fetchone(),
    )
    row = cells(fresh, SESSION_COLUMNS)
    insert(connection, "memories", {**cells(fresh, MEMORY_COLUMNS), "persona_id": row["persona_id"]})
    insert(connection, "sessions", {**row, "guid": new, "last_activity": "", "tip_id": branches.standing(connection, old).tip})
    moved = [(new, id_) for (id_,) in connection.execute(DESCENDANTS, (first,)).fetchall()]
    connection.executemany("UPDATE messages SET session_id = ? WHERE id = ?", moved)
    connection.execute("UPDATE messages SET parent_id = NULL WHERE id = ?", (first,))
    connection.execute("UPDATE sessions SET tip_id = ? WHERE guid = ?", (parent, old))
    connection.execute(
        f"INSERT INTO session_state (session_id, key, value) SELECT ?, key, value FROM session_state"  # noqa: S608 - ours
        f" WHERE session_id = ? AND key IN ({marks(COPIED_STATE)})",
        (new, old, *COPIED_STATE),
    )
    split_merge.rename_sources(connection, old, [id_ for _new, id_ in moved], new)
    for session in (old, new):
        update_session_row(connection, session)
        owe(connection, session)
