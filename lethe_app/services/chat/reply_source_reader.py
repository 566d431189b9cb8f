"""Reader of the sources of a reply: each recalled memory, the reason for its recall, and the message it comes from."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar
from uuid import UUID

from lethe_app.brain.recall.objections import OBJECTIONABLE_WAYS
from lethe_app.domain.chat import Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.recall import BlockedMemory, RecalledMemory, RecallLead, RecallWay
from lethe_app.errors import StorageError
from lethe_app.prompt.untrusted_text import strip_quotes
from lethe_app.services.memory.recall import RecallService
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.turn_context import StablePrefix
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.chats.turn_rows import newest_user_message
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.turn_memories import TurnMemories


class SourceKind(StrEnum):
    """Type of the record behind a memory; it decides which actions are possible."""

    FACT = "fact"
    MEMORY = "memory"
    CONVERSATION = "conversation"
    WORLD = "world"
    DOCUMENT = "document"


FROM_FILES = frozenset({SourceKind.WORLD, SourceKind.DOCUMENT})
"""Sources that are the user's files: they are edited there, and not forgotten."""


@dataclass(frozen=True)
class StatementOrigin:
    """Session and message in which a statement was made."""

    session: UUID
    title: str
    time: datetime
    message: UUID | None = None
    """None if only the session is known."""


@dataclass(frozen=True)
class RecallTrace:
    """Text that led to a recall, and its origin."""

    lead: RecallLead
    origin: StatementOrigin | None


@dataclass(frozen=True)
class ReplyMemory:
    """Recalled memory behind a reply: as it was recalled, and as it is stored now."""

    recollection: RecalledMemory
    kind: SourceKind
    subject: UUID
    """The fact, memory or session that actions change; for a session recalled because of a fact, that fact."""
    text: str
    """Text as it is stored now, which may differ from the text in the prompt."""
    traces: tuple[RecallTrace, ...] = ()
    origin: StatementOrigin | None = None
    pinned: bool = False
    is_stored: bool = True
    """True if the record still exists; a memory may be consumed once it was brought up."""

    @property
    def is_world(self) -> bool:
        """True if it is a World Info entry and not a memory."""
        return self.kind is SourceKind.WORLD

    @property
    def can_be_pinned(self) -> bool:
        return self.is_stored and self.kind not in FROM_FILES

    @property
    def can_be_edited(self) -> bool:
        return self.is_stored and self.kind in {SourceKind.FACT, SourceKind.MEMORY}

    @property
    def can_be_forgotten(self) -> bool:
        return self.is_stored and self.kind not in FROM_FILES

    @property
    def can_be_objected_to(self) -> bool:
        return self.recollection.way in OBJECTIONABLE_WAYS


@dataclass(frozen=True)
class StablePromptContent:
    """Core facts and summaries that are in the prompts of a session regardless of recall."""

    facts: tuple[str, ...] = ()
    summaries: tuple[tuple[str, str], ...] = ()
    """Title and text, newest first."""

    def __bool__(self) -> bool:
        return bool(self.facts or self.summaries)


@dataclass(frozen=True)
class ReplySources:
    """Everything that memory contributed to the replies to one message."""

    persona_id: str
    user_message: Message | None
    """Message of the user; None for a greeting, which answers no message."""
    is_known: bool = False
    """True if a recall was stored for the message."""
    is_incognito: bool = False
    """True for a reply of an incognito session, for which none is stored."""
    recalled: tuple[ReplyMemory, ...] = ()
    blocked: tuple[BlockedMemory, ...] = ()
    session_notes: str = ""
    remark: str = ""
    """Remark in the prompt about a time that the user asked for."""
    stable_content: StablePromptContent = StablePromptContent()
    forgotten: int = 0
    """Number of memories that were recalled and have been forgotten since."""
    full_session_titles: tuple[str, ...] = ()
    """Titles of the earlier sessions that are in the prompt in full; nothing from them needs to be recalled."""

    @property
    def unwanted(self) -> tuple[BlockedMemory, ...]:
        """Memories that the user objected to in this turn."""
        return tuple(memory for memory in self.blocked if memory.was_recalled)


T = TypeVar("T")
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
        self.recalled_counts = self._turn_memories.recall_counts
        """Return the numbers of what was recalled by message, for those of the user's messages that recalled any."""

    async def sources_of(self, message_id: UUID) -> ReplySources | None:
        """Return the sources of a reply, or of the reply to a message of the user; None if the message no longer exists."""
        try:
            message = await self._session_store.message(message_id)
            session = await self._session_store.session(message.session_id)
        except StorageError:
            return None
        user_message: Message | None = message
        if message.role is not Role.USER:
            above = await self._session_store.newest_messages(session.guid, LOOK_BACK, message.id)
            user_message = newest_user_message(above)
        prefix = await self._stable_prefixes.load(session.guid)
        sources = ReplySources(
            session.persona_id,
            user_message,
            is_incognito=session.is_incognito,
            stable_content=await self._describe_stable_content(prefix) if prefix is not None else StablePromptContent(),
        )
        memory = await self._recall.stored_recall(user_message.id) if user_message is not None else None
        if memory is None:
            return sources
        recalled = [one for one in memory.recalled if one.memory != session.guid]  # not the note of the time
        full_sessions = [await find(self._session_store.session(guid)) for guid in (prefix.earlier if prefix else ())]
        return replace(
            sources,
            is_known=True,
            recalled=tuple([await self._describe_memory(recollection) for recollection in recalled]),
            blocked=tuple(memory.blocked),
            session_notes=memory.session_notes,
            remark=memory.remark,
            forgotten=memory.forgotten,
            full_session_titles=tuple(earlier.name for earlier in reversed(full_sessions) if earlier is not None),
        )

    async def _describe_stable_content(self, prefix: StablePrefix) -> StablePromptContent:
        """Return the core facts and summaries that are in the next prompt of a session."""
        sessions = [await find(self._session_store.session(section.guid)) for section in prefix.summaries]
        summaries = (
            (session.name if session is not None else "", section.text)
            for session, section in zip(sessions, prefix.summaries, strict=True)
        )
        return StablePromptContent(tuple(section.text for section in prefix.facts), tuple(summaries))

    async def _describe_memory(self, recollection: RecalledMemory) -> ReplyMemory:
        guid, text = recollection.memory, recollection.text
        traces = tuple([RecallTrace(lead, await self._find_origin(lead, recollection)) for lead in recollection.leads])
        if recollection.world:
            return ReplyMemory(recollection, SourceKind.WORLD, guid, text, traces)
        if recollection.is_passage:
            return ReplyMemory(recollection, SourceKind.DOCUMENT, guid, traces[0].lead.text, traces)
        if (fact := await self._fact(recollection)) is not None:
            origin = await self._find_statement(fact)
            return ReplyMemory(recollection, SourceKind.FACT, fact.guid, fact.fact, traces, origin, pinned=fact.pinned)
        if recollection.category is MemoryType.CHAT_SESSION:
            return await self._describe_session(recollection, traces)
        if (memory := await find(self._memory_store.get(guid))) is None:
            return ReplyMemory(recollection, SourceKind.MEMORY, guid, strip_quotes(text), traces, is_stored=False)
        return ReplyMemory(recollection, SourceKind.MEMORY, guid, memory.content, traces, pinned=memory.sticky)

    async def _describe_session(self, recollection: RecalledMemory, traces: tuple[RecallTrace, ...]) -> ReplyMemory:
        guid, text = recollection.memory, recollection.text
        if (session := await find(self._session_store.session(guid))) is None:
            return ReplyMemory(recollection, SourceKind.CONVERSATION, guid, text, traces, is_stored=False)
        origin = (traces[0].origin if traces else None) or StatementOrigin(guid, session.name, session.added)
        shown, pinned = text or session.content, session.sticky
        return ReplyMemory(recollection, SourceKind.CONVERSATION, guid, shown, traces, origin, pinned=pinned)

    async def _fact(self, recollection: RecalledMemory) -> ExtractedFact | None:
        """Return the fact that was recalled or led to the recall; None if there is none."""
        if recollection.way is not RecallWay.FACT or not recollection.leads or recollection.leads[0].kind != PassageKind.FACT:
            return None
        return await find(self._fact_store.get(recollection.leads[0].origin))

    async def _find_origin(self, lead: RecallLead, recollection: RecalledMemory) -> StatementOrigin | None:
        with suppress(StorageError):
            if lead.kind == PassageKind.FACT:
                return await self._find_statement(await self._fact_store.get(lead.origin))
            if lead.kind == PassageKind.MESSAGE:
                return await self._message_origin(lead.origin)
        return await self._session_origin(recollection.memory) if recollection.category is MemoryType.CHAT_SESSION else None

    async def _find_statement(self, fact: ExtractedFact) -> StatementOrigin | None:
        """Return the newest message that states the fact, or else the session it was extracted from."""
        for message in reversed(fact.source_messages):
            if (origin := await find(self._message_origin(message))) is not None:
                return origin
        for session in reversed(fact.source_memories):
            found = await self._session_origin(session)
            if found is not None:
                return found
        return None

    async def _message_origin(self, guid: UUID) -> StatementOrigin:
        message = await self._session_store.message(guid)
        session = await self._session_store.session(message.session_id)
        return StatementOrigin(session.guid, session.name, message.time, message.id)

    async def _session_origin(self, guid: UUID) -> StatementOrigin | None:
        session = await find(self._session_store.session(guid))
        return StatementOrigin(session.guid, session.name, session.added) if session is not None else None


async def find(reading: Awaitable[T]) -> T | None:
    """Return the record that is read; None if it was deleted since."""
    with suppress(StorageError):
        return await reading
    return None
