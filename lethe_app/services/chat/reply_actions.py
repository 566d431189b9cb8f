"""Says what stood behind a reply and where it came from, and lets the user change it on the spot."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.recall import RecallLead, RecallWay, Recollection
from lethe_app.errors import LetheError, StorageError
from lethe_app.prompt.untrusted_text import unquoted
from lethe_app.services.chat.reply_sources import AlwaysThere, ReplySources, SourceKind, Surfaced, Trace, Whence
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.selection import STATES
from lethe_app.services.memory.service import Brain
from lethe_app.services.prompting.stable_prefix import StablePrefixes
from lethe_app.services.sessions.archive_queue import Archiving
from lethe_app.services.sessions.service import Sessions
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import Memories
from lethe_app.storage.memory.turn_memories import TurnMemories

TakeBack = Callable[[], Awaitable[None]]
WORDING = ("fact", "made_by", "last_seen")
"""What becomes another of a fact that is put in other words."""
LOOK_BACK = 8
"""Messages above a reply among which the words it answers are looked for; as `chat.py` does."""


class ReplyActions:
    """For the panel beside the conversation; every change is one that can be taken back."""

    def __init__(
        self,
        chats: Chats,
        facts: FactStore,
        memories: Memories,
        turns: TurnMemories,
        state: SessionState,
        brain: Brain,
        knowing: FactService,
        sessions: Sessions,
        archiving: Archiving,
        objecting: ObjectionService,
        frames: StablePrefixes,
    ) -> None:
        self._chats = chats
        self._facts = facts
        self._memories = memories
        self._turns = turns
        self._state = state
        self._brain = brain
        self._knowing = knowing
        self._sessions = sessions
        self._archiving = archiving
        self._objecting = objecting
        self._frames = frames

    async def counts(self, message_ids: Sequence[UUID]) -> dict[UUID, int]:
        """How many memories each of these messages of the user's brought up, where there are any."""
        return await self._turns.counts(message_ids)

    async def behind(self, message_id: UUID) -> ReplySources | None:
        """What came to mind for a reply, and why; asked by it, or by the user's words. None if that is not there any more."""
        try:
            message = await self._chats.message(message_id)
            session = await self._chats.session(message.session_id)
        except StorageError:
            return None
        asked = await self._asked(message)
        memory = await self._brain.recalled(asked.id) if asked is not None else None
        always = await self._always(session)
        if memory is None:
            return ReplySources(session.persona_id, asked, always=always)
        recalled = [one for one in memory.recalled if one.memory != session.guid]  # not the note of the time
        return ReplySources(
            persona_id=session.persona_id,
            asked=asked,
            is_known=True,
            surfaced=tuple([await self._surfaced(one) for one in recalled]),
            kept_back=tuple(memory.blocked),
            scratch=memory.scratch,
            remark=memory.remark,
            always=always,
            forgotten=memory.forgotten,
            word_for_word=tuple([one.name async for one in self._in_view(session)]),
        )

    async def _always(self, session: ChatSession) -> AlwaysThere:
        """Core facts and summaries, as the next prompt of that conversation has them."""
        frame = await self._frames.kept(session.guid)
        if frame is None:
            return AlwaysThere()
        titles: list[str] = []
        for one in frame.summaries:
            with suppress(StorageError):  # deleted since
                titles.append((await self._chats.session(one.guid)).name)
                continue
            titles.append("")
        summaries = zip(titles, (one.text for one in frame.summaries), strict=True)
        return AlwaysThere(tuple(one.text for one in frame.facts), tuple(summaries))

    async def _in_view(self, session: ChatSession) -> AsyncGenerator[ChatSession]:
        """The earlier conversations that she reads whole, the newest first."""
        frame = await self._frames.kept(session.guid)
        for guid in reversed(frame.earlier if frame is not None else ()):
            with suppress(StorageError):  # deleted since
                yield await self._chats.session(guid)

    async def _asked(self, message: Message) -> Message | None:
        if message.role is Role.USER:
            return message
        above = await self._chats.tail(message.session_id, LOOK_BACK, message.id)
        return next((one for one in reversed(above) if one.role is Role.USER and not one.hidden), None)

    # what the user changes

    async def pin(self, one: Surfaced, *, pinned: bool) -> None:
        """Have it in every prompt of hers, or no longer."""
        match one.kind:
            case SourceKind.FACT:
                await self._knowing.pin(one.subject, pinned=pinned)
            case SourceKind.CONVERSATION:
                session = await self._chats.change_session(one.subject, sticky=pinned)
                await self._archiving.renew(session.persona_id)
                self._sessions.changed.tell(session.persona_id)
            case SourceKind.MEMORY:
                await self._brain.edit((await self._memories.get(one.subject)).model_copy(update={"sticky": pinned}))
            case SourceKind.WORLD:
                raise LetheError("An entry of a world is pinned in its world.")

    async def write(self, one: Surfaced, text: str) -> TakeBack:
        """Put a fact or memory in the user's own words; returns what gives it back its words, and to whoever wrote them."""
        if one.kind is SourceKind.FACT:
            fact = await self._facts.get(one.subject)
            return partial(self._unwrite, fact, await self._knowing.edit(one.subject, text))
        if not text.strip():
            raise LetheError("A memory needs words.", "Forget it instead.")
        memory = await self._memories.get(one.subject)
        await self._brain.edit(memory.model_copy(update={"content": text.strip()}))
        return partial(self._put_back, memory)

    async def _unwrite(self, before: ExtractedFact, after: ExtractedFact) -> None:
        """What was heard of the fact since then stays."""
        present = await self._facts.get(before.guid)
        names = [name for name in WORDING if getattr(present, name) == getattr(after, name)]
        await self._knowing.put_back([present.model_copy(update={name: getattr(before, name) for name in names})])

    async def _put_back(self, before: MemoryUnit) -> None:
        present = await self._memories.get(before.guid)
        await self._brain.edit(present.model_copy(update={"content": before.content}), by=before.made_by)

    async def forget_memory(self, one: Surfaced, persona_id: str) -> None:
        """Nothing brings it up from now on; `restore` takes that back."""
        match one.kind:
            case SourceKind.FACT:
                await self._knowing.forget_fact(one.subject)
            case SourceKind.CONVERSATION:
                await self._sessions.delete(one.subject)
            case SourceKind.MEMORY:
                await self._brain.forget_memory(one.subject)
            case SourceKind.WORLD:
                raise LetheError("An entry of a world is deleted in its world.")
        await self._objecting.remove_objections_to(persona_id, one.recollection.memory)

    async def restore(self, one: Surfaced) -> None:
        """Bring back what was forgotten."""
        match one.kind:
            case SourceKind.FACT:
                await self._knowing.restore(one.subject)
            case SourceKind.CONVERSATION:
                await self._sessions.restore(one.subject)
            case _:
                await self._brain.restore(one.subject)

    async def object_to(self, memory: UUID, behind: ReplySources) -> None:
        """It had nothing to do with what was said: it is out of this turn, and comes less easily in turns like it."""
        if behind.asked is not None:
            await self._objecting.make(behind.persona_id, memory, behind.asked)
            await self._let_go(behind.asked.session_id, memory)

    async def _let_go(self, session_id: UUID, memory: UUID) -> None:
        """Nor does it stay for the turns to come, as what was brought up may."""
        for key in STATES:
            state = await self._state.get(session_id, key)
            entries = state.get("entries", state) if isinstance(state, dict) else {}
            if isinstance(entries, dict) and entries.pop(str(memory), None) is not None:
                await self._state.set(session_id, key, state)

    async def withdraw(self, memory: UUID, behind: ReplySources) -> None:
        """It did belong there after all."""
        if behind.asked is not None:
            await self._objecting.withdraw(behind.persona_id, memory, behind.asked.id)

    # where it came from

    async def _surfaced(self, one: Recollection) -> Surfaced:
        traces = tuple([Trace(lead, await self._whence(lead, one)) for lead in one.leads])
        first = traces[0].whence if traces else None
        if one.world:
            return Surfaced(one, SourceKind.WORLD, one.memory, one.text, traces)
        fact = await self._fact(one)
        if fact is not None:
            return Surfaced(one, SourceKind.FACT, fact.guid, fact.fact, traces, await self._said_in(fact), pinned=fact.pinned)
        if one.category is MemoryType.CHAT_SESSION:
            session = await self._session(one.memory)
            if session is None:
                return Surfaced(one, SourceKind.CONVERSATION, one.memory, one.text, traces, is_kept=False)
            whence = first or Whence(session.guid, session.name, session.added)
            return Surfaced(one, SourceKind.CONVERSATION, session.guid, one.text, traces, whence, pinned=session.sticky)
        memory = await self._memory(one.memory)
        if memory is None:
            return Surfaced(one, SourceKind.MEMORY, one.memory, unquoted(one.text), traces, is_kept=False)
        return Surfaced(one, SourceKind.MEMORY, memory.guid, memory.content, traces, pinned=memory.sticky)

    async def _fact(self, one: Recollection) -> ExtractedFact | None:
        """The fact it is, or that led to it."""
        if one.way is not RecallWay.FACT or not one.leads or one.leads[0].kind != PassageKind.FACT:
            return None
        with suppress(StorageError):
            return await self._facts.get(one.leads[0].origin)
        return None

    async def _whence(self, lead: RecallLead, one: Recollection) -> Whence | None:
        with suppress(StorageError):
            if lead.kind == PassageKind.FACT:
                return await self._said_in(await self._facts.get(lead.origin))
            if lead.kind == PassageKind.MESSAGE:
                return await self._message(lead.origin)
        return await self._conversation(one.memory) if one.category is MemoryType.CHAT_SESSION else None

    async def _said_in(self, fact: ExtractedFact) -> Whence | None:
        """The newest message that says it, or else the conversation it was taken from."""
        for message in reversed(fact.source_messages):
            with suppress(StorageError):
                return await self._message(message)
        for session in reversed(fact.source_memories):
            found = await self._conversation(session)
            if found is not None:
                return found
        return None

    async def _message(self, guid: UUID) -> Whence:
        message = await self._chats.message(guid)
        session = await self._chats.session(message.session_id)
        return Whence(session.guid, session.name, message.time, message.id)

    async def _conversation(self, guid: UUID) -> Whence | None:
        session = await self._session(guid)
        return Whence(session.guid, session.name, session.added) if session is not None else None

    async def _session(self, guid: UUID) -> ChatSession | None:
        with suppress(StorageError):
            return await self._chats.session(guid)
        return None

    async def _memory(self, guid: UUID) -> MemoryUnit | None:
        with suppress(StorageError):
            return await self._memories.get(guid)
        return None
