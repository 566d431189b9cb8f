"""Turns of a session: the user's message is stored first, then a reply is generated and stored as it arrives. While the user
reads and types, the next prompt is prefilled.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.languages.requests import may_ask_to_forget
from lethe_app.domain.chat import ChatSession, DegradationKind, Message, MessageMode, Role
from lethe_app.domain.clock import now
from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.errors import LetheError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.kv_cache.reuse import ReuseOptions
from lethe_app.services.chat.forgetting import Forgetting
from lethe_app.services.chat.generation import ReplyGenerator, TurnRun
from lethe_app.services.chat.group import GroupService
from lethe_app.services.events import (
    Emit,
    MemoriesRecalled,
    MessageStored,
    ModelReady,
    ModelState,
    NotesDeleted,
    SessionReplaced,
    TurnEvent,
    stream_events,
)
from lethe_app.services.memory.lore import recall_entry
from lethe_app.services.memory.recall import RecallService, without_deleted
from lethe_app.services.memory.recallers import LASTING
from lethe_app.services.models.service import ModelService
from lethe_app.services.participants import Participants
from lethe_app.services.personas.reminders import Reminders
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import PromptAssembler
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.turn_context import TurnContext, TurnLoader
from lethe_app.services.scheduling.loop import BackgroundPriority
from lethe_app.services.sessions.reply_writer import ReplyKind
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.tools.turn_factory import ToolTurnFactory
from lethe_app.services.web.chat_lookup import parse_note
from lethe_app.storage.chats.sessions import SessionStore

WebLookUp = Callable[[ChatSession, Participants, Message, Emit], Awaitable[Message | None]]
"""Function that searches the web if the message asks for it; it returns the stored result, or None."""


@dataclass(frozen=True)
class RecallStep:
    """Recall once for each message of the user: a regenerated reply gets the same memories as the first one.

    An edited message counts as new: it is recalled again, and the search results for its old text are removed.
    """

    session_store: SessionStore
    recall: RecallService
    look_up: WebLookUp
    reminders: Reminders
    forgetting: Forgetting

    async def run(self, run: TurnRun) -> None:
        """Recall for the reply to a turn that has its prefix."""
        question, stored = run.turn.user_message, run.turn.rows.turn
        if question is None:
            return
        if stored.memory is not None and not stored.memory.is_stripped:
            run.memory = without_deleted(stored.memory, stored.deleted_ids)
            await run.emit(MemoriesRecalled(question.id, run.memory))
            return
        if stored.is_edited and (stale := _find_search_results_above(run.turn, question)):
            await self.session_store.delete_message(*stale)
            run.turn = run.turn.without_messages(stale)
            await run.emit(NotesDeleted(stale))
        if not run.turn.session.is_incognito:
            await self.reminders.set_requested(run.turn.session.persona_id, question, is_edited=stored.is_edited)
        run.memory, announcement = await self.recall.recall(run.turn, run.model)
        if announcement is not None:
            await run.add_note(announcement, question.id)
        await run.emit(MemoriesRecalled(question.id, run.memory))
        if run.turn.before is not None and not stored.is_edited:
            return  # another wording of a reply: what was looked up is in the history already
        if run.turn.session.is_incognito:
            return  # a search would leave the computer, and be logged
        note = await self.look_up(run.turn.session, run.turn.participants, question, run.emit)
        if note is not None:
            await run.add_note(note, question.id)


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


SYSTEM = -1
"""`position_index` of entries that are in the system prompt."""
NEAR_END = 4
"""Messages from the end of the history among which the user's newest message is looked for."""


def predict_memory(turn: TurnContext) -> TurnMemory:
    """Return the memories that the next turn will have in the system prompt: those of the newest turn that last, else the
    entries that are always included.

    The prediction holds unless a key activates or ends an entry in the system prompt. A wrong prediction only loses the
    prefill.
    """
    recalled = (
        turn.rows.turn.memory.recalled
        if turn.user_message in turn.messages[-NEAR_END:] and turn.rows.turn.memory
        else _recall_constants(turn)
    )
    return TurnMemory(recalled=[memory for memory in recalled if memory.position_index == SYSTEM and memory.way in LASTING])


def _recall_constants(turn: TurnContext) -> list[RecalledMemory]:
    """Return the entries that are activated in the first turn of any session: they are constant, enabled and due, have no
    delay, and their trigger chance is 1.
    """
    moment = now()
    return [
        recall_entry(world, entry, RecallWay.CONSTANT, [])
        for world in turn.files.worlds.worlds.values()
        for entry in world.entries
        if entry.sticky and entry.enabled and entry.is_due(moment) and entry.trigger_chance >= 1 and not entry.delay
    ]


PREFILL_DELAY = 0.15
"""Seconds before prefill begins, so that browsing through sessions does not start it."""
IDLE_BEFORE_SAVING = 45.0
"""Seconds without activity after which the KV cache state is saved, in case the program is not closed properly."""
MIN_TOKENS_TO_SAVE = 2048
"""Minimum number of new tokens for which the state is saved: that of a long session with a large model is a gigabyte, which
wears the disk.
"""


class PrefillService:
    """Prefill the prompt of the session the user looks at. All work is cancelled as soon as a reply needs the model."""

    def __init__(
        self,
        turn_loader: TurnLoader,
        sessions: SessionService,
        models: ModelService,
        client: ModelClient,
        prompt_assembler: PromptAssembler,
        tool_turns: ToolTurnFactory,
        cache_state: CacheState,
        preferences: Preferences,
    ) -> None:
        self._turn_loader = turn_loader
        self._sessions = sessions
        self._models = models
        self._client = client
        self._prompt_assembler = prompt_assembler
        self._tool_turns = tool_turns
        self._cache_state = cache_state
        self._preferences = preferences
        self._followed_session: UUID | None = None
        self._task: asyncio.Task[None] | None = None
        self._save_task: asyncio.Task[None] | None = None
        models.changed.add(self._on_model_changed)

    def follow_session(self, session_id: UUID) -> None:
        """Cancel earlier prefill and schedule that of this session, up to the user's next message; schedule saving of its
        state as well.
        """
        self.pause()
        self._followed_session = session_id
        if self._preferences.current.read_ahead:
            self._task = asyncio.create_task(self._run_prefill(session_id))
        self._save_task = asyncio.create_task(self._save_when_idle())

    def pause(self) -> None:
        """Cancel prefill and saving, so that the model is free."""
        for task in (self._task, self._save_task):
            if task is not None:
                task.cancel()

    async def finish(self) -> None:
        """Wait until the scheduled prefill has ended, be it cancelled."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        self._followed_session = None
        self.pause()
        await asyncio.gather(*filter(None, (self._task, self._save_task)), return_exceptions=True)

    def _on_model_changed(self, state: ModelState) -> None:
        if isinstance(state, ModelReady) and self._followed_session is not None:
            self.follow_session(self._followed_session)

    async def _run_prefill(self, session_id: UUID) -> None:
        """Prefill the session's prompt. Errors are ignored, because the turn itself raises them again."""
        await asyncio.sleep(PREFILL_DELAY)
        with suppress(LetheError):
            if (model := self._models.loaded) is not None:
                session = await self._sessions.open(session_id)
                # The summary of the session before is part of the prompt.
                await self._sessions.wait_until_archived(session.persona_id)
                turn = await self._turn_loader.load(session_id, model)
                state_location = self._cache_state.location_of(turn.session, turn.cache_revision)
                tools = await self._tool_turns.build_tool_prompt(turn.participants.persona, model)
                text = await self._prompt_assembler.build_prefill(turn, model, predict_memory(turn), tools)
                usage = await self._client.prefill(
                    text, reuse=ReuseOptions(self._preferences.current.cache_surgery), state_location=state_location
                )
                if usage.drift:  # what was cut out left traces behind it
                    await self._client.prefill(text, reuse=ReuseOptions(exact=True), state_location=state_location)

    async def _save_when_idle(self) -> None:
        """Save the state of the KV cache once the user has been inactive for `IDLE_BEFORE_SAVING` seconds."""
        await asyncio.sleep(IDLE_BEFORE_SAVING)
        await self._client.save_state(MIN_TOKENS_TO_SAVE)


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

    def send(
        self, session_id: UUID, text: str, speaker: str = "", *, mode: MessageMode = MessageMode.TEXT
    ) -> AsyncGenerator[TurnEvent]:
        """Store a message and generate the reply; with an empty text the persona speaks again.

        In a group there may be several replies in turn: those of `GroupService.plan_replies`, or only that of `speaker`.
        """
        return stream_events(lambda emit: self._send(emit, session_id, text, speaker, mode))

    def regenerate(self, session_id: UUID, message_id: UUID) -> AsyncGenerator[TurnEvent]:
        """Generate another alternative of a reply; the earlier ones are kept."""
        return stream_events(lambda emit: self._answer_again(emit, session_id, message_id, ReplyKind.ALTERNATIVE))

    def continue_reply(self, session_id: UUID, message_id: UUID) -> AsyncGenerator[TurnEvent]:
        """Continue a reply that ended too early."""
        return stream_events(lambda emit: self._answer_again(emit, session_id, message_id, ReplyKind.CONTINUATION))

    async def _send(self, emit: Emit, session_id: UUID, text: str, speaker: str, mode: MessageMode) -> None:
        self._prefill.pause()
        has_message = bool(text.strip())
        turn = await self._turn_loader.load(session_id, self._models.loaded, adds_user_message=has_message)
        if has_message and self._sessions.has_timed_out(turn):
            rotated = await self._sessions.rotate(turn.session)
            turn = await self._turn_loader.load(rotated, self._models.loaded, adds_user_message=True)
            await emit(SessionReplaced(turn.session))
        elif turn.session.archived:
            await self._sessions.ensure_open(turn.session)
            turn = await self._turn_loader.load(session_id, self._models.loaded, adds_user_message=has_message)
        if has_message and may_ask_to_forget(text):
            turn = await self._store_request(emit, turn, text, mode)
        elif has_message:
            turn = await self._sessions.add_user_message(turn, text, mode)
            await emit(MessageStored(turn.messages[-1]))
        if turn.files.problem is not None:
            raise turn.files.problem
        group = {persona.unique_name for persona in turn.participants.group}
        if group and speaker not in group:
            await self._reply_in_order(emit, turn, text)
            return
        if group and speaker != turn.participants.speaker.unique_name:
            turn = await self._turn_loader.load(turn.session.guid, self._models.loaded, speaker=speaker)
        await self._answer(emit, turn, ReplyKind.REPLY)

    async def _store_request(self, emit: Emit, turn: TurnContext, text: str, mode: MessageMode) -> TurnContext:
        """Store a message that may ask to forget something, and follow it, even if the turn is stopped meanwhile; return the
        turn with it.
        """
        storing = asyncio.ensure_future(self._sessions.add_user_message(turn, text, mode))
        following = asyncio.ensure_future(self._follow_request(storing))
        try:
            await emit(MessageStored((await asyncio.shield(storing)).messages[-1]))
            await asyncio.shield(following)
        finally:
            stored = await following
        return stored

    async def _follow_request(self, storing: Awaitable[TurnContext]) -> TurnContext:
        turn = await storing
        if await self._recall.forgetting.follow_request(turn.messages[-1]):
            return await self._turn_loader.load(turn.session.guid, self._models.loaded, adds_user_message=True)
        return turn

    async def _reply_in_order(self, emit: Emit, turn: TurnContext, text: str) -> None:
        """Generate the replies of a group to `text`."""
        order = await self._group.plan_replies(turn.session, turn.participants, text)
        is_first = True
        while (name := await self._group.next(turn.session, turn.participants, order)) is not None:
            self._prefill.pause()  # it would read on between two replies
            if not is_first or name != turn.participants.speaker.unique_name:  # the replies before are part of the history
                turn = await self._turn_loader.load(turn.session.guid, self._models.loaded, speaker=name)
            is_first = False
            reply = await self._answer(emit, turn, ReplyKind.REPLY)
            order.note_reply(reply.speaker, reply.content)

    async def _answer_again(self, emit: Emit, session_id: UUID, message_id: UUID, kind: ReplyKind) -> None:
        """Generate another alternative of a stored reply, or the continuation of the displayed one."""
        self._prefill.pause()
        message = await self._sessions.message(message_id)
        if message.role is not Role.ASSISTANT:
            raise LetheError("Only replies of the persona can be regenerated.")
        await self._sessions.ensure_open(await self._sessions.open(session_id))
        turn = await self._turn_loader.load(session_id, self._models.loaded, message)
        await self._answer(emit, turn, kind, message)

    async def _answer(self, emit: Emit, turn: TurnContext, kind: ReplyKind, before: Message | None = None) -> Message:
        """Recall, build the prompt and generate; return the reply. `before` is the one that is regenerated or continued."""
        requested_at = time.monotonic()
        # Before the lock: a reply that waits for the user's permission for a tool holds the lock.
        self._generator.permissions.decline_pending()
        had_to_wait = await self._sessions.wait_until_archived(turn.session.persona_id) or self._reply_lock.locked()
        async with self._reply_lock:
            with self._priority.block_background():
                has_crashed = self._models.has_crashed
                model = await self._models.ensure_loaded()
                if had_to_wait or turn.model is not model:  # what was read is out of date
                    speaker = turn.participants.speaker.unique_name
                    turn = await self._turn_loader.load(turn.session.guid, model, before, speaker)
                writer = self._sessions.create_writer(turn, before, kind, requested_at)
                if has_crashed:
                    writer.note_degradation(DegradationKind.MODEL_RESTARTED)
                continued = before.current if before is not None and kind is ReplyKind.CONTINUATION else None
                run = TurnRun(emit, turn, model, writer, before, continued)
                await self._generator.load_prefix(run)
                await self._recall.run(run)
                try:
                    await self._generator.generate(run)
                finally:
                    self._prefill.follow_session(turn.session.guid)
                    if writer.is_stored:
                        self._sessions.changed.notify(turn.session.persona_id)
                        question, forgetting = turn.user_message, self._recall.forgetting
                        if question is not None and (forgotten := forgetting.forgotten.get(question.id)):
                            await forgetting.follow_reply(forgotten, writer.message)
        return writer.message
