"""Keep the passages of world entries in sync with the world files, which may be edited while the program runs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from lethe_app.brain.lore.decorators import read_decorators
from lethe_app.domain.memory import MemoryInsertion
from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.library import Library
from lethe_app.services.scheduling.loop import BackgroundPriority
from lethe_app.services.stored_values import read_stored
from lethe_app.storage.key_value import AppState

WORLD_PREFIX = "world:"
"""Beginning of the owner of what belongs to a world."""
DOCUMENTS_PREFIX = "documents:"
"""Beginning of the owner of passages of documents, which are searched by themselves; the persona or world follows."""
WAITING_PREFIX = "waiting:"
"""Beginning of the owner of passages of memories with natural insertion: they are compared with messages, but found by no
search.
"""
SCOPE = "worlds"
"""Scope of the app state for the state of indexed worlds, by file name."""
BATCH_SIZE = 100
"""Entries indexed in one transaction."""


class IndexedWorld(BaseModel):
    """Stored state of an indexed world."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    digest: str = ""
    """Hash of the whole world; empty while it is being indexed."""
    entries: list[UUID] = []
    """Entries that may have passages."""


class WorldPassages:
    """Index world entries. An unchanged entry keeps its passages and embeddings when other entries of its world change."""

    def __init__(self, library: Library, app_state: AppState, memory_index: MemoryIndex, priority: BackgroundPriority) -> None:
        self._library = library
        self._app_state = app_state
        self._memory_index = memory_index
        self._priority = priority
        self._synced: dict[str, World] = {}
        """The worlds as indexed last. The library returns the same object as long as the file is unchanged."""
        self._one_at_a_time = asyncio.Lock()

    def are_indexed(self, worlds: Mapping[str, World]) -> bool:
        """Return whether these worlds are unchanged since they were indexed."""
        return all(self._synced.get(name) is world for name, world in worlds.items())

    async def reset(self) -> None:
        """Mark all worlds as not indexed."""
        self._synced = {}
        for name in await self._app_state.values_of(SCOPE):
            await self._store_state(name, IndexedWorld())

    async def sync(self) -> None:
        """Index worlds that were changed, added or deleted."""
        async with self._one_at_a_time:
            worlds = await self._library.worlds()
            if self._synced.keys() == worlds.keys() and self.are_indexed(worlds):
                return
            stored_states = await self._app_state.values_of(SCOPE)
            # A state that cannot be read is replaced by an empty one, so that the world is indexed again.
            known = await asyncio.to_thread(
                lambda: {
                    name: read_stored(IndexedWorld.model_validate, stored) or IndexedWorld()
                    for name, stored in stored_states.items()
                }
            )
            digests = await asyncio.to_thread(lambda: {name: digest(world) for name, world in worlds.items()})
            changed = [name for name, value in digests.items() if name not in known or known[name].digest != value]
            await self._index_entries(worlds, known, [*changed, *(known.keys() - worlds.keys())])
            for name in changed:
                entries = await asyncio.to_thread(embedded_entries, worlds[name])
                await self._store_state(name, IndexedWorld(digest=digests[name], entries=entries))
            for name in known.keys() - worlds.keys():
                await self._store_state(name, None)
            self._synced = worlds

    async def _index_entries(
        self, worlds: Mapping[str, World], known: Mapping[str, IndexedWorld], changed: Iterable[str]
    ) -> None:
        """Index in small batches, between which other work has its turn. If it is interrupted, it starts again the next
        time.
        """
        affected: dict[UUID, None] = {}
        for name in changed:
            before = known.get(name, IndexedWorld()).entries
            after = await asyncio.to_thread(embedded_entries, worlds[name]) if name in worlds else []
            guids = dict.fromkeys([*before, *after])
            affected |= guids
            # Stored without a digest before the first batch, so that an interrupted run is recognised and repeated.
            await self._store_state(name, IndexedWorld(entries=list(guids)))
        entries_by_guid = await asyncio.to_thread(worlds_by_entry, worlds, affected)
        guids_to_index = list(affected)
        for start in range(0, len(guids_to_index), BATCH_SIZE):
            batch = guids_to_index[start : start + BATCH_SIZE]
            passages = await asyncio.to_thread(_passages_of, [pair for guid in batch for pair in entries_by_guid.get(guid, ())])
            await self._priority.wait_for_turn_end()
            await self._memory_index.replace(batch, passages)

    async def _store_state(self, name: str, value: IndexedWorld | None) -> None:
        stored = await asyncio.to_thread(value.model_dump, mode="json") if value is not None else None
        await self._app_state.set(SCOPE, name, stored)


def owner_of_world(name: str) -> str:
    """Return the owner of a world's passages; every persona to which the world is assigned searches them."""
    return f"{WORLD_PREFIX}{name}"


def digest(world: World) -> str:
    """Return a hash of the whole world."""
    state = hashlib.blake2b(world.model_dump_json(exclude={"entries"}).encode(errors="surrogatepass"), digest_size=16)
    for entry in world.entries:  # one by one: all in one go would keep Python from the window for a tenth of a second
        state.update(entry.model_dump_json().encode(errors="surrogatepass"))
    return state.hexdigest()


def embedded_entries(world: World) -> list[UUID]:
    """Return the entries that are recalled by embedding similarity, besides their keywords."""
    return [entry.guid for entry in world.entries if _is_embedded(world, entry)]


def worlds_by_entry(worlds: Mapping[str, World], guids: Mapping[UUID, None]) -> dict[UUID, list[tuple[str, WorldEntry]]]:
    """Return these entries by guid with every world that contains them, because a copied world has the guids of its
    original. Within one world a guid counts once.
    """
    entries: dict[UUID, dict[str, WorldEntry]] = {}
    for name, world in worlds.items():
        for entry in world.entries:
            if entry.guid in guids and _is_embedded(world, entry):
                entries.setdefault(entry.guid, {}).setdefault(name, entry)
    return {guid: list(by_world.items()) for guid, by_world in entries.items()}


def _passages_of(entries: Iterable[tuple[str, WorldEntry]]) -> list[Passage]:
    """Return the passages of entries, each with the file name of its world."""
    return [
        passage
        for name, entry in entries
        for passage in passage_builder.memory_passages(
            PassageKind.WORLD, owner_of_world(name), entry.guid, entry.name, read_decorators(entry).entry.content, entry.added
        )
    ]


def _is_embedded(world: World, entry: WorldEntry) -> bool:
    is_embedded = world.do_embeds if entry.do_embeds is None else entry.do_embeds
    return entry.enabled and is_embedded and entry.insertion is MemoryInsertion.TRIGGER
