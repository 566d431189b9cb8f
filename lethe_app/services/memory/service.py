"""Memories of a persona: stored, edited and deleted. A memory with known content replaces the stored one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from lethe_app.brain.recall import duplicates
from lethe_app.brain.recall.duplicates import TYPES_MERGED_BY_NAME
from lethe_app.brain.vocabulary.normalize import normalize_text
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.errors import LetheError, StorageError
from lethe_app.retrieval.fact_relation import FactRelation, classify_relation
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import WAITING_PREFIX
from lethe_app.services.library import Library
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.storage.memory.memories import MemoryStore

NEAREST = 50
"""Passages among which the nearest memory of the same type is looked for."""


class MemoryService:
    """Memory service of all personas. A persona's memories are separate from those of the others."""

    def __init__(
        self,
        memory_store: MemoryStore,
        memory_cache: MemoryCache,
        memory_index: MemoryIndex,
        indexing: IndexingService,
        calibration: Calibration,
        library: Library,
        renewed: Listeners[str],
    ) -> None:
        """`renewed` emits the persona whose prompts have to be made again."""
        self.changed = memory_cache.changed
        self._memory_store = memory_store
        self._memory_cache = memory_cache
        self._memory_index = memory_index
        self._indexing = indexing
        self._calibration = calibration
        self._library = library
        self._renewed = renewed
        self.memories_with_metadata = self._memory_store.memories_with_metadata
        """Return the memories of all personas that have this value in their metadata, oldest first, with the persona's id."""

    async def memories(self, persona_id: str) -> Sequence[MemoryUnit]:
        """Return the persona's memories that are neither sessions nor in the trash, newest first."""
        return list(await self._memory_cache.memories_of(persona_id))

    async def memorize(
        self,
        persona_id: str,
        memory: MemoryUnit,
        *,
        check: bool = True,
        before_store: Callable[[MemoryUnit], Awaitable[None]] | None = None,
    ) -> MemoryUnit:
        """Store a memory and return its record. It replaces a known memory with the same content, and takes over its guid,
        sources and counts.

        With `check=False` it is stored beside the others. A memory made by a task or tool never replaces one of the user.
        `before_store` is called with the record before it is stored. Raise LetheError for a session.
        """
        if memory.category is MemoryType.CHAT_SESSION:
            raise LetheError("A conversation cannot be stored as a memory.", "Archive it instead.")
        await self._indexing.index_all_pending()
        known_memories = {
            known.guid: known
            for known in await self._memory_cache.memories_of(persona_id)
            if known.made_by or not memory.made_by
        }
        if not check or memory.guid in known_memories:
            record = memory
        else:
            limits = await self._calibration.thresholds()
            nearest = await self._find_nearest(persona_id, memory, known_memories)
            # What is neither the same nor an update is kept beside it.
            if nearest is not None:
                relation = classify_relation(nearest[0].content, memory.content, nearest[1], limits)
                nearest = None if relation is FactRelation.NEW else nearest
            name = (memory.category, memory.name.strip().casefold())
            namesakes = (one for one in known_memories.values() if (one.category, one.name.strip().casefold()) == name)
            namesake = next(namesakes, None) if memory.category in TYPES_MERGED_BY_NAME else None
            record = duplicates.deduplicate(memory, namesake, nearest, limits.same_memory)
        if before_store is not None:
            await before_store(record)
        await self._memory_cache.save_memories(persona_id, record)
        await self._indexing.index_changes()
        return record

    async def edit(self, memory: MemoryUnit, editor: str = "") -> None:
        """Replace the content of a memory. Raise StorageError if it does not exist or is in the trash.

        `editor` is the task or tool that edits; empty is the user, to whom the memory belongs from then on.
        """
        await self._memory_store.get(memory.guid)
        persona_id = await self._memory_store.owner_of(memory.guid)
        await self._memory_cache.save_memories(persona_id, memory.model_copy(update={"made_by": editor}))
        await self._indexing.index_changes()

    async def forget_memory(self, guid: UUID) -> None:
        """Move a memory to the trash, so that it is no longer recalled. Raise StorageError if it does not exist."""
        await self._memory_store.get(guid)
        persona_id = await self._memory_store.owner_of(guid)
        await self._memory_cache.delete(persona_id, [guid])
        await self._indexing.index_changes()

    async def restore(self, guid: UUID) -> None:
        """Restore a memory from the trash. Raise StorageError if it is not there."""
        persona_id = await self._memory_store.owner_of(guid)
        if not await self._memory_cache.restore(persona_id, [guid]):
            raise StorageError("This memory is no longer in the Trash.")
        await self._indexing.index_changes()

    def drop_caches(self) -> None:
        """Drop all caches, so that memories are read from the database again."""
        self._memory_cache.reload()
        self._memory_index.reload()

    async def reload(self) -> None:
        """Drop all caches, and index pending changes."""
        self.drop_caches()
        await self._indexing.index_all_pending()

    async def rebuild(self) -> None:
        """Rebuild the memory index from the database, for use after a part of it was lost or damaged."""
        await self.reload()
        await self._indexing.rebuild()
        for persona in await self._library.personas():
            self._renewed.notify(persona.unique_name)

    async def _find_nearest(
        self, persona_id: str, memory: MemoryUnit, known_memories: dict[UUID, MemoryUnit]
    ) -> tuple[MemoryUnit, float] | None:
        """Return the nearest memory of the same type that may be replaced, memories waiting to be brought up included, with
        its distance.
        """
        replaceable = {
            guid: known for guid, known in known_memories.items() if known.category is memory.category and not known.protected
        }
        content_words = normalize_content(memory)
        if content_words and (
            exact_match := next((known for known in replaceable.values() if normalize_content(known) == content_words), None)
        ):
            return exact_match, 0.0  # known without any embedder
        text = f"{memory.name}: {memory.content}" if memory.name else memory.content
        nearest_by_owner: list[tuple[float, MemoryUnit]] = []
        # Waiting memories are indexed under another owner, so that ordinary searches do not find them.
        for owner in (persona_id, f"{WAITING_PREFIX}{persona_id}"):
            for guid, distance in await self._memory_index.nearest_origins(owner, text, PassageKind.MEMORY, NEAREST):
                if guid in replaceable:
                    nearest_by_owner.append((distance, replaceable[guid]))
                    break
        return min(((nearest, distance) for distance, nearest in nearest_by_owner), key=lambda pair: pair[1], default=None)


def normalize_content(memory: MemoryUnit) -> str:
    """Return the content of a memory with case and spacing normalised."""
    return " ".join(normalize_text(memory.content, keep_case=False).split())
