"""Keep the passage index up to date: process pending changes and compute missing embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from lethe_app.domain.worldinfo import World
from lethe_app.errors import LetheError
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.indexing.passage_sources import PassageSources
from lethe_app.services.indexing.worlds import WorldPassages
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.storage.index.pending import PendingIndex

AT_ONCE = 100
"""Changes indexed in one transaction."""
EMBEDDED_AT_ONCE = 4
"""Passages embedded in one call; a query that arrives meanwhile waits for no more than these."""
CHECK_INTERVAL = 60.0
"""Seconds after which pending changes are looked for without a notification."""


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
