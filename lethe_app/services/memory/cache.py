"""Cache of the memories of each persona, so that a turn does not read them from the database again."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.brain.recall.memory_set import MemorySet
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.events import Listeners
from lethe_app.storage.memory.memories import MemoryStore
from lethe_app.storage.memory.turn_memories import TurnEffects

MAX_SINGLE_READS = 500
"""Changed memories that are re-read one by one; above it the whole set is reloaded."""


class MemoryCache:
    """Write-through cache of memories: every change to memories goes through it. `changed` emits the persona."""

    def __init__(self, memory_store: MemoryStore) -> None:
        self.changed: Listeners[str] = Listeners()
        self.forgotten: Listeners[str] = Listeners()
        """Emits the persona when memories were moved to the trash or lost some of their text."""
        self._memory_store = memory_store
        self._sets: dict[str, MemorySet] = {}
        self._stale: dict[str, set[UUID]] = {}
        """Ids of cached memories that have changed since they were read, by persona."""
        self._changes = 0

    async def memories_of(self, persona_id: str) -> MemorySet:
        """Return the persona's memories that are not in the trash, newest first."""
        while (cached := self._sets.get(persona_id)) is None or self._stale.get(persona_id):
            before = self._changes
            loaded = await self._read(persona_id, cached)
            if before == self._changes:  # else what was read is out of date already
                self._sets[persona_id] = loaded
                self._stale.pop(persona_id, None)
        return cached

    async def _read(self, persona_id: str, cached: MemorySet | None) -> MemorySet:
        """Read the whole set, or only the changed memories if they are few: freeing tens of thousands of records takes long,
        too.
        """
        stale_ids = self._stale.get(persona_id, set())
        if cached is None or len(stale_ids) > MAX_SINGLE_READS:
            return await asyncio.to_thread(MemorySet, await self._memory_store.memories_of(persona_id))
        return await asyncio.to_thread(
            cached.with_changes, await self._memory_store.memories_with_ids(persona_id, stale_ids), frozenset(stale_ids)
        )

    async def save_memories(self, persona_id: str, *memories: MemoryUnit) -> None:
        """Store memories; one with a known guid replaces the stored one."""
        cached = (await self.memories_of(persona_id)).by_guid
        await self._memory_store.save_memories(persona_id, *memories)
        self._mark_stale(persona_id, [memory.guid for memory in memories])
        if any(cached[memory.guid].content not in memory.content for memory in memories if memory.guid in cached):
            self.forgotten.notify(persona_id)

    async def delete(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Move memories to the trash."""
        if guids:
            await self._memory_store.delete(guids)
            self._mark_stale(persona_id, guids)
            self.forgotten.notify(persona_id)

    async def restore(self, persona_id: str, guids: Sequence[UUID]) -> int:
        """Restore memories from the trash; return the number of those that were in it."""
        restored = await self._memory_store.restore(guids)
        self._mark_stale(persona_id, guids)
        return restored

    def apply_effects(self, effects: TurnEffects) -> None:
        """Update the cache with the changes to memories that a turn has stored together with its other effects."""
        if effects.recalled:
            self._apply_recalls(effects.persona_id, effects.recalled, effects.moment)
        if effects.changed or effects.deleted:
            self._mark_stale(effects.persona_id, [*(memory.guid for memory in effects.changed), *effects.deleted])
        if effects.deleted:
            self.forgotten.notify(effects.persona_id)

    def refresh(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Read these memories again on the next access, because storage has moved them to the trash or back."""
        self._mark_stale(persona_id, guids)
        self.forgotten.notify(persona_id)

    def reload(self) -> None:
        """Drop the cache; memories are read again on the next access."""
        self._changes += 1
        self._sets.clear()
        self._stale.clear()

    def _apply_recalls(self, persona_id: str, guids: Collection[UUID], moment: datetime) -> None:
        self._changes += 1
        if persona_id in self._sets:  # thousands need not be read again because of a few
            self._sets[persona_id] = self._sets[persona_id].with_recalls(guids, moment)

    def _mark_stale(self, persona_id: str, guids: Collection[UUID]) -> None:
        self._changes += 1
        self._stale.setdefault(persona_id, set()).update(guids)
        self.changed.notify(persona_id)
