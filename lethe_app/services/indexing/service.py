"""Keep the passage index up to date: process pending changes and compute missing embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from lethe_app.brain.text.reported_speech import is_reported_question
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryInsertion, MemoryUnit
from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.domain.worldinfo import World
from lethe_app.errors import LetheError, StorageError
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.assertions import is_statement
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.worlds import WorldPassages
from lethe_app.services.library import Library
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.index.pending import PendingIndex, PendingRecord
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore

AT_ONCE = 100
"""Changes indexed in one transaction."""
EMBEDDED_AT_ONCE = 4
"""Passages embedded in one call; a query that arrives meanwhile waits for no more than these."""
LOOK_AGAIN = 60.0
"""Seconds after which pending changes are looked for without a notification."""
MOST_SOURCES = 3
"""A fact leads to the newest of the sessions in which it was stated; a frequent one would crowd out other results."""


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
        debts: PendingIndex,
        chats: SessionStore,
        memories: MemoryStore,
        facts: FactStore,
        state: AppState,
        library: Library,
        recall: MemoryIndex,
        embedding: Embedding,
        calibration: Calibration,
        quiet: BackgroundPriority,
    ) -> None:
        self.progress = IndexingProgress()
        self.changed: Listeners[IndexingProgress] = Listeners()
        self._debts = debts
        self._chats = chats
        self._memories = memories
        self._facts = facts
        self._recall = recall
        self._worlds = WorldPassages(library, state, recall, quiet)
        self._embedding = embedding
        self._calibration = calibration
        self._quiet = quiet
        self._one_at_a_time = asyncio.Lock()
        self._background = BackgroundLoop(self.catch_up, LOOK_AGAIN)

    def start(self, pause: float = 0.0) -> None:
        """Begin to work in the background after `pause` seconds."""
        self._background.start(pause)

    def wake(self) -> None:
        """Activate the background loop, because something changed."""
        self._background.wake()

    async def pause(self) -> None:
        """Stop until `start` is called. Passages without an embedding are found by their words only."""
        await self._background.pause()

    @property
    def is_paused(self) -> bool:
        return self._background.is_paused

    async def close(self) -> None:
        await self._background.close()

    async def index_pending(self, most: int = AT_ONCE) -> int:
        """Index up to `most` changes, newest first, and return their number."""
        async with self._one_at_a_time:
            owed = await self._debts.newest_entries(most)
            if owed:
                passages = [passage for kind, make in self._makers().items() for passage in await make(_of(owed, kind))]
                await self._recall.replace([debt.id for debt in owed], passages, [debt.number for debt in owed])
            return len(owed)

    async def settle_all(self) -> None:
        """Index all pending changes."""
        while await self.index_pending():
            pass

    async def follow(self, changed: int = 1) -> None:
        """Index what was just changed and embed it if an embedding model is loaded, so that it can be found at once.

        `changed` is the number of passages concerned.
        """
        await self.settle_all()
        for _ in range(0, changed, EMBEDDED_AT_ONCE):
            await self._give_meaning()
        self.wake()

    async def catch_up(self, *, limits: bool = True) -> None:
        """Index all changes and worlds and compute all embeddings. Without `limits` a new embedding model is not calibrated,
        which takes a while once.
        """
        if await self.index_pending():  # what was just said is found by its words before anything that takes longer
            await self._report()
        ready = await self._embedding.ready()
        if ready and limits:
            with suppress(LetheError):  # the embedder died, or there is nothing to measure it by
                await self._calibration.measure(self._quiet.wait_for_turn_end)
        while await self.index_pending():
            await self._report()
            await self._quiet.wait_for_turn_end()
        await self.sync_worlds()
        while await self._give_meaning():
            await self._report()
            await self._quiet.wait_for_turn_end()
        await self._report()

    async def sync_worlds(self) -> None:
        """Index worlds whose files were changed, added or deleted."""
        await self._worlds.sync()

    def notice(self, worlds: Mapping[str, World]) -> None:
        """Check the worlds in use, and activate the background loop if one has changed since it was indexed."""
        if not self._worlds.knows(worlds):
            self.wake()

    async def rebuild(self) -> None:
        """Rebuild all passages from their sources. A passage that is unchanged keeps its embedding."""
        await self._debts.queue_all()
        await self._worlds.reset()
        self._recall.reload()
        await self._report()
        while await self.index_pending():
            await self._report()
            await self._quiet.wait_for_turn_end()
        await self.sync_worlds()
        self.wake()

    async def _give_meaning(self) -> int:
        try:
            return await self._recall.embed_pending(EMBEDDED_AT_ONCE)
        except LetheError:
            return 0  # the embedder died; what has no meaning yet is found by its words

    async def _report(self) -> None:
        progress = IndexingProgress(await self._debts.count_entries(), await self._recall.count_pending())
        if progress != self.progress:
            self.progress = progress
            self.changed.tell(progress)

    # Passages by kind of source

    def _makers(self) -> dict[str, Callable[[Sequence[UUID]], Awaitable[list[Passage]]]]:
        return {"message": self._lines, "session": self._summaries, "memory": self._memory_texts, "fact": self._fact_texts}

    async def _lines(self, ids: Sequence[UUID]) -> list[Passage]:
        spoken = await self._debts.messages_to_index(ids) if ids else []
        return [
            passage
            for one in spoken
            if not one.is_opening
            for passage in passage_builder.message_passages(
                one.persona_id, one.session, one.id, one.place, one.speaker_name, one.text, local(one.time)
            )
        ]

    async def _summaries(self, ids: Sequence[UUID]) -> list[Passage]:
        sessions = [session for id_ in ids if (session := await self._session(id_))]
        return [passage for session in sessions for passage in of_session(session)]

    async def _memory_texts(self, ids: Sequence[UUID]) -> list[Passage]:
        found: list[Passage] = []
        for id_ in ids:
            with suppress(StorageError):  # it was deleted: it has nothing to say any more
                memory = await self._memories.get(id_)
                found += of_memory(await self._memories.owner_of(id_), memory)
        return found

    async def _fact_texts(self, ids: Sequence[UUID]) -> list[Passage]:
        found: list[Passage] = []
        for id_ in ids:
            with suppress(StorageError):
                fact = await self._facts.get(id_)
                sessions = [session for source in fact.source_memories if (session := await self._session(source))]
                found += of_fact(await self._facts.owner_of(id_), fact, sessions)
        return found

    async def _session(self, guid: UUID) -> ChatSession | None:
        try:
            return await self._chats.session(guid)
        except StorageError:
            return None


def owner_of_waiting(persona_id: str) -> str:
    """Return the owner of passages of memories with natural insertion: they are compared with messages, but found by no
    search.
    """
    return f"waiting:{persona_id}"


def of_session(session: ChatSession) -> list[Passage]:
    """Return passages of the title and the summary, without lines that only report a question, because a question is no
    evidence.

    The title is left out as well if all lines are such, or if there is no summary and the title states nothing.
    """
    summary = [line for line in session.content.splitlines() if line.strip()]
    told = [line for line in summary if not is_reported_question(line)]
    title = session.name if told or (not summary and is_statement(session.name)) else ""
    return passage_builder.summary_passages(
        session.persona_id, session.guid, "\n".join(filter(None, [title, *told])), local(session.added)
    )


def of_memory(owner: str, memory: MemoryUnit) -> list[Passage]:
    """Return the passages of a memory; none if it is never recalled by its content."""
    if not memory.enabled:
        return []
    if memory.insertion not in {MemoryInsertion.TRIGGER, MemoryInsertion.NATURAL, MemoryInsertion.NATURAL_FORCED}:
        return []
    whose = owner if memory.insertion is MemoryInsertion.TRIGGER else owner_of_waiting(owner)
    filed, text = passage_builder.category_words(memory.filed_under, memory.tags), (memory.name, memory.content)
    return passage_builder.memory_passages(PassageKind.MEMORY, whose, memory.guid, *text, local(memory.added), filed)


def of_fact(owner: str, fact: ExtractedFact, sessions: Sequence[ChatSession]) -> list[Passage]:
    """Return one passage for each of the newest sessions that state the fact; without any, one with the fact itself as its
    source.

    Superseded facts have none. Facts of a story have none either: they are recalled in their own session only.
    """
    if fact.superseded or fact.in_story:
        return []
    newest = sorted(sessions, key=lambda session: session.added, reverse=True)[:MOST_SOURCES]
    if not newest:
        return passage_builder.fact_passages(owner, fact.guid, fact.guid, fact.fact, local(fact.last_seen))
    return [
        passage
        for session in newest
        for passage in passage_builder.fact_passages(owner, session.guid, fact.guid, fact.fact, local(session.added))
    ]


def local(moment: datetime) -> datetime:
    """Return the moment in the local time zone, so that what was added far in the east is not dated tomorrow."""
    return moment.astimezone()


def _of(owed: Sequence[PendingRecord], kind: str) -> list[UUID]:
    return [debt.id for debt in owed if debt.kind == kind]
