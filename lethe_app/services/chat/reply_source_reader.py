"""Reader of the sources of a reply: each recalled memory, the reason for its recall, and the message it comes from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.recall import RecalledMemory, RecallLead, RecallWay
from lethe_app.errors import StorageError
from lethe_app.prompt.untrusted_text import strip_quotes
from lethe_app.services.chat.reply_sources import (
    RecallTrace,
    ReplyMemory,
    ReplySources,
    SourceKind,
    StablePromptContent,
    StatementOrigin,
)
from lethe_app.services.memory.recall import RecallService
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.turn_memories import TurnMemories

LOOK_BACK = 8
"""Messages above a reply among which the message it answers is looked for."""


class ReplySourceReader:
    """Read the sources of replies. Nothing is changed."""

    def __init__(
        self,
        session_store: SessionStore,
        fact_store: FactStore,
        memory_store: MemoryStore,
        turn_memories: TurnMemories,
        recall: RecallService,
        stable_prefixes: StablePrefixes,
    ) -> None:
        self._session_store = session_store
        self._fact_store = fact_store
        self._memory_store = memory_store
        self._turn_memories = turn_memories
        self._recall = recall
        self._stable_prefixes = stable_prefixes

    async def recalled_counts(self, message_ids: Sequence[UUID]) -> dict[UUID, int]:
        """Return the number of recalled memories by message, for those of the user's messages that recalled any."""
        return await self._turn_memories.recall_counts(message_ids)

    async def sources_of(self, message_id: UUID) -> ReplySources | None:
        """Return the sources of a reply, or of the reply to a message of the user; None if the message no longer exists."""
        try:
            message = await self._session_store.message(message_id)
            session = await self._session_store.session(message.session_id)
        except StorageError:
            return None
        asked = await self._asked(message)
        memory = await self._recall.stored_recall(asked.id) if asked is not None else None
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

    async def _always(self, session: ChatSession) -> StablePromptContent:
        """Return the core facts and summaries that are in the next prompt of a session."""
        prefix = await self._stable_prefixes.load(session.guid)
        if prefix is None:
            return StablePromptContent()
        titles: list[str] = []
        for one in prefix.summaries:
            with suppress(StorageError):  # deleted since
                titles.append((await self._session_store.session(one.guid)).name)
                continue
            titles.append("")
        summaries = zip(titles, (one.text for one in prefix.summaries), strict=True)
        return StablePromptContent(tuple(one.text for one in prefix.facts), tuple(summaries))

    async def _in_view(self, session: ChatSession) -> AsyncGenerator[ChatSession]:
        """Yield the earlier sessions that are in the prompt in full, newest first."""
        prefix = await self._stable_prefixes.load(session.guid)
        for guid in reversed(prefix.earlier if prefix is not None else ()):
            with suppress(StorageError):  # deleted since
                yield await self._session_store.session(guid)

    async def _asked(self, message: Message) -> Message | None:
        if message.role is Role.USER:
            return message
        above = await self._session_store.newest_messages(message.session_id, LOOK_BACK, message.id)
        return next((one for one in reversed(above) if one.role is Role.USER and not one.hidden), None)

    async def _surfaced(self, one: RecalledMemory) -> ReplyMemory:
        traces = tuple([RecallTrace(lead, await self._whence(lead, one)) for lead in one.leads])
        first = traces[0].whence if traces else None
        if one.world:
            return ReplyMemory(one, SourceKind.WORLD, one.memory, one.text, traces)
        fact = await self._fact(one)
        if fact is not None:
            return ReplyMemory(
                one, SourceKind.FACT, fact.guid, fact.fact, traces, await self._said_in(fact), pinned=fact.pinned
            )
        if one.category is MemoryType.CHAT_SESSION:
            session = await self._session(one.memory)
            if session is None:
                return ReplyMemory(one, SourceKind.CONVERSATION, one.memory, one.text, traces, is_kept=False)
            whence = first or StatementOrigin(session.guid, session.name, session.added)
            return ReplyMemory(one, SourceKind.CONVERSATION, session.guid, one.text, traces, whence, pinned=session.sticky)
        memory = await self._memory(one.memory)
        if memory is None:
            return ReplyMemory(one, SourceKind.MEMORY, one.memory, strip_quotes(one.text), traces, is_kept=False)
        return ReplyMemory(one, SourceKind.MEMORY, memory.guid, memory.content, traces, pinned=memory.sticky)

    async def _fact(self, one: RecalledMemory) -> ExtractedFact | None:
        """Return the fact that was recalled or led to the recall; None if there is none."""
        if one.way is not RecallWay.FACT or not one.leads or one.leads[0].kind != PassageKind.FACT:
            return None
        with suppress(StorageError):
            return await self._fact_store.get(one.leads[0].origin)
        return None

    async def _whence(self, lead: RecallLead, one: RecalledMemory) -> StatementOrigin | None:
        with suppress(StorageError):
            if lead.kind == PassageKind.FACT:
                return await self._said_in(await self._fact_store.get(lead.origin))
            if lead.kind == PassageKind.MESSAGE:
                return await self._message(lead.origin)
        return await self._conversation(one.memory) if one.category is MemoryType.CHAT_SESSION else None

    async def _said_in(self, fact: ExtractedFact) -> StatementOrigin | None:
        """Return the newest message that states the fact, or else the session it was extracted from."""
        for message in reversed(fact.source_messages):
            with suppress(StorageError):
                return await self._message(message)
        for session in reversed(fact.source_memories):
            found = await self._conversation(session)
            if found is not None:
                return found
        return None

    async def _message(self, guid: UUID) -> StatementOrigin:
        message = await self._session_store.message(guid)
        session = await self._session_store.session(message.session_id)
        return StatementOrigin(session.guid, session.name, message.time, message.id)

    async def _conversation(self, guid: UUID) -> StatementOrigin | None:
        session = await self._session(guid)
        return StatementOrigin(session.guid, session.name, session.added) if session is not None else None

    async def _session(self, guid: UUID) -> ChatSession | None:
        with suppress(StorageError):
            return await self._session_store.session(guid)
        return None

    async def _memory(self, guid: UUID) -> MemoryUnit | None:
        with suppress(StorageError):
            return await self._memory_store.get(guid)
        return None
