"""Passages of messages, session summaries, memories, facts and documents, made from the stored records."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from lethe_app.brain.text.reported_speech import is_reported_question
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.passage import HEADING_SEPARATOR, DocumentChunk, Passage, PassageKind
from lethe_app.errors import StorageError
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.assertions import is_statement
from lethe_app.services.indexing.worlds import DOCUMENTS_PREFIX, WAITING_PREFIX
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.index.pending import PendingIndex, PendingRecord
from lethe_app.storage.memory.documents import DocumentStore
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore

MAX_SOURCES = 3
"""A fact leads to the newest of the sessions in which it was stated; a frequent one would crowd out other results."""


class PassageSources:
    """Stored records of which passages are made."""

    def __init__(
        self,
        pending: PendingIndex,
        session_store: SessionStore,
        memory_store: MemoryStore,
        fact_store: FactStore,
        document_store: DocumentStore,
    ) -> None:
        self._pending, self._session_store, self._memory_store = pending, session_store, memory_store
        self._fact_store, self._document_store = fact_store, document_store
        self._builders: Mapping[str, Callable[[Sequence[UUID]], Awaitable[list[Passage]]]] = {
            "message": self._build_message_passages,
            "session": self._build_summary_passages,
            "memory": self._build_memory_passages,
            "fact": self._build_fact_passages,
            "document": self._build_document_passages,
        }

    async def passages_of(self, changes: Sequence[PendingRecord]) -> list[Passage]:
        """Return the passages of the changed records; none of a record that was deleted."""
        passages: list[Passage] = []
        for kind, build in self._builders.items():
            passages += await build([change.id for change in changes if change.kind == kind])
        return passages

    async def _build_message_passages(self, ids: Sequence[UUID]) -> list[Passage]:
        messages = await self._pending.messages_to_index(ids) if ids else []
        return [
            passage
            for message in messages
            if not message.is_opening
            for passage in passage_builder.message_passages(
                message.persona_id,
                message.session,
                message.id,
                message.position,
                message.speaker_name,
                message.text,
                local(message.time),
            )
        ]

    async def _build_summary_passages(self, ids: Sequence[UUID]) -> list[Passage]:
        sessions = [session for id_ in ids if (session := await self._session(id_))]
        return [passage for session in sessions for passage in of_session(session)]

    async def _build_memory_passages(self, ids: Sequence[UUID]) -> list[Passage]:
        found: list[Passage] = []
        for id_ in ids:
            with suppress(StorageError):  # it was deleted: it has nothing to say any more
                memory = await self._memory_store.get(id_)
                found += of_memory(await self._memory_store.owner_of(id_), memory)
        return found

    async def _build_fact_passages(self, ids: Sequence[UUID]) -> list[Passage]:
        found: list[Passage] = []
        for id_ in ids:
            with suppress(StorageError):
                fact = await self._fact_store.get(id_)
                sessions = [session for source in fact.source_memories if (session := await self._session(source))]
                found += of_fact(await self._fact_store.owner_of(id_), fact, sessions)
        return found

    async def _build_document_passages(self, ids: Sequence[UUID]) -> list[Passage]:
        chunks = await self._document_store.chunks(ids) if ids else {}
        return [passage for chunk in chunks.values() for passage in of_document_chunk(chunk)]

    async def _session(self, guid: UUID) -> ChatSession | None:
        try:
            return await self._session_store.session(guid)
        except StorageError:
            return None


def of_session(session: ChatSession) -> list[Passage]:
    """Return passages of the title and the summary, without lines that only report a question, because a question is no
    evidence.

    The title is left out as well if all lines are such, or if there is no summary and the title states nothing.
    """
    summary = [line for line in session.content.splitlines() if line.strip()]
    statements = [line for line in summary if not is_reported_question(line)]
    title = session.name if statements or (not summary and is_statement(session.name)) else ""
    return passage_builder.summary_passages(
        session.persona_id, session.guid, "\n".join(filter(None, [title, *statements])), local(session.added)
    )


def of_memory(owner: str, memory: MemoryUnit) -> list[Passage]:
    """Return the passages of a memory; none if it is never recalled by its content."""
    if not memory.enabled:
        return []
    if memory.insertion not in {MemoryInsertion.TRIGGER, MemoryInsertion.NATURAL, MemoryInsertion.NATURAL_FORCED}:
        return []
    passage_owner = owner if memory.insertion is MemoryInsertion.TRIGGER else f"{WAITING_PREFIX}{owner}"
    category_words, text = passage_builder.category_words(memory.filed_under, memory.tags), (memory.name, memory.content)
    return passage_builder.memory_passages(
        PassageKind.MEMORY, passage_owner, memory.guid, *text, local(memory.added), category_words
    )


def of_fact(owner: str, fact: ExtractedFact, sessions: Sequence[ChatSession]) -> list[Passage]:
    """Return one passage for each of the newest sessions that state the fact; without any, one with the fact itself as its
    source.

    Superseded facts have none. Facts of a story have none either: they are recalled in their own session only.
    """
    if fact.superseded or fact.in_story:
        return []
    newest = sorted(sessions, key=lambda session: session.added, reverse=True)[:MAX_SOURCES]
    if not newest:
        return passage_builder.fact_passages(owner, fact.guid, fact.guid, fact.fact, local(fact.last_seen))
    return [
        passage
        for session in newest
        for passage in passage_builder.fact_passages(owner, session.guid, fact.guid, fact.fact, local(session.added))
    ]


def of_document_chunk(chunk: DocumentChunk) -> list[Passage]:
    """Return the passages of a chunk, which is short enough for one. The title of its document is searched, too."""
    heading = chunk.heading.rpartition(HEADING_SEPARATOR)[2]
    return passage_builder.memory_passages(
        PassageKind.DOCUMENT,
        f"{DOCUMENTS_PREFIX}{chunk.owner}",
        chunk.id,
        heading,
        chunk.text,
        local(chunk.added),
        f"{chunk.title} {chunk.heading}",
    )


def local(moment: datetime) -> datetime:
    """Return the moment in the local time zone, so that what was added far in the east is not dated tomorrow."""
    return moment.astimezone()
