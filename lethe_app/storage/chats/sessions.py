"""Keeps conversations: sessions, their messages with every wording, and the trash from which all of it comes back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message, MessageOutline, SessionSummary
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.storage import trash
from lethe_app.storage.chats import branches, messages, session_list
from lethe_app.storage.chats.messages import MessageStanding
from lethe_app.storage.database import Database
from lethe_app.storage.row_mapping import MEMORY_COLUMNS, SESSION_COLUMNS, cells, insert, storable, understood, update, utc

T = TypeVar("T")

SESSION = f"""
SELECT {", ".join(f"m.{name}" for name in MEMORY_COLUMNS)}, {", ".join(f"s.{name}" for name in SESSION_COLUMNS)}, s.tip_id
FROM sessions s JOIN memories m USING (guid) WHERE guid = ? AND m.deleted_at IS NULL
"""  # noqa: S608 - names are ours


class Chats:
    """Every method is one transaction. What is in the trash is not there for any method but those that name it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Sessions

    async def add_session(self, session: ChatSession) -> ChatSession:
        """A new session is empty: its `leaf_id` follows from the messages added to it."""
        row = cells(session, SESSION_COLUMNS)

        def work(connection: sqlite3.Connection) -> ChatSession:
            memory = cells(session, MEMORY_COLUMNS)
            insert(connection, "memories", {**memory, "persona_id": row["persona_id"]})
            insert(connection, "sessions", {**row, "guid": memory["guid"], "last_activity": utc(session.added)})
            return _session(connection, str(session.guid))

        return await self._database.run(work)

    async def session(self, guid: UUID) -> ChatSession:
        return await self._database.run(lambda connection: _session(connection, str(guid)))

    async def change_session(self, guid: UUID, **fields: object) -> ChatSession:
        """Replace some fields of a session as it is now, and no others: a record read earlier may know an old `leaf_id`."""

        def work(connection: sqlite3.Connection) -> ChatSession:
            known = _session(connection, str(guid))
            changed = ChatSession.model_validate({**known.model_dump(), **fields})
            memory, row = cells(changed, MEMORY_COLUMNS), cells(changed, SESSION_COLUMNS)
            update(connection, "memories", "guid", {**memory, "persona_id": row["persona_id"]})
            update(connection, "sessions", "guid", {**row, "guid": memory["guid"]})
            return _session(connection, str(guid))

        return await self._database.run(work)

    async def set_leaf(self, session_id: UUID, message_id: UUID) -> None:
        """Show the branch that ends with this message; the next one added follows it."""

        def work(connection: sqlite3.Connection) -> None:
            tip = branches.standing(connection, str(session_id)).tip
            if messages.session_of(connection, str(message_id)) != str(session_id):
                raise StorageError("A conversation cannot end with a message of another one.")
            if branches.nearest_live(connection, tip) != str(message_id):
                connection.execute(
                    "UPDATE sessions SET tip_id = ?, branched = 1 WHERE guid = ?", (str(message_id), str(session_id))
                )

        await self._database.run(work)

    async def sessions(
        self, persona_id: str | None = None, *, deleted: bool = False, most: int | None = None
    ) -> list[SessionSummary]:
        """Of one persona or of all, newest activity first, no more than `most`; those in the trash instead if `deleted`."""
        return await self._database.run(lambda connection: session_list.listed(connection, persona_id, deleted, most))

    async def newest(self, persona_id: str) -> SessionSummary | None:
        """The session of a persona in which something was said last."""
        return next(iter(await self.sessions(persona_id, most=1)), None)

    async def unarchived(self) -> list[SessionSummary]:
        """Return the sessions of all personas that are not archived, newest activity first, without previews."""
        return await self._database.run(session_list.unarchived)

    async def before(self, session: ChatSession, most: int) -> list[SessionSummary]:
        """Those that began before this one and in which the user said something: the newest `most` and all sticky ones."""
        guid, moment = str(session.guid), session.added.isoformat()
        work = partial(session_list.before, persona_id=session.persona_id, guid=guid, moment=moment, most=most)
        return await self._database.run(work)

    async def mentionable(self, persona_id: str) -> list[ChatSession]:
        """Sessions that are always to be brought up, or by keywords of their own."""

        def work(connection: sqlite3.Connection) -> list[ChatSession]:
            rows = connection.execute(
                "SELECT guid FROM sessions s JOIN memories m USING (guid) WHERE s.persona_id = ? AND m.deleted_at IS NULL"
                " AND (m.sticky OR (m.enabled AND m.keywords_main <> '[]'))",
                (persona_id,),
            ).fetchall()
            return [_session(connection, guid) for (guid,) in rows]

        return await self._database.run(work)

    async def standing(self, message_id: UUID) -> MessageStanding:
        """Where a message stands in its conversation, and when the user had spoken before it."""
        return await self._database.run(lambda connection: messages.standing(connection, str(message_id)))

    async def delete_session(self, guid: UUID) -> None:
        """Move it to the trash."""
        await self._database.run(lambda connection: trash.delete_session(connection, str(guid)))

    async def restore_session(self, guid: UUID) -> None:
        await self._database.run(lambda connection: trash.restore_session(connection, str(guid)))

    # Messages

    async def add_message(self, message: Message) -> Message:
        """Store it after the newest message of the branch on display, or under its `parent_id` if that is another one."""
        return (await self.add_messages([message]))[0]

    async def add_above(self, message: Message, below: UUID) -> Message:
        """Put a message right above another one of its session. Raises StorageError if that is gone."""
        return await self._database.run(lambda connection: messages.insert_above(connection, str(below), message))

    async def add_messages(self, new: list[Message]) -> list[Message]:
        """All of them or none, each after the one before."""
        return await self._database.run(lambda connection: [messages.add(connection, message) for message in new])

    async def message(self, message_id: UUID) -> Message:
        return await self._database.run(lambda connection: messages.load_one(connection, str(message_id)))

    async def edit(self, message_id: UUID, content: str) -> Message:
        """Change the text on display; the other wordings stay."""
        text = storable(content)
        return await self._change(
            message_id,
            lambda connection, id_: connection.execute(
                "UPDATE alternatives SET content = ?, length = ? WHERE message_id = ?"
                " AND position = (SELECT shown FROM messages WHERE id = message_id)",
                (text, len(text), id_),
            ),
        )

    async def restore_shown(self, before: Message) -> Message:
        """Overwrite the wording at the position shown in `before` with its own, and put it on display."""

        def restore(connection: sqlite3.Connection, id_: str) -> None:
            messages.replace_alternative(connection, id_, before.shown, before.current)
            messages.show(connection, id_, before.shown)

        return await self._change(before.id, restore)

    async def set_shown(self, message_id: UUID, position: int) -> Message:
        return await self._change(message_id, lambda connection, id_: messages.show(connection, id_, position))

    async def save_alternative(self, message_id: UUID, alternative: Alternative) -> int:
        """Add another wording, put it on display, and return its position."""
        id_ = str(message_id)
        return await self._database.run(lambda connection: messages.append_alternative(connection, id_, alternative))

    async def replace_alternative(self, message_id: UUID, position: int, alternative: Alternative) -> None:
        """Overwrite one wording: cheap, for keeping a reply while it streams."""
        id_ = str(message_id)
        await self._database.run(lambda connection: messages.replace_alternative(connection, id_, position, alternative))

    async def remove_alternative(self, message_id: UUID, position: int) -> Message:
        """Take back a wording for good, such as a reply that never got a word."""
        return await self._change(message_id, lambda connection, id_: messages.remove_alternative(connection, id_, position))

    async def delete_message(self, *message_ids: UUID) -> None:
        """Move them to the trash together; what follows them stays on the branch."""
        await self._database.run(lambda connection: trash.delete_messages(connection, [str(id_) for id_ in message_ids]))

    async def restore_message(self, *message_ids: UUID) -> None:
        """Bring them back to where they were."""
        await self._database.run(lambda connection: trash.restore_messages(connection, [str(id_) for id_ in message_ids]))

    async def deleted_messages(self, session_id: UUID) -> list[Message]:
        """What is in the trash of one session, in the order it was written."""
        return await self._database.run(lambda connection: trash.messages_of(connection, str(session_id)))

    async def purge(self, days: int, moment: datetime | None = None) -> int:
        """Erase for good what has been in the trash longer than this; returns how many sessions and messages that were."""
        before = utc((moment or now()) - timedelta(days=days))
        return await self._database.run(lambda connection: trash.purge(connection, before))

    # The branch on display

    async def outline(self, session_id: UUID) -> list[MessageOutline]:
        """Every message from the first to the newest."""
        return await self._database.run(lambda connection: branches.outline(connection, str(session_id)))

    async def page(self, session_id: UUID, start: int, count: int) -> list[Message]:
        """Whole messages by their index in the outline."""

        def work(connection: sqlite3.Connection) -> list[Message]:
            return messages.load(connection, branches.window(connection, str(session_id), start, count))

        return await self._database.run(work)

    async def tail(self, session_id: UUID, count: int, before: UUID | None = None) -> list[Message]:
        """The newest `count` messages, oldest first; with `before`, those above that message."""

        def work(connection: sqlite3.Connection) -> list[Message]:
            above = str(before) if before else None
            return messages.load(connection, branches.newest(connection, str(session_id), count, above))

        return await self._database.run(work)

    async def unfinished(self) -> list[Message]:
        """Messages with a wording that is not complete: cut off by a crash, or stopped by the user."""

        def work(connection: sqlite3.Connection) -> list[Message]:
            rows = connection.execute(
                "SELECT DISTINCT t.id FROM alternatives a JOIN messages t ON t.id = a.message_id"
                " JOIN memories m ON m.guid = t.session_id"
                " WHERE a.complete = 0 AND t.deleted_at IS NULL AND m.deleted_at IS NULL ORDER BY t.session_id, t.seq"
            )
            return messages.load(connection, [row[0] for row in rows])

        return await self._database.run(work)

    async def _change(self, message_id: UUID, change: Callable[[sqlite3.Connection, str], object]) -> Message:
        """Change one message that is not in the trash and return it as it is now."""
        id_ = str(message_id)

        def work(connection: sqlite3.Connection) -> Message:
            messages.session_of(connection, id_)
            change(connection, id_)
            return messages.load_one(connection, id_)

        return await self._database.run(work)


def _session(connection: sqlite3.Connection, guid: str) -> ChatSession:
    row = connection.execute(SESSION, (guid,)).fetchone()
    if row is None:
        raise StorageError("This conversation is no longer there.", "It may be in the trash.")
    values = dict(zip((*MEMORY_COLUMNS, *SESSION_COLUMNS), row[:-1], strict=True))
    return understood(ChatSession, {**values, "leaf_id": branches.nearest_live(connection, row[-1])})
