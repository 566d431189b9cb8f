"""A turn of conversation: the user's words are safe first, then the persona answers, and whatever she said is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel, StopReason, Usage
from lethe_app.domain.prompt import Prompt
from lethe_app.domain.recall import TurnMemory
from lethe_app.errors import FileError, LetheError, ModelError
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import Chunk, Done, KeptAt
from lethe_app.prompt.macros import expand
from lethe_app.services.chat.group import GroupService
from lethe_app.services.chat.prefill import ReadingAhead
from lethe_app.services.chat.recall_step import RecallStep
from lethe_app.services.chat.receipts import ReceiptService
from lethe_app.services.chat.reply_stream import Reply
from lethe_app.services.events import (
    Began,
    Finished,
    MessageStored,
    Moved,
    Prompted,
    Recalled,
    TurnEvent,
)
from lethe_app.services.models.service import Models
from lethe_app.services.participants import Participants, ParticipantService
from lethe_app.services.prompting.assembler import Prompting
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.prompting.macro_values import MacroPosition
from lethe_app.services.prompting.stable_prefix import StablePrefixes
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.services.sessions.reply_writer import ReplyKind, ReplyWriter, spoken_by_user
from lethe_app.services.sessions.service import Sessions
from lethe_app.services.token_counts import Counting
from lethe_app.services.tools.turn import NoTools, ToolTurn, TurnsOfTools
from lethe_app.storage.chats.sessions import Chats

WORTH_KEEPING = 256
"""Tokens behind a cut that are worth keeping as they were read: of a note above the last exchange they are fewer, and the
first word of a reply suffers when it is drawn from what was read with a note that is gone."""


class Chat:
    """Speaking with a persona. Every turn is a stream of events; closing it stops the model and keeps the half reply."""

    def __init__(
        self,
        chats: Chats,
        casting: ParticipantService,
        models: Models,
        client: ModelClient,
        counting: Counting,
        prompting: Prompting,
        remembering: RecallStep,
        frames: StablePrefixes,
        sessions: Sessions,
        ahead: ReadingAhead,
        warmth: CacheState,
        quiet: BackgroundPriority,
        accounts: ReceiptService,
        group: GroupService,
    ) -> None:
        self._chats = chats
        self._casting = casting
        self._models = models
        self._client = client
        self._counting = counting
        self._prompting = prompting
        self._remembering = remembering
        self._frames = frames
        self._sessions = sessions
        self._ahead = ahead
        self._warmth = warmth
        self._quiet = quiet
        self._accounts = accounts
        self._group = group
        self.tooling: TurnsOfTools = NoTools()
        """Set by `composition`."""
        self._one_reply_at_a_time = asyncio.Lock()

    async def send(self, session_id: UUID, text: str, speaker: str = "") -> AsyncGenerator[TurnEvent]:
        """Say `text` and get an answer; with nothing to say, the persona speaks again.

        Where guests take part there may be several answers in turn: those of `GroupService.turns`, or only `speaker`'s.
        """
        self._ahead.rest()
        session = await (self._sessions.rotated(session_id) if text.strip() else self._chats.session(session_id))
        if session.guid != session_id:
            yield Moved(session)
        session = await self._sessions.taken_up(session)
        trouble: FileError | None = None
        try:
            cast = await self._casting.of_session(session)
        except FileError as error:  # her file was spoilt meanwhile; what the user says is stored all the same
            cast, trouble = await self._casting.in_need(session), error
        if text.strip():
            scene = await self._prompting.fill(cast.scene(session, now()), MacroPosition(session, cast), [text])
            message = await self._chats.add_message(spoken_by_user(session, cast, expand(text, scene)))
            self._sessions.changed.tell(session.persona_id)
            yield MessageStored(message)
        if trouble is not None:
            raise trouble
        taking = await self._group.turns(session, cast, text, speaker)
        while (name := await self._group.next(session, cast, taking)) is not None:
            self._ahead.rest()  # it would read on between two replies
            cast = cast.spoken_by(name)
            who = cast.speaker
            reply = Message(session_id=session.guid, role=Role.ASSISTANT, speaker=who.unique_name, speaker_name=who.name)
            async with aclosing(self._answer(session, cast, ReplyWriter(self._chats, reply, ReplyKind.REPLY))) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        taking.note_reply(event.message.speaker, event.message.content)
                    yield event
            session = await self._chats.session(session.guid)

    async def regenerate(self, session_id: UUID, message_id: UUID) -> AsyncGenerator[TurnEvent]:
        """Another wording of a reply; the ones before it stay."""
        message = await self._reply(message_id)
        session, cast = await self._scene(session_id, message)
        writing = ReplyWriter(self._chats, message, ReplyKind.ALTERNATIVE)
        async with aclosing(self._answer(session, cast, writing, before=message_id)) as events:
            async for event in events:
                yield event

    async def proceed(self, session_id: UUID, message_id: UUID) -> AsyncGenerator[TurnEvent]:
        """More of a reply that ended too early."""
        message = await self._reply(message_id)
        session, cast = await self._scene(session_id, message)
        writing = ReplyWriter(self._chats, message, ReplyKind.CONTINUATION)
        async with aclosing(self._answer(session, cast, writing, before=message_id, so_far=message.current)) as events:
            async for event in events:
                yield event

    def attend(self, session_id: UUID) -> None:
        """The user looks at this conversation now; the model may read it while they write."""
        self._ahead.attend(session_id)

    async def edit(self, message_id: UUID, text: str) -> Message:
        """Change the wording on display."""
        return await self._edited(await self._chats.edit(message_id, text))

    async def undo_edit(self, before: Message) -> Message:
        """Restore the wording on display in `before`, a message as it was; wordings added since stay."""
        return await self._edited(await self._chats.restore_shown(before))

    async def _edited(self, message: Message) -> Message:
        self._warmth.forget_session(message.session_id)
        await self._retold(message.session_id, message.id)
        await self._accounts.forget_prompts((await self._chats.session(message.session_id)).persona_id)
        return message

    async def delete(self, session_id: UUID, message_id: UUID) -> None:
        """Move a message to the trash, with the hidden lines that were put above it."""
        outline = await self._chats.outline(session_id)
        at = next((index for index, entry in enumerate(outline) if entry.id == message_id), None)
        if at is None:
            raise LetheError("That message is no longer in this conversation.")
        first = at
        while first > 0 and outline[first - 1].hidden:
            first -= 1
        await self._retold(session_id, message_id)
        await self._chats.delete_message(*(entry.id for entry in outline[first : at + 1]))
        self._warmth.forget_session(session_id)
        self._sessions.changed.tell((await self._chats.session(session_id)).persona_id)

    async def _retold(self, session_id: UUID, message_id: UUID) -> None:
        """What was told of words that have left the history stands no more when one of them changes."""
        frame = await self._frames.kept(session_id)
        if frame is None or frame.first is None or frame.first == message_id:
            return
        for entry in await self._chats.outline(session_id):
            if entry.id == frame.first:
                return  # it is still there word for word
            if entry.id == message_id:
                await self._frames.drop(session_id)
                return

    async def show_alternative(self, message_id: UUID, index: int) -> Message:
        """Put another wording on display."""
        return await self._chats.set_shown(message_id, index)

    async def count_tokens(self, text: str) -> int:
        """Tokens of `text`: exact while a model is loaded, an estimate otherwise."""
        return (await self._counting.count([text]))[0]

    async def _scene(self, session_id: UUID, reply: Message) -> tuple[ChatSession, Participants]:
        self._ahead.rest()
        session = await self._sessions.taken_up(await self._chats.session(session_id))
        return session, await self._casting.of_reply(session, reply)

    async def _reply(self, message_id: UUID) -> Message:
        message = await self._chats.message(message_id)
        if message.role is not Role.ASSISTANT:
            raise LetheError("Only what the persona said can be written anew.")
        return message

    async def _answer(
        self,
        session: ChatSession,
        cast: Participants,
        writing: ReplyWriter,
        before: UUID | None = None,
        so_far: Alternative | None = None,
    ) -> AsyncGenerator[TurnEvent]:
        """Remember, build the prompt and let the model speak; `before` is the message whose history ends above it."""
        self.tooling.give_way()
        await self._sessions.ended(session.persona_id)
        async with self._one_reply_at_a_time:
            with self._quiet.hold_off():
                model = await self._models.ready()
                cast = await self._casting.of_reply(session, writing.message)  # who may have been written anew meanwhile
                writing.speak_as(cast.speaker)
                memory: TurnMemory | None = None
                kept_at, forgotten = self._warmth.kept_at(session), await self._accounts.open(session.persona_id)
                async with aclosing(self._remembering.of_turn(session, cast, before, model)) as remembered:
                    async for event in remembered:
                        memory = event.memory if isinstance(event, Recalled) else memory
                        yield event
                tools = await self.tooling.turn(session, cast, model, before, so_far, writing)
                while tools.goes_on:
                    async with aclosing(tools.work()) as work:
                        async for done in work:
                            yield done
                    speech = self._speak(session, cast, writing, model, memory, tools, kept_at, forgotten)
                    async with aclosing(speech) as events:
                        async for spoken in events:
                            yield spoken

    async def _speak(
        self, session: ChatSession, cast: Participants, writing: ReplyWriter, model: LoadedModel, memory: TurnMemory | None,
        tools: ToolTurn, kept_at: KeptAt | None, forgotten: int
    ) -> AsyncGenerator[TurnEvent]:  # fmt: skip
        """Have the model speak; where it only repeats the memories of its prompt, once more without them."""
        told, lead = tools.remembered(memory) or TurnMemory(), tools.lead or Alternative(model=model.file.name)
        for background in (told, told.without_background()):
            prompt = await self._prompting.build(session, cast, model, tools.before, tools.so_far, background)
            yield Prompted(prompt.receipt)
            if background is told and not tools.rounds:
                yield Began(writing.message)
            reply = Reply(prompt, cast.speaker.name, lead, tools.listen())
            attempt = self._attempt(session, cast, writing, model, prompt, reply, tools, kept_at, forgotten)
            async with aclosing(attempt) as events:
                async for event in events:
                    yield event
            if not reply.is_only_echo or tools.is_wanted:
                return

    async def _attempt(
        self, session: ChatSession, cast: Participants, writing: ReplyWriter, model: LoadedModel, prompt: Prompt, reply: Reply,
        tools: ToolTurn, kept_at: KeptAt | None, forgotten: int
    ) -> AsyncGenerator[TurnEvent]:  # fmt: skip
        usage = Usage(reason=StopReason.STOPPED)
        sampler = await self._casting.sampler(cast.speaker, await self._prompting.sampler(model))
        reports = self._client.generate(
            prompt.text,
            sampler,
            self._prompting.longest_reply,
            prompt.stop_strings,
            surgery=self._prompting.cuts_the_cache,
            shortest=WORTH_KEEPING,
            kept_at=kept_at,
        )
        ended = False
        try:
            async with aclosing(tools.attend(reports)) as stream:
                async for report in stream:
                    for event in reply.read_report(report):
                        yield event
                    if isinstance(report, Chunk) and not reply.is_empty:
                        await writing.checkpoint(reply.wording(complete=False))
                    elif isinstance(report, Done):
                        usage, ended = report.usage, True
            for event in reply.finish():
                yield event
        finally:
            await self._conclude(session, reply, writing, complete=ended and usage.reason is not StopReason.STOPPED)
            if not reply.is_empty:
                said, known = reply.wording(complete=True).content, usage if ended else None
                await self._accounts.close(session, model, prompt, writing.message, said, known, forgotten)
        if tools.is_wanted:
            tools.keep_text(reply.wording(complete=False))
            return
        if reply.is_only_echo:
            return
        if reply.is_empty:
            raise ModelError(f"{model.file.name} had nothing to say.", "Ask again, or write something more.")
        yield Finished(await writing.stored(), usage)

    async def _conclude(self, session: ChatSession, reply: Reply, writing: ReplyWriter, *, complete: bool) -> None:
        """Whatever ended the reply, what there is of it is stored."""
        self._ahead.attend(session.guid)
        reply.finish(stopped=True)  # what a reply that ran to its end held back is out already
        if not reply.is_empty:
            await writing.store_wording(reply.wording(complete=complete))
            self._sessions.changed.tell(session.persona_id)
