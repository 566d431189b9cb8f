"""Keep the passage index up to date: process pending changes and compute missing embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.text.reported_speech import is_reported_question
from lethe_app.brain.text.withdrawn import remove_withdrawn
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.passage import HEADING_SEPARATOR, DocumentChunk, Passage, PassageKind
from lethe_app.domain.worldinfo import World
from lethe_app.errors import LetheError, StorageError
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.assertions import is_statement
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.worlds import DOCUMENTS_PREFIX, WAITING_PREFIX, WorldPassages
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.index.pending import PendingIndex, PendingRecord
from lethe_app.storage.memory.documents import DocumentStore
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore

AT_ONCE = 100
"""Changes indexed in one transaction."""
EMBEDDED_AT_ONCE = 4
"""Passages embedded in one call; a query that arrives meanwhile waits for no more than these."""
CHECK_INTERVAL = 60.0
"""Seconds after which pending changes are looked for without a notification."""
MAX_SOURCES = 3
"""A fact leads to the newest of the sessions in which it was stated; a frequent one would crowd out other results."""


class PassageSources:
    """Stored records of which passages are made. Times are in the local zone, so that what was added far in the east is not
    dated tomorrow.
    """

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
                remove_withdrawn(message.text, message.withdrawn) if message.withdrawn else message.text,
                message.time.astimezone(),
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
        session.persona_id, session.guid, "\n".join(filter(None, [title, *statements])), session.added.astimezone()
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
        PassageKind.MEMORY, passage_owner, memory.guid, *text, memory.added.astimezone(), category_words
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
        return passage_builder.fact_passages(owner, fact.guid, fact.guid, fact.fact, fact.last_seen.astimezone())
    return [
        passage
        for session in newest
        for passage in passage_builder.fact_passages(owner, session.guid, fact.guid, fact.fact, session.added.astimezone())
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
        chunk.added.astimezone(),
        f"{chunk.title} {chunk.heading}",
    )


@dataclass(frozen=True)
class IndexingProgress:
    """Work still to be done; both are 0 when everything can be found by word and by meaning."""

    changes: int = 0
    """Number of changes that are not indexed yet."""
    without_meaning: int = 0
    """Number of passages without an embedding."""


class IndexingService:
    """Index pending changes, at once on request and otherwise in the background."""

    def __init__(
        self,
        pending: PendingIndex,
        sources: PassageSources,
        worlds: WorldPassages,
        memory_index: MemoryIndex,
        embedding: Embedding,
        calibration: Calibration,
        priority: BackgroundPriority,
    ) -> None:
        self.progress = IndexingProgress()
        self.changed: Listeners[IndexingProgress] = Listeners()
        self._pending, self._sources, self._worlds = pending, sources, worlds
        self.sync_worlds = worlds.sync
        """Index worlds whose files were changed, added or deleted."""
        self._memory_index, self._embedding, self._calibration = memory_index, embedding, calibration
        self._priority = priority
        self._one_at_a_time = asyncio.Lock()
        self.background = BackgroundLoop(self.catch_up, CHECK_INTERVAL)
        """While it is paused, passages without an embedding are found by their words only."""

    async def index_pending(self, limit: int = AT_ONCE) -> int:
        """Index up to `limit` changes, newest first, and return their number."""
        async with self._one_at_a_time:
            changes = await self._pending.newest_entries(limit)
            if changes:
                passages = await self._sources.passages_of(changes)
                await self._memory_index.replace(
                    [change.id for change in changes], passages, [change.number for change in changes]
                )
            return len(changes)

    async def index_all_pending(self) -> None:
        """Index all pending changes."""
        while await self.index_pending():
            pass

    async def index_newest(self, count: int) -> None:
        """Index the `count` newest changes, whatever else waits, so that they can be found by their words at once."""
        while count > 0 and (indexed := await self.index_pending(min(count, AT_ONCE))):
            count -= indexed
        await self._report()

    async def index_changes(self, changed: int = 1) -> None:
        """Index what was just changed and embed it if an embedding model is loaded, so that it can be found at once.

        `changed` is the number of passages concerned.
        """
        await self.index_all_pending()
        for _ in range(0, changed, EMBEDDED_AT_ONCE):
            await self._embed_pending()
        self.background.wake()

    async def catch_up(self, *, limits: bool = True) -> None:
        """Index all changes and worlds and compute all embeddings. Without `limits` a new embedding model is not calibrated,
        which takes a while once.
        """
        if await self.index_pending():  # what was just said is found by its words before anything that takes longer
            await self._report()
        ready = await self._embedding.ensure_loaded()
        if ready and limits:
            with suppress(LetheError):  # the embedder died, or there is nothing to measure it by
                await self._calibration.measure(self._priority.wait_for_turn_end)
        await self._index_remaining()
        while await self._embed_pending():
            await self._report()
            await self._priority.wait_for_turn_end()
        await self._report()

    def check_worlds(self, worlds: Mapping[str, World]) -> None:
        """Check the worlds in use, and activate the background loop if one has changed since it was indexed."""
        if not self._worlds.are_indexed(worlds):
            self.background.wake()

    async def rebuild(self) -> None:
        """Rebuild all passages from their sources. A passage that is unchanged keeps its embedding."""
        await self._pending.queue_all()
        await self._worlds.reset()
        self._memory_index.reload()
        await self._report()
        await self._index_remaining()
        self.background.wake()

    async def _index_remaining(self) -> None:
        """Index all pending changes and worlds while nobody waits for a reply."""
        while await self.index_pending():
            await self._report()
            await self._priority.wait_for_turn_end()
        await self.sync_worlds()

    async def _embed_pending(self) -> int:
        try:
            return await self._memory_index.embed_pending(EMBEDDED_AT_ONCE)
        except LetheError:
            return 0  # the embedder died; what has no meaning yet is found by its words

    async def _report(self) -> None:
        progress = IndexingProgress(await self._pending.count_entries(), await self._memory_index.count_pending())
        if progress != self.progress:
            self.progress = progress
            self.changed.notify(progress)
