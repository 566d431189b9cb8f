"""Lists and details for the memory page: memories in pieces, their categories, and their distances to a text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from uuid import UUID

from lethe_app.domain.list_items import MeaningSearchGap, MemoryLine
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.errors import StorageError
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import WAITING_PREFIX
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.memory_list import MAX_ROWID, MemoryListRows

FIRST_PAGE_SIZE, PAGE_SIZE = 200, 1_000
"""Memories per read: few at first, so that rows appear at once, then as many as take a few milliseconds."""
MAX_DISTANCES = 50
"""Maximum number of memories for which a distance to a text is returned."""


class MemoryLists:
    """Read memories for lists and pages. Changes count as the user's."""

    def __init__(
        self,
        database: Database,
        memory_store: MemoryStore,
        memory_cache: MemoryCache,
        session_store: SessionStore,
        memory_index: MemoryIndex,
        indexing: IndexingService,
    ) -> None:
        self._listing = MemoryListRows(database)
        self._memory_store, self._memory_cache, self._session_store = memory_store, memory_cache, session_store
        self._memory_index, self._indexing = memory_index, indexing
        self.list_filings = self._memory_store.filings_of
        """Return category and tags of each memory that has any."""

    async def list_memories(self, persona_id: str) -> AsyncIterator[list[MemoryLine]]:
        """Yield all memories of a persona, sessions included, in pieces, last stored first."""
        position, limit = MAX_ROWID, FIRST_PAGE_SIZE
        while True:
            lines, position = await self._listing.page_of_memories(persona_id, limit, position)
            if lines:
                yield lines
            if len(lines) < limit:
                return
            limit = PAGE_SIZE

    async def load_memory(self, guid: UUID) -> MemoryUnit:
        """Return a memory, or the record of a session. Raise StorageError if it is not stored any more."""
        try:
            return await self._memory_store.get(guid)
        except StorageError as error:
            with suppress(StorageError):
                return await self._session_store.session(guid)
            raise error from None

    async def title_of(self, memory: MemoryUnit) -> str:
        """Return the title under which a memory is listed: its name, for a session without one the beginning of its first
        message.
        """
        return memory.name or await self._session_store.title_of(memory.guid)

    async def forget_memories(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Move memories to the trash and remove their passages from the index."""
        await self._memory_cache.delete(persona_id, guids)
        await self._indexing.index_changes()

    async def restore_memories(self, persona_id: str, guids: Sequence[UUID]) -> int:
        """Restore memories from the trash and index them again; return how many were restored."""
        restored = await self._memory_cache.restore(persona_id, guids)
        await self._indexing.index_changes()
        return restored

    async def measure_distances(self, persona_id: str, text: str) -> dict[str, float]:
        """Return the cosine distances of the memories and sessions nearest to a text, by guid, nearest first.

        Empty without an embedding model, see `explain_no_distances`. Disabled memories, images, files and memories that are
        only inserted at the user's return have no embedding and are left out.
        """
        if not text.strip():
            return {}
        await self._indexing.index_all_pending()
        by_guid: dict[str, float] = {}
        for owner, kind in (
            (persona_id, PassageKind.MEMORY),
            (f"{WAITING_PREFIX}{persona_id}", PassageKind.MEMORY),
            (persona_id, PassageKind.SENTENCE),
        ):
            nearest = await self._memory_index.nearest_origins(owner, text, kind, MAX_DISTANCES)
            by_guid |= {str(guid): distance for guid, distance in nearest}
        return dict(sorted(by_guid.items(), key=lambda item: item[1])[:MAX_DISTANCES])

    async def explain_no_distances(self) -> MeaningSearchGap:
        """Return why `measure_distances` found nothing."""
        if not self._memory_index.has_embedder:
            return MeaningSearchGap.NO_EMBEDDER
        return MeaningSearchGap.PENDING if await self._memory_index.count_pending() else MeaningSearchGap.NOT_INDEXED
