"""Key moments as memories: stored by day, and moved to the trash when the user forgets or rewords the fact they state."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from uuid import UUID

from lethe_app.brain.facts.merge import is_text_forgotten
from lethe_app.brain.facts.updates import is_stated
from lethe_app.brain.summary.digest import KeyMoment
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import KEY_MOMENTS, MemoryType, MemoryUnit
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore


class KeyMomentStore:
    """Key moments of all personas."""

    def __init__(self, memory_cache: MemoryCache, memory_store: MemoryStore, fact_store: FactStore) -> None:
        self._memory_cache, self._memory_store, self._fact_store = memory_cache, memory_store, fact_store

    async def replace_day(self, persona_id: str, day: date, moments: Sequence[KeyMoment]) -> None:
        """Store the key moments of a day in place of those found before, unless the user edited these."""
        texts = {moment.text for moment in moments}
        # Not in the window's thread, which tens of thousands of them for each of many days would block.
        found = await asyncio.to_thread(
            lambda memories: [memory for memory in memories if memory.made_by == KEY_MOMENTS or memory.content in texts],
            list(await self._memory_cache.memories_of(persona_id)),
        )
        of_day = [one for one in found if one.made_by == KEY_MOMENTS and one.added.date() == day]  # in its message's time zone
        await self._memory_cache.delete(persona_id, [memory.guid for memory in of_day if memory.content not in texts])
        if new := [_build_memory(moment) for moment in moments if all(memory.content != moment.text for memory in found)]:
            await self._memory_cache.save_memories(persona_id, *new)

    async def without_forgotten(self, persona_id: str, moments: Sequence[KeyMoment]) -> list[KeyMoment]:
        """Return the moments that do not state a fact the user has forgotten, or the former wording of a reworded one."""
        tombstones = await self._fact_store.tombstones_of(persona_id)
        forgotten = await self._fact_store.facts_of(persona_id, deleted=True)
        return [
            moment
            for moment in moments
            if not is_text_forgotten(moment.text, moment.sources, tombstones)
            and not is_stated(moment.text, moment.sources, forgotten)
        ]

    async def delete_stating(self, persona_id: str, fact: ExtractedFact) -> None:
        """Move the key moments that state a fact to the trash, because the user has forgotten or reworded it."""
        await self._memory_cache.delete(persona_id, _find_stating(await self._memory_cache.memories_of(persona_id), [fact]))

    async def restore_stating(self, persona_id: str, facts: Sequence[ExtractedFact]) -> None:
        """Restore the key moments that state one of these facts from the trash, because the facts were restored."""
        deleted = await self._memory_store.memories_of(persona_id, deleted=True) if facts else []
        if guids := _find_stating(deleted, facts):
            await self._memory_cache.restore(persona_id, guids)


def _find_stating(memories: Sequence[MemoryUnit], facts: Sequence[ExtractedFact]) -> list[UUID]:
    """Return the key moments, but for those the user edited, that state one of the facts."""
    return [
        memory.guid
        for memory in memories
        if memory.made_by == KEY_MOMENTS and any(is_stated(memory.content, memory.source_messages, [fact]) for fact in facts)
    ]


def _build_memory(moment: KeyMoment) -> MemoryUnit:
    return MemoryUnit(
        category=MemoryType.EVENT,
        content=moment.text,
        added=moment.time,
        last_trigger=moment.time,
        protected=True,
        sources=[f"message:{guid}" for guid in moment.sources],
        made_by=KEY_MOMENTS,
    )
