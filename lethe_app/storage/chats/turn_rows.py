"""Records that one turn reads from the database, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message, Role, SessionSummary
from lethe_app.errors import StorageError
from lethe_app.storage import key_value
from lethe_app.storage.chats import branches, messages, receipts, session_list, sessions
from lethe_app.storage.chats.messages import TurnPosition
from lethe_app.storage.database import Store, in_transaction
from lethe_app.storage.index import pending
from lethe_app.storage.memory import turn_memories
from lethe_app.storage.memory.turn_memories import NO_TURN, StoredTurn

Files = TypeVar("Files")
MAX_MESSAGES_SEARCHED = 24
"""Messages from the end of a session among which the user's newest one is looked for."""

COUNT_MESSAGES_BEFORE = """
SELECT (SELECT count(*) FROM messages m WHERE m.session_id = first.session_id AND m.seq < first.seq
        AND m.deleted_at IS NULL AND m.hidden = 0 AND m.role IN ('user', 'assistant'))
FROM messages first WHERE first.id = ? AND first.session_id = ? AND first.deleted_at IS NULL
"""


@dataclass(frozen=True)
class TurnScope(Generic[Files]):
    """Selection of the records that a turn reads besides its session; it depends on what is stored with the session."""

    files: Files
    """Records read from the user's files, in the storage thread."""
    min_messages: int
    """Minimum number of messages, counted from the newest one."""
    max_messages: int
    """Maximum number of messages of each session."""
    first_message: UUID | None = None
    """Message with which the session's history in the prompt begins; None is the first one of the session."""
    past_sessions: Sequence[UUID] = ()
    """Earlier sessions that are in the prompt word for word."""
    app_state: Sequence[tuple[str, str]] = ()
    """Scope and key of the values of the app state to read."""


@dataclass(frozen=True)
class TurnRows(Generic[Files]):
    """Session with the records that a turn needs."""

    session: ChatSession
    scope: TurnScope[Files]
    newest_session: SessionSummary | None
    """Session of the persona with the newest activity."""
    messages: Sequence[Message]
    """Messages above the reply that is to be generated, oldest first."""
    past_messages: Mapping[UUID, Sequence[Message]]
    """Messages of the earlier sessions that still exist."""
    states: Mapping[str, object]
    """State of the session by key."""
    past_states: Mapping[UUID, Mapping[str, object]]
    app_state: Mapping[tuple[str, str], object]
    recallable_sessions: Sequence[ChatSession]
    """Sessions of the persona that are sticky or have keywords of their own."""
    turn_position: TurnPosition
    """Position of the user's newest message, or of the one that is about to be added."""
    messages_before: int | None
    """Number of visible messages before `TurnScope.first_message`; None if that message does not exist."""
    is_newest: bool
    """True if no message of the user follows those in `messages`."""
    has_pending: bool
    """True if records other than this session and its messages are queued for indexing."""
    deletions: int
    """Number of deletions of the persona's memories; a prompt built before a deletion is not stored after it."""
    turn: StoredTurn = NO_TURN
    """What was recalled for the user's newest message."""


class TurnReader(Store):
    """Reader of the records that a turn needs."""

    @in_transaction
    def read(
        self,
        connection: sqlite3.Connection,
        session_id: UUID,
        before: UUID | None,
        make_scope: Callable[[ChatSession, Mapping[str, object]], TurnScope[Files]],
        *,
        adds_user_message: bool = False,
    ) -> TurnRows[Files]:
        """Read the session with its messages above `before`, or all of them.

        With `adds_user_message`, a message of the user's is about to be stored and `turn_position` is its position.

        `make_scope` is called in the storage thread with the session and its state, and may read files. Raise StorageError if
        the session or `before` is gone, and whatever `make_scope` raises.
        """
        session = sessions.load_session(connection, str(session_id))
        states = key_value.session_values(connection, session_id)
        scope = make_scope(session, states)
        loaded = _messages(connection, session_id, before, scope)
        user_message = newest_user_message(loaded)
        turn = turn_memories.load_turn(connection, user_message.id) if user_message is not None else NO_TURN
        if user_message is None or adds_user_message:
            turn_position = messages.turn_position_of_next(connection, str(session_id))
        else:
            turn_position = messages.turn_position_of(connection, str(user_message.id))
        newest = session_list.summaries(connection, session_list.OF_PERSONA, persona=session.persona_id, limit=1)
        return TurnRows(
            session=session,
            scope=scope,
            newest_session=next(iter(newest), None),
            messages=loaded,
            past_messages={
                guid: found
                for guid in scope.past_sessions
                if (found := _load_past_messages(connection, guid, scope.max_messages)) is not None
            },
            states=states,
            past_states={guid: key_value.session_values(connection, guid) for guid in scope.past_sessions},
            app_state=key_value.app_values(connection, scope.app_state),
            recallable_sessions=sessions.load_recallable(connection, session.persona_id),
            turn_position=turn_position,
            messages_before=_count_messages_before(connection, session_id, scope.first_message),
            is_newest=before is None or _is_newest(connection, str(session_id), user_message),
            has_pending=pending.has_entries_outside(connection, session_id),
            deletions=receipts.count_deletions(connection, session.persona_id),
            turn=turn,
        )

    @in_transaction
    def read_app_state(
        self, connection: sqlite3.Connection, keys: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], object]:
        """Return those of these values of the app state that exist, by scope and key."""
        return key_value.app_values(connection, keys)


def newest_user_message(history: Sequence[Message]) -> Message | None:
    """Return the newest visible message of the user, or None."""
    return next((message for message in reversed(history) if message.role is Role.USER and not message.hidden), None)


def _messages(connection: sqlite3.Connection, session_id: UUID, before: UUID | None, scope: TurnScope[Files]) -> list[Message]:
    """Return the messages from `scope.first_message` on, but at least `scope.min_messages` of them if there are so many."""
    above = str(before) if before is not None else None
    ids = branches.newest_message_ids(connection, str(session_id), max(scope.max_messages, scope.min_messages), above)
    first = str(scope.first_message)
    start_index = ids.index(first) if first in ids else 0
    return messages.load(connection, ids[min(start_index, max(len(ids) - scope.min_messages, 0)) :])


def _load_past_messages(connection: sqlite3.Connection, guid: UUID, limit: int) -> list[Message] | None:
    try:
        return messages.load(connection, branches.newest_message_ids(connection, str(guid), limit, None))
    except StorageError:  # deleted meanwhile
        return None


def _is_newest(connection: sqlite3.Connection, session_id: str, user_message: Message | None) -> bool:
    ids = branches.newest_message_ids(connection, session_id, MAX_MESSAGES_SEARCHED, None)
    return user_message is not None and newest_user_message(messages.load(connection, ids)) == user_message


def _count_messages_before(connection: sqlite3.Connection, session_id: UUID, first: UUID | None) -> int | None:
    if first is None:
        return 0
    row = connection.execute(COUNT_MESSAGES_BEFORE, (str(first), str(session_id))).fetchone()
    return int(row[0]) if row else None
