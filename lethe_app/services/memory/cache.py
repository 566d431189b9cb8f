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

FEW = 500
"""Changed memories that are re-read one by one; above it the whole set is reloaded."""


class MemoryCache:
    """Write-through cache of memories: every change to memories goes through it. `changed` emits the persona."""

    def __init__(self, memory_store: MemoryStore) -> None:
        self.changed: Listeners[str] = Listeners()
        self.forgotten: Listeners[str] = Listeners()
        """Emits the persona when memories were moved to the trash or lost some of their text."""
        self._memory_store = memory_store
        self._held: dict[str, MemorySet] = {}
        self._stale: dict[str, set[UUID]] = {}
        """Ids of cached memories that have changed since they were read, by persona."""
        self._changes = 0

    async def memories_of(self, persona_id: str) -> MemorySet:
        """Return the persona's memories that are not in the trash, newest first."""
        while (held := self._held.get(persona_id)) is None or self._stale.get(persona_id):
            before = self._changes
            made = await self._read(persona_id, held)
            if before == self._changes:  # else what was read is out of date already
                self._held[persona_id] = made
                self._stale.pop(persona_id, None)
        return held

    async def _read(self, persona_id: str, held: MemorySet | None) -> MemorySet:
        """Read the whole set, or only the changed memories if they are few: freeing tens of thousands of records takes long,
        too.
        """
        named = self._stale.get(persona_id, set())
        if held is None or len(named) > FEW:
            return await asyncio.to_thread(MemorySet, await self._memory_store.memories_of(persona_id))
        return await asyncio.to_thread(
            held.with_changes, await self._memory_store.memories_with_ids(persona_id, named), frozenset(named)
        )

    async def save_memories(self, persona_id: str, *memories: MemoryUnit) -> None:
        """Store memories; one with a known guid replaces the stored one."""
        held = (await self.memories_of(persona_id)).by_guid
        await self._memory_store.save_memories(persona_id, *memories)
        self._tell(persona_id, [one.guid for one in memories])
        if any(held[one.guid].content not in one.content for one in memories if one.guid in held):
            self.forgotten.notify(persona_id)

    async def delete(self, persona_id: str, guids: Sequence[UUID]) -> None:
        """Move memories to the trash."""
        if guids:
            await self._memory_store.delete(guids)
            self._tell(persona_id, guids)
            self.forgotten.notify(persona_id)

    async def restore(self, persona_id: str, guids: Sequence[UUID]) -> int:
        """Restore memories from the trash; return the number of those that were in it."""
        restored = await self._memory_store.restore(guids)
        self._tell(persona_id, guids)
        return restored

    async def touch(self, persona_id: str, guids: Sequence[UUID], moment: datetime) -> None:
        """Record that these memories were recalled at `moment`."""
        if guids:
            await self._memory_store.mark_recalled(guids, moment)
            self._retouch(persona_id, guids, moment)

    def follow(self, traces: TurnEffects) -> None:
        """Update the cache with the changes to memories that a turn has stored together with its other effects."""
        self._retouch(traces.persona_id, traces.recalled, traces.moment)
        if traces.changed or traces.deleted:
            self._tell(traces.persona_id, [*(one.guid for one in traces.changed), *traces.deleted])
        if traces.deleted:
            self.forgotten.notify(traces.persona_id)

    def reload(self) -> None:
        """Drop the cache; memories are read again on the next access."""
        self._changes += 1
        self._held.clear()
        self._stale.clear()

    def _retouch(self, persona_id: str, guids: Collection[UUID], moment: datetime) -> None:
        self._changes += bool(guids)
        if guids and persona_id in self._held:  # thousands need not be read again because of a few
            self._held[persona_id] = self._held[persona_id].with_recalls(guids, moment)

    def _tell(self, persona_id: str, guids: Collection[UUID]) -> None:
        self._changes += 1
        self._stale.setdefault(persona_id, set()).update(guids)
        self.changed.notify(persona_id)
