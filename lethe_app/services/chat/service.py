"""Turns of a session: the user's message is stored first, then a reply is generated and stored as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, DegradationKind, Message, MessageMode, Role
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.recall import TurnMemory
from lethe_app.errors import LetheError
from lethe_app.services.chat.generation import ReplyGenerator, create_reply
from lethe_app.services.chat.group import GroupService
from lethe_app.services.chat.prefill import PrefillService
from lethe_app.services.events import (
    MemoriesRecalled,
    MessageStored,
    ModelReady,
    NoteAdded,
    NotesDeleted,
    ReplyFinished,
    SessionReplaced,
    TurnEvent,
    WebSearchStarted,
)
from lethe_app.services.memory.recall import RecallService, without_deleted
from lethe_app.services.models.service import ModelService
from lethe_app.services.participants import Participants
from lethe_app.services.prompting.turn_context import TurnContext, TurnLoader
from lethe_app.services.scheduling.loop import BackgroundPriority
from lethe_app.services.sessions.reply_writer import ReplyKind, ReplyWriter
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.web.chat_lookup import parse_note
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


class ChatService:
    """Run turns as streams of events; closing a stream stops the model and stores the partial reply."""

    def __init__(
        self,
        turn_loader: TurnLoader,
        sessions: SessionService,
        models: ModelService,
        recall: RecallStep,
        generator: ReplyGenerator,
        group: GroupService,
        prefill: PrefillService,
        priority: BackgroundPriority,
    ) -> None:
        self._turn_loader = turn_loader
        self._sessions = sessions
        self._models = models
        self._recall = recall
        self._generator = generator
        self._group = group
        self._prefill = prefill
        self._priority = priority
        self._reply_lock = asyncio.Lock()

    def follow_session(self, session_id: UUID) -> None:
        """Note that the user looks at this session, so that the model may prefill its next prompt meanwhile."""
        self._prefill.follow_session(session_id)

    async def send(
        self, session_id: UUID, text: str, speaker: str = "", *, mode: MessageMode = MessageMode.TEXT
    ) -> AsyncGenerator[TurnEvent]:
        """Store a message and generate the reply; with an empty text the persona speaks again.

        In a group there may be several replies in turn: those of `GroupService.plan_replies`, or only that of `speaker`.
        """
        self._prefill.pause()
        has_message = bool(text.strip())
        turn = await self._turn_loader.load(session_id, self._loaded_model, adds_user_message=has_message)
        if has_message and self._sessions.has_timed_out(turn):
            turn = await self._load(await self._sessions.rotate(turn.session), adds_user_message=True)
            yield SessionReplaced(turn.session)
        elif turn.session.archived:
            turn = await self._load((await self._sessions.ensure_open(turn.session)).guid, adds_user_message=has_message)
        if has_message:
            message = await self._sessions.add_user_message(turn, text, mode)
            turn = turn.with_user_message(message)
            yield MessageStored(message)
        if turn.files.problem is not None:
            raise turn.files.problem
        group = {persona.unique_name for persona in turn.participants.group}
        replies = self._reply_once(turn, speaker) if speaker in group or not group else self._reply_in_order(turn, text)
        async with aclosing(replies) as events:
            async for event in events:
                yield event

    async def regenerate(self, session_id: UUID, message_id: UUID) -> AsyncGenerator[TurnEvent]:
        """Generate another alternative of a reply; the earlier ones are kept."""
        message, turn = await self._load_reply(session_id, message_id)
        writer = self._sessions.create_writer(message, ReplyKind.ALTERNATIVE)
        async with aclosing(self._answer(turn, writer, message)) as events:
            async for event in events:
                yield event

    async def continue_reply(self, session_id: UUID, message_id: UUID) -> AsyncGenerator[TurnEvent]:
        """Continue a reply that ended too early."""
        message, turn = await self._load_reply(session_id, message_id)
        writer = self._sessions.create_writer(message, ReplyKind.CONTINUATION)
        async with aclosing(self._answer(turn, writer, message, continued=message.current)) as events:
            async for event in events:
                yield event

    async def _reply_once(self, turn: TurnContext, speaker: str) -> AsyncGenerator[TurnEvent]:
        """Generate a new reply of `speaker`, or of the turn's speaker if there is only one persona."""
        if turn.participants.group and speaker != turn.participants.speaker.unique_name:
            turn = await self._turn_loader.load(turn.session.guid, self._loaded_model, speaker=speaker)
        writer = self._sessions.create_writer(create_reply(turn), ReplyKind.REPLY)
        async with aclosing(self._answer(turn, writer)) as events:
            async for event in events:
                yield event

    async def _reply_in_order(self, turn: TurnContext, text: str) -> AsyncGenerator[TurnEvent]:
        """Generate the replies of a group to `text`."""
        order = await self._group.plan_replies(turn.session, turn.participants, text)
        is_first = True
        while (name := await self._group.next(turn.session, turn.participants, order)) is not None:
            self._prefill.pause()  # it would read on between two replies
            if not is_first:  # the replies before are part of the history
                turn = await self._turn_loader.load(turn.session.guid, self._loaded_model, speaker=name)
            is_first = False
            async with aclosing(self._reply_once(turn, name)) as events:
                async for event in events:
                    if isinstance(event, ReplyFinished):
                        order.note_reply(event.message.speaker, event.message.content)
                    yield event

    @property
    def _loaded_model(self) -> LoadedModel | None:
        state = self._models.state
        return state.model if isinstance(state, ModelReady) else None

    async def _load(self, session_id: UUID, *, adds_user_message: bool) -> TurnContext:
        return await self._turn_loader.load(session_id, self._loaded_model, adds_user_message=adds_user_message)

    async def _load_reply(self, session_id: UUID, message_id: UUID) -> tuple[Message, TurnContext]:
        self._prefill.pause()
        message = await self._sessions.message(message_id)
        if message.role is not Role.ASSISTANT:
            raise LetheError("Only replies of the persona can be regenerated.")
        await self._sessions.ensure_open(await self._sessions.open(session_id))
        return message, await self._turn_loader.load(session_id, self._loaded_model, message)

    async def _answer(
        self, turn: TurnContext, writer: ReplyWriter, before: Message | None = None, continued: Alternative | None = None
    ) -> AsyncGenerator[TurnEvent]:
        """Recall, build the prompt and generate; `before` is the reply that is regenerated."""
        # Before the lock: a reply that waits for the user's permission for a tool holds the lock.
        self._generator.decline_pending_permissions()
        had_to_wait = self._reply_lock.locked() or self._sessions.is_archiving(turn.session.persona_id)
        await self._sessions.wait_until_archived(turn.session.persona_id)
        async with self._reply_lock:
            with self._priority.block_background():
                if self._models.has_crashed:
                    writer.note_degradation(DegradationKind.MODEL_RESTARTED)
                model = await self._models.ensure_loaded()
                if had_to_wait or turn.model is not model:  # what was read is out of date
                    speaker = turn.participants.speaker.unique_name
                    turn = await self._turn_loader.load(turn.session.guid, model, before, speaker)
                writer.set_speaker(turn.participants.speaker)
                turn = await self._generator.with_prefix(turn, model, before)
                memory: TurnMemory | None = None
                async with aclosing(self._recall.run(turn, model)) as recalled:
                    async for event in recalled:
                        if isinstance(event, MemoriesRecalled):
                            memory = event.memory
                        elif isinstance(event, NoteAdded):
                            turn = turn.with_hidden_message(event.message, event.above)
                        elif isinstance(event, NotesDeleted):
                            turn = turn.without_messages(event.messages)
                        yield event
                try:
                    async with aclosing(self._generator.generate(turn, model, memory, writer, continued)) as events:
                        async for reply_event in events:
                            yield reply_event
                finally:
                    self._prefill.follow_session(turn.session.guid)
                    if writer.is_stored:
                        self._sessions.changed.notify(turn.session.persona_id)
