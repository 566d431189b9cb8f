"""Recall step before a reply: memories for the user's newest message, and the web search it asks for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.model import LoadedModel
from lethe_app.services.events import MemoriesRecalled, NoteAdded, NotesDeleted, WebSearchStarted
from lethe_app.services.memory.recall import RecallService, without_deleted
from lethe_app.services.participants import Participants
from lethe_app.services.prompting.turn_context import TurnContext
from lethe_app.services.web.lookup_note import parse_note
from lethe_app.storage.chats.sessions import SessionStore

WebLookUp = Callable[[ChatSession, Participants, Message], AsyncGenerator[WebSearchStarted | NoteAdded]]
"""Function that searches the web if the message asks for it, and yields what happens."""


class SetReminders(Protocol):
    """Function that sets the reminders a message asks for, for the persona with a unique name."""

    async def __call__(self, persona_id: str, message: Message, *, is_edited: bool) -> None: ...


class RecallStep:
    """Recall once for each message of the user: a regenerated reply gets the same memories as the first one.

    An edited message counts as new: it is recalled again, and the search results for its old text are removed.
    """

    def __init__(
        self, session_store: SessionStore, recall: RecallService, look_up: WebLookUp, set_reminders: SetReminders
    ) -> None:
        self._session_store = session_store
        self._set_reminders = set_reminders
        self._recall = recall
        self._look_up = look_up

    async def run(
        self, turn: TurnContext, model: LoadedModel
    ) -> AsyncGenerator[WebSearchStarted | NoteAdded | NotesDeleted | MemoriesRecalled]:
        """Recall for the reply to a turn that has its prefix."""
        question, rows = turn.user_message, turn.rows
        if question is None:
            return
        if rows.turn_memory is not None and not rows.turn_memory.is_stripped:
            yield MemoriesRecalled(question.id, without_deleted(rows.turn_memory, rows.deleted_ids))
            return
        if rows.is_edited and (stale := _find_search_results_above(turn, question)):
            await self._session_store.delete_message(*stale)
            turn = turn.without_messages(stale)
            yield NotesDeleted(stale)
        if not turn.session.is_incognito:
            await self._set_reminders(turn.session.persona_id, question, is_edited=rows.is_edited)
        outcome = await self._recall.recall(turn, model)
        if outcome.note is not None:
            yield NoteAdded(outcome.note, question.id)
        yield MemoriesRecalled(question.id, outcome.memory)
        if turn.before is not None and not rows.is_edited:
            return  # another wording of a reply: what was looked up is in the history already
        if turn.session.is_incognito:
            return  # a search would leave the computer, and be logged
        async with aclosing(self._look_up(turn.session, turn.participants, question)) as events:
            async for event in events:
                yield event


def _find_search_results_above(turn: TurnContext, question: Message) -> tuple[UUID, ...]:
    """Return the hidden messages directly above a message that hold search results for it."""
    found: list[UUID] = []
    above = turn.messages[: next(index for index, message in enumerate(turn.messages) if message.id == question.id)]
    for hidden_message in reversed(above):
        if not hidden_message.hidden:
            break
        if parse_note(hidden_message) is not None:
            found.append(hidden_message.id)
    return tuple(found)
