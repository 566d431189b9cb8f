"""Sessions and their messages, alternatives and branches, with the trash."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message, MessageOutline, Role, SessionSummary
from lethe_app.domain.clock import now
from lethe_app.errors import RecordMissing, StorageError
from lethe_app.storage import key_value, trash
from lethe_app.storage.chats import branches, incognito, messages, receipts, session_events, session_list
from lethe_app.storage.chats.messages import TurnPosition
from lethe_app.storage.chats.receipts import ReplyReceipt
from lethe_app.storage.chats.session_row import insert_session
from lethe_app.storage.database import Database, Store, in_transaction
from lethe_app.storage.key_value import KEY_MOMENT_DAYS, REMOVE_ENTRY
from lethe_app.storage.memory import derived_memories, fact_validity
from lethe_app.storage.memory.derived_memories import Owned
from lethe_app.storage.row_mapping import (
    MEMORY_COLUMNS,
    SESSION_COLUMNS,
    column_values,
    json_list,
    parse_record,
    parse_rows,
    storable_text,
    update,
    utc_text,
)

VARIABLES = "variables"
"""Key of the session state: values of the variables of macros, by message."""
SHARED_VARIABLES = (VARIABLES, "shared")
"""Scope and key of the app state: values of the variables that all sessions share."""
VariableChanges = tuple[Mapping[str, object], Mapping[str, tuple[str | None, str | None]]]
"""Variables to be stored: those of a session by message, and shared ones by name, each with the value that it replaces."""
Mark = Callable[[sqlite3.Connection, Sequence[str], bool], list[Owned]]
"""Function of `trash` that moves records to the trash, or restores them, and returns the memories that follow."""

SELECT_SESSION = f"""
SELECT {", ".join(f"m.{name}" for name in MEMORY_COLUMNS)}, {", ".join(f"s.{name}" for name in SESSION_COLUMNS)}, s.tip_id
FROM sessions s JOIN memories m USING (guid) WHERE guid = ? AND m.deleted_at IS NULL
"""
DISPENSABLE = frozenset((*MEMORY_COLUMNS, *SESSION_COLUMNS)) - {"guid", "persona_id", "is_incognito"}
"""Columns without which a session can still be opened."""
SELECT_TEXTS = """
SELECT m.session_id, m.role, a.content
FROM messages m JOIN sessions s ON s.guid = m.session_id JOIN memories c ON c.guid = s.guid
JOIN alternatives a ON a.message_id = m.id AND a.position = m.shown
WHERE s.persona_id = ? AND NOT s.is_incognito AND c.deleted_at IS NULL AND m.deleted_at IS NULL AND m.hidden = 0
ORDER BY c.added, s.guid, m.seq
"""
SELECT_RECALLABLE = """
SELECT guid FROM sessions s JOIN memories m USING (guid)
WHERE s.persona_id = ? AND m.deleted_at IS NULL AND (m.sticky OR (m.enabled AND m.keywords_main <> '[]'))
"""


class SessionStore(Store):
    """Store of sessions and messages. Every method is one transaction. Records in the trash do not exist for any method but
    those for the trash.
    """

    def __init__(
        self,
        database: Database,
        redact: Callable[[str], str] = lambda text: text,
        on_memories_changed: Callable[[str, list[UUID]], None] = lambda _persona_id, _memories: None,
    ) -> None:
        """Create the store. `redact` returns what is stored of a text of the user; `on_memories_changed` receives a persona and
        its memories that went to the trash or came back with the messages they were made of.
        """
        self._database, self._redact, self._on_memories_changed = database, redact, on_memories_changed

    # Sessions

    @in_transaction
    def save_variables(self, connection: sqlite3.Connection, session_id: UUID, changes: VariableChanges) -> None:
        """Store variables. A shared one that has another value meanwhile stays, and an incognito session changes none."""
        snapshots, changed = changes
        key_value.set_session_value(connection, session_id, VARIABLES, dict(snapshots))
        if not changed or incognito.is_session_incognito(connection, str(session_id)):
            return
        stored = key_value.app_values(connection, [SHARED_VARIABLES]).get(SHARED_VARIABLES)
        shared = dict(stored) if isinstance(stored, dict) else {}
        shared |= {name: value for name, (expected, value) in changed.items() if shared.get(name) == expected}
        shared = {name: value for name, value in shared.items() if value is not None}
        key_value.set_app_value(connection, *SHARED_VARIABLES, shared)

    @in_transaction
    def add_session(self, connection: sqlite3.Connection, session: ChatSession) -> ChatSession:
        """Store a new, empty session; `leaf_id` is ignored, since it follows from the messages."""
        insert_session(connection, session, last_activity=utc_text(min(session.added, now())))
        return load_session(connection, str(session.guid))

    @in_transaction
    def session(self, connection: sqlite3.Connection, guid: UUID) -> ChatSession:
        """Return a session. Raise StorageError if it does not exist or is in the trash."""
        return load_session(connection, str(guid))

    @in_transaction
    def dictated_messages_of_ended_sessions(self, connection: sqlite3.Connection) -> list[UUID]:
        """Return the dictated messages of archived sessions that are not in the trash."""
        query = """
            SELECT t.id FROM messages t JOIN sessions s ON s.guid = t.session_id
            WHERE t.mode = 'voice' AND t.deleted_at IS NULL AND s.archived
        """
        return [UUID(id_) for (id_,) in connection.execute(query)]

    @in_transaction
    def title_of(self, connection: sqlite3.Connection, guid: UUID) -> str:
        """Return the title under which a session is listed; empty if it has neither a name nor a message."""
        query = f"SELECT {session_list.shown_title('memories')} FROM memories WHERE guid = ?"
        row = connection.execute(query, (str(guid),)).fetchone()
        return str(row[0]) if row is not None else ""

    @in_transaction
    def change_session(self, connection: sqlite3.Connection, guid: UUID, /, **fields: object) -> ChatSession:
        """Replace only the given fields of the session's current record: one read earlier may contain an outdated `leaf_id`."""
        current = load_session(connection, str(guid))
        changed = ChatSession.model_validate({**current.model_dump(), **fields})
        memory, row = column_values(changed, MEMORY_COLUMNS), column_values(changed, SESSION_COLUMNS)
        update(connection, "memories", "guid", {**memory, "persona_id": row["persona_id"]})
        update(connection, "sessions", "guid", {**row, "guid": memory["guid"]})
        return load_session(connection, str(guid))

    @in_transaction
    def restart_session(self, connection: sqlite3.Connection, guid: UUID, moment: datetime, outdated_state: str) -> None:
        """Move a session in which nobody has answered to another time, with its greeting, and delete one value of its state."""
        time = utc_text(moment)
        connection.execute("UPDATE memories SET added = ? WHERE guid = ?", (moment.isoformat(), str(guid)))
        connection.execute("UPDATE sessions SET last_activity = ? WHERE guid = ?", (time, str(guid)))
        connection.execute("UPDATE messages SET time = ? WHERE session_id = ?", (moment.isoformat(), str(guid)))
        key_value.set_session_value(connection, guid, outdated_state, None)

    async def erase_incognito(self, guid: UUID) -> None:
        """Erase an incognito session for good, also from the files of the database."""
        await self._database.run(lambda connection: incognito.erase(connection, str(guid)))
        await self._database.scrub()

    @in_transaction
    def set_leaf(self, connection: sqlite3.Connection, session_id: UUID, message_id: UUID) -> None:
        """Display the branch that ends with this message; the next message follows it. Raise StorageError."""
        tip = branches.branch_state(connection, str(session_id)).tip
        if messages.session_of(connection, str(message_id)) != str(session_id):
            raise StorageError("A conversation cannot end with a message of another conversation.")
        if branches.nearest_undeleted(connection, tip) != str(message_id):
            connection.execute(
                "UPDATE sessions SET tip_id = ?, branched = 1 WHERE guid = ?", (str(message_id), str(session_id))
            )

    @in_transaction
    def end_of_branch(self, connection: sqlite3.Connection, message_id: UUID) -> UUID:
        """Return the newest descendant of a message. Raise StorageError if the message is gone."""
        messages.session_of(connection, str(message_id))
        return UUID(branches.newest_descendant(connection, str(message_id)))

    @in_transaction
    def sessions(
        self,
        connection: sqlite3.Connection,
        persona_id: str | None = None,
        *,
        limit: int | None = None,
        with_incognito: bool = False,
    ) -> list[SessionSummary]:
        """Return sessions of one persona or of all, newest activity first, at most `limit`. Incognito sessions are left out
        unless they are asked for.
        """
        if persona_id is None:
            return session_list.summaries(connection, limit=limit, incognito=with_incognito)
        condition = session_list.OF_PERSONA
        return session_list.summaries(connection, condition, persona=persona_id, limit=limit, incognito=with_incognito)

    async def newest_session(self, persona_id: str) -> SessionSummary | None:
        """Return the persona's session with the latest activity, or None."""
        return next(iter(await self.sessions(persona_id, limit=1)), None)

    @in_transaction
    def unarchived_sessions(self, connection: sqlite3.Connection) -> list[SessionSummary]:
        """Return the sessions of all personas that are not archived, newest activity first, without previews."""
        return session_list.summaries(connection, session_list.IS_OPEN)

    @in_transaction
    def sessions_before(self, connection: sqlite3.Connection, session: ChatSession, limit: int) -> list[SessionSummary]:
        """Return sessions that began before this one (to the millisecond) and contain a message of the user: the `limit`
        newest ones and all sticky ones.
        """
        persona_id, guid, moment = session.persona_id, str(session.guid), session.added.isoformat()
        condition = session_list.IS_EARLIER
        return session_list.summaries(
            connection, condition, persona=persona_id, guid=guid, moment=moment, now=now().isoformat(), recent=limit
        )

    @in_transaction
    def recallable_sessions(self, connection: sqlite3.Connection, persona_id: str) -> list[ChatSession]:
        """Return the sessions that are recalled always (sticky) or by keywords of their own."""
        return load_recallable(connection, persona_id)

    @in_transaction
    def turn_position_of(self, connection: sqlite3.Connection, message_id: UUID) -> TurnPosition:
        """Return the position of a message in its session and the user's previous activity."""
        return messages.turn_position_of(connection, str(message_id))

    async def delete_session(self, guid: UUID) -> None:
        """Move a session to the trash. Raise StorageError."""
        await self._mark(trash.mark_sessions, [guid], is_deleted=True)

    async def restore_session(self, guid: UUID) -> None:
        """Restore a session from the trash. Raise StorageError if it is not there."""
        await self._mark(trash.mark_sessions, [guid], is_deleted=False)

    # Messages

    @in_transaction
    def add_message(self, connection: sqlite3.Connection, message: Message, requested_language: str = "") -> Message:
        """Store a message after the tip of the displayed branch, or under its own `Message.parent_id`, with the switches it
        makes.

        `requested_language` is the language that the user asks for in it. Raise StorageError.
        """
        stored = messages.add(connection, self.redact(message))
        session_events.note_switches(connection, stored, requested_language)
        return stored

    @in_transaction
    def insert_above(self, connection: sqlite3.Connection, message: Message, below: UUID) -> Message:
        """Insert a message directly above another one of its session. Raise StorageError if that is gone."""
        return messages.insert_above(connection, str(below), message)

    @in_transaction
    def add_messages(self, connection: sqlite3.Connection, new_messages: list[Message]) -> list[Message]:
        """Store messages, each after the one before; all or none."""
        return [messages.add(connection, self.redact(message)) for message in new_messages]

    def redact(self, message: Message) -> Message:
        """Return a message as it is stored: one of the user without identifying data, if the user wants that."""
        if message.role is not Role.USER:
            return message
        alternatives = [one.model_copy(update={"content": self._redact(one.content)}) for one in message.alternatives]
        return message.model_copy(update={"alternatives": alternatives})

    @in_transaction
    def message(self, connection: sqlite3.Connection, message_id: UUID) -> Message:
        """Return a message. Raise StorageError if it does not exist or is in the trash."""
        return messages.load_message(connection, str(message_id))

    @in_transaction
    def store_reply(
        self,
        connection: sqlite3.Connection,
        message: Message,
        position: int | None,
        alternative: Alternative,
        *,
        is_new: bool,
        receipt: ReplyReceipt | None = None,
    ) -> tuple[Message, int]:
        """Store an alternative at `position` of its message; without a position as the newest one, or as a new message if
        `is_new`. The receipt of its prompt is stored with it.

        Return the stored message and the position of the alternative. Raise StorageError if the message is gone.
        """
        stored_position = position
        if stored_position is not None:
            messages.replace_alternative(connection, str(message.id), stored_position, alternative)
        elif is_new:
            messages.add(connection, message.model_copy(update={"alternatives": [alternative]}))
            stored_position = 0
        else:
            stored_position = messages.append_alternative(connection, str(message.id), alternative)
        if receipt is not None:
            receipts.save_receipt(connection, message.id, receipt)
        return messages.load_message(connection, str(message.id)), stored_position

    async def edit_message(self, message_id: UUID, content: str, *, language: str = "", is_sensitive: bool = False) -> Message:
        """Change the text of the displayed alternative with what was detected in it; the others remain."""
        text = storable_text(self._redact(content))
        changes = {"content": text, "is_cut": False, "language": language, "is_sensitive": is_sensitive}

        def work(connection: sqlite3.Connection) -> tuple[Message, list[Owned]]:
            message = messages.load_message(connection, str(message_id))
            edited = message.current.model_copy(update=changes)
            messages.replace_alternative(connection, str(message_id), message.shown, edited)
            return _follow_text(connection, message)

        return await self._change_shown(work)

    async def restore_shown(self, before: Message) -> Message:
        """Restore the text of the alternative displayed in `before`, and display it."""

        def work(connection: sqlite3.Connection) -> tuple[Message, list[Owned]]:
            edited = messages.load_message(connection, str(before.id))
            messages.show_alternative(connection, str(before.id), before.shown)
            messages.replace_alternative(connection, str(before.id), before.shown, before.current)
            return _follow_text(connection, edited)

        return await self._change_shown(work)

    async def set_shown(self, message_id: UUID, position: int) -> Message:
        """Display the alternative at a position and return the message. Raise StorageError if there is none."""

        def work(connection: sqlite3.Connection) -> tuple[Message, list[Owned]]:
            before = messages.load_message(connection, str(message_id))
            messages.show_alternative(connection, str(message_id), position)
            return _follow_text(connection, before)

        return await self._change_shown(work)

    @in_transaction
    def replace_alternative(
        self, connection: sqlite3.Connection, message_id: UUID, position: int, alternative: Alternative
    ) -> None:
        """Overwrite an alternative. It is cheap enough to be called while a reply is streamed."""
        messages.replace_alternative(connection, str(message_id), position, alternative)

    @in_transaction
    def remove_alternative(self, connection: sqlite3.Connection, message_id: UUID, position: int) -> Message:
        """Delete an alternative for good, such as that of a reply without text."""
        messages.session_of(connection, str(message_id))
        messages.remove_alternative(connection, str(message_id), position)
        return messages.load_message(connection, str(message_id))

    async def delete_message(self, *message_ids: UUID) -> None:
        """Move messages to the trash, all or none; their descendants remain on the branch."""
        await self._mark(trash.mark_messages, message_ids, is_deleted=True)

    async def restore_message(self, *message_ids: UUID) -> None:
        """Restore messages from the trash to their former positions, all or none."""
        await self._mark(trash.mark_messages, message_ids, is_deleted=False)

    async def _mark(self, mark: Mark, ids: Sequence[UUID], *, is_deleted: bool) -> None:
        """Move sessions or messages to the trash or back, and report the memories that follow them."""
        self._report(await self._database.run(lambda connection: mark(connection, [str(id_) for id_ in ids], is_deleted)))

    async def _change_shown(self, change: Callable[[sqlite3.Connection], tuple[Message, list[Owned]]]) -> Message:
        """Change the displayed text of a message and return it; report the memories that follow it."""
        message, followers = await self._database.run(change)
        self._report(followers)
        return message

    def _report(self, followers: Sequence[Owned]) -> None:
        for persona_id in dict.fromkeys(persona for persona, _guid in followers):
            self._on_memories_changed(persona_id, [UUID(guid) for persona, guid in followers if persona == persona_id])

    @in_transaction
    def find_erased(self, connection: sqlite3.Connection, guids: Collection[str]) -> set[str]:
        """Return those of these sessions that do not exist any more, not even in the trash."""
        query = "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT guid FROM sessions)"
        return {guid for (guid,) in connection.execute(query, (json_list(guids),))}

    @in_transaction
    def existing_ids(self, connection: sqlite3.Connection, persona_id: str) -> set[str]:
        """Return the ids of a persona's sessions, including those in the trash."""
        return {guid for (guid,) in connection.execute("SELECT guid FROM sessions WHERE persona_id = ?", (persona_id,))}

    # Displayed branch

    @in_transaction
    def outline(self, connection: sqlite3.Connection, session_id: UUID) -> list[MessageOutline]:
        """Return an outline of the displayed branch, oldest first."""
        return branches.outline(connection, str(session_id))

    @in_transaction
    def page(self, connection: sqlite3.Connection, session_id: UUID, start: int, count: int) -> list[Message]:
        """Return messages of the displayed branch by their index in the outline."""
        return messages.load(connection, branches.page_of_message_ids(connection, str(session_id), start, count))

    @in_transaction
    def texts_of(self, connection: sqlite3.Connection, persona_id: str) -> list[list[tuple[Role, str]]]:
        """Return role and text of the visible messages of each session of a persona, in order of time."""
        by_session = dict[str, list[tuple[Role, str]]]()
        for session, role, text in connection.execute(SELECT_TEXTS, (persona_id,)):
            by_session.setdefault(session, []).append((Role(role), text))
        return list(by_session.values())

    @in_transaction
    def newest_messages(
        self, connection: sqlite3.Connection, session_id: UUID, count: int, before: UUID | None = None
    ) -> list[Message]:
        """Return the last `count` messages of the displayed branch, oldest first; with `before`, those above that message."""
        above = str(before) if before else None
        return messages.load(connection, branches.newest_message_ids(connection, str(session_id), count, above))


def _follow_text(connection: sqlite3.Connection, before: Message) -> tuple[Message, list[Owned]]:
    """Return a message whose displayed text may have changed, and the memories that followed it, as the facts did."""
    after = messages.load_message(connection, str(before.id))
    id_, session, old, new = str(before.id), str(before.session_id), before.current.content, after.current.content
    if old == new:
        return after, []
    fact_validity.follow_text(connection, id_, old, new)
    restored = derived_memories.restore(connection, [f"{id_} {fact_validity.digest_of(new)}"])
    cause = f"{id_} {fact_validity.digest_of(old)}"
    connection.execute(REMOVE_ENTRY, (before.time.date().isoformat(), KEY_MOMENT_DAYS, session))
    return after, [*restored, *derived_memories.withdraw(connection, cause, session, [id_], [old])]


def load_recallable(connection: sqlite3.Connection, persona_id: str) -> list[ChatSession]:
    """Return the sessions of a persona that are sticky or have keywords of their own."""
    rows = connection.execute(SELECT_RECALLABLE, (persona_id,)).fetchall()
    return parse_rows(lambda row: load_session(connection, row[0]), rows)


def load_session(connection: sqlite3.Connection, guid: str) -> ChatSession:
    """Return one session. Raise RecordMissing if it does not exist or is in the trash."""
    row = connection.execute(SELECT_SESSION, (guid,)).fetchone()
    if row is None:
        raise RecordMissing("This conversation no longer exists.", "It may be in the Trash.")
    values = dict(zip((*MEMORY_COLUMNS, *SESSION_COLUMNS), row[:-1], strict=True))
    leaf = branches.nearest_undeleted(connection, row[-1])
    return parse_record(ChatSession, {**values, "leaf_id": leaf}, DISPENSABLE)
