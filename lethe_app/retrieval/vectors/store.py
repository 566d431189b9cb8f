"""Vector indexes of each owner, loaded, grown, rebuilt and written to files in the background without blocking searches."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from lethe_app.errors import LetheError
from lethe_app.retrieval.vectors import persistence
from lethe_app.retrieval.vectors.index import NO_RESULTS, HnswGraph, Numbers, Vectors, VectorTable, tune_width
from lethe_app.retrieval.vectors.persistence import GraphLocation
from lethe_app.retrieval.vectors.stored import usable_vectors
from lethe_app.storage.index.passages import Passages

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

EXACT_UP_TO = 20_000
"""Vectors up to which search is exhaustive (a millisecond at 384 dimensions); an HNSW graph is used for more."""
READ_SIZE = 2_000
"""Vectors read from storage per query."""
THREADS = max(1, (os.cpu_count() or 1) // 2)
"""Threads that build a whole graph; the other cores are left to the language model."""
SAVE_SHARE = 0.1
"""Share of an index that must have changed before it is written to its file again."""
RETUNE_GROWTH = 1.5
"""Growth factor since the last measurement of the search width above which it is measured again."""
MIN_UNSAVED = 1_000
"""Minimum number of changes, besides the share `SAVE_SHARE`, after which an index is written to its file again."""


@dataclass
class OwnerIndex:
    """Vector index of one owner."""

    owner: str
    active_index: VectorTable | HnswGraph | None = None
    """Index that answers searches; None while a graph is read from its file."""
    queued_changes: list[tuple[Numbers, Vectors | None]] | None = None
    """Changes queued while an index is being built: inserted vectors, or None for removed ones. None if nothing is being
    built.
    """
    unsaved: int = 0
    build_task: asyncio.Task[None] | None = field(default=None, repr=False)


class VectorStore:
    """Vector indexes of one embedder, by owner. Use it from one event loop; callers must serialise changes."""

    def __init__(self, passages: Passages, embedder: str, folder: Path | None, exact_up_to: int = EXACT_UP_TO) -> None:
        self._passages = passages
        self._embedder = embedder
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._indexes: dict[str, OwnerIndex] = {}
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, owner: str, numbers: Numbers) -> None:
        """Load the vectors that storage has for these passages of an owner.

        Few vectors are loaded before this returns, many in the background.
        """
        if owner in self._indexes:
            return
        owner_index = self._indexes[owner] = OwnerIndex(owner, queued_changes=[])
        if len(numbers) <= self._exact_up_to:
            await self._load_table(owner_index, numbers)
        else:
            owner_index.build_task = self._start_task(self._load_index(owner_index, numbers))

    def close_owner(self, owner: str) -> None:
        """Drop the index of an owner from memory; unsaved changes of a graph are written in the background first."""
        owner_index = self._indexes.pop(owner, None)
        if owner_index is not None:
            if owner_index.build_task is not None:
                owner_index.build_task.cancel()
            self._start_task(self._save_if_changed(owner_index))

    def owners(self) -> set[str]:
        """Return the owners that are open."""
        return set(self._indexes)

    def is_ready(self, owners: Iterable[str]) -> bool:
        """Return whether any of these owners has a vector that can be searched now."""
        return any(
            len(owner_index.active_index)
            for owner in owners
            if (owner_index := self._indexes.get(owner)) and owner_index.active_index is not None
        )

    def nearest(self, owners: Iterable[str], vector: Vectors, count: int) -> tuple[Numbers, Vectors]:
        """Return the numbers of up to `count` nearest passages of these owners and their cosines, nearest first.

        Owners that are searched exhaustively contribute all their passages, not just `count`.
        """
        found = [NO_RESULTS]
        for owner in owners:
            owner_index = self._indexes.get(owner)
            if owner_index is not None and owner_index.active_index is not None:
                is_exact = isinstance(owner_index.active_index, VectorTable)
                found.append(owner_index.active_index.nearest(vector, len(owner_index.active_index) if is_exact else count))
        numbers, cosines = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        order = np.argsort(-cosines, kind="stable")
        return numbers[order], cosines[order]

    async def add(self, owner: str, numbers: Sequence[int], vectors: Vectors) -> None:
        """Insert or replace vectors of an open owner. For a closed owner nothing is done: `open` reads them from storage."""
        owner_index = self._indexes.get(owner)
        if owner_index is None:
            return
        number_array = np.array(numbers, np.int64)
        if owner_index.queued_changes is not None:
            # The present index keeps answering searches, so the change is applied to it as well.
            owner_index.queued_changes.append((number_array, vectors))
        elif owner_index.active_index is None:
            owner_index.active_index = VectorTable(vectors.shape[1])
        if isinstance(owner_index.active_index, HnswGraph):
            await self._run_in_thread(owner_index.active_index.add, number_array, vectors)
            self._count_changes(owner_index, len(number_array))
        elif owner_index.active_index is not None:
            owner_index.active_index.add(numbers, vectors)
            if owner_index.queued_changes is None and len(owner_index.active_index) > self._exact_up_to:
                owner_index.queued_changes = []
                owner_index.build_task = self._start_task(self._convert_to_graph(owner_index, owner_index.active_index))

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove the vectors with these numbers from all open owners; unknown numbers are ignored."""
        for owner_index in self._indexes.values():
            if owner_index.queued_changes is not None:
                owner_index.queued_changes.append((np.array(numbers, np.int64), None))
            if owner_index.active_index is not None:
                owner_index.active_index.remove(numbers)
                self._count_changes(owner_index, len(numbers))

    async def wait_until_idle(self) -> None:
        """Wait until all background work is done."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Cancel running builds, write unsaved graphs and shut the worker thread down."""
        for owner in self.owners():
            self.close_owner(owner)
        await self.wait_until_idle()
        self._executor.shutdown(wait=True)

    # Background work

    async def _load_table(self, owner_index: OwnerIndex, numbers: Numbers) -> None:
        """Load a small number of vectors into an exact table."""
        table: VectorTable | None = None
        for start in range(0, len(numbers), READ_SIZE):
            known, vectors = await self._read_vectors(numbers[start : start + READ_SIZE])
            if len(known):
                table = table or VectorTable(vectors.shape[1])
                table.add(known.tolist(), vectors)
        self._activate_table(owner_index, table)

    async def _load_index(self, owner_index: OwnerIndex, numbers: Numbers) -> None:
        """Load the index from its file, or build it from storage if the file is missing or too far behind."""
        numbers = await self._filter_with_vectors(numbers)
        if len(numbers) <= self._exact_up_to:
            await self._load_table(owner_index, numbers)
            return
        location = self._location_of(owner_index.owner)
        graph = await self._run_in_thread(persistence.read, location) if location else None
        differences = await persistence.find_differences(graph, numbers, self._read_vectors) if graph is not None else None
        if graph is None or differences is None:
            graph, differences = None, (NO_RESULTS[0], numbers)
        removed, missing = differences
        if graph is not None:
            graph.remove(removed.tolist())
        owner_index.unsaved = len(removed) + len(missing)
        await self._activate_index(owner_index, await self._insert_stored(owner_index.owner, graph, missing))

    async def _convert_to_graph(self, owner_index: OwnerIndex, table: VectorTable) -> None:
        """Convert a table that became too large into a graph; the table keeps answering searches until then."""
        numbers, vectors = table.copy_all()
        graph = HnswGraph(vectors.shape[1], len(numbers) + len(numbers) // 2)
        for start in range(0, len(numbers), READ_SIZE // 8):
            chunk = slice(start, start + READ_SIZE // 8)
            await self._run_in_thread(graph.add, numbers[chunk], vectors[chunk])
        owner_index.unsaved = len(graph)
        await self._activate_index(owner_index, graph)

    async def _insert_stored(self, owner: str, graph: HnswGraph | None, numbers: Numbers) -> HnswGraph:
        """Insert vectors from storage into a graph, or into a new one.

        The graph is written to its file each time it has grown by half, and when the work is cancelled: the next start
        continues there.
        """
        saved = len(graph) if graph is not None else 0
        try:
            for start in range(0, len(numbers), READ_SIZE // 8):
                known, vectors = await self._read_vectors(numbers[start : start + READ_SIZE // 8])
                if len(known):
                    if graph is None:
                        graph = HnswGraph(vectors.shape[1], len(numbers) + 1024)
                    await self._run_in_thread(graph.add, known, vectors, THREADS)
                    if len(graph) > RETUNE_GROWTH * max(saved, self._exact_up_to):
                        await self._write_index(owner, graph)
                        saved = len(graph)
        except asyncio.CancelledError:
            if graph is not None:
                await self._write_index(owner, graph)
            raise
        assert graph is not None, "there are more vectors than fit into a table"
        return graph

    async def _activate_index(self, owner_index: OwnerIndex, graph: HnswGraph) -> None:
        """Apply the changes queued during the build to the new index, then let it answer searches."""
        if len(graph) > RETUNE_GROWTH * graph.tuned_for:
            await self._run_in_thread(tune_width, graph)
        while owner_index.queued_changes:
            numbers, vectors = owner_index.queued_changes.pop(0)
            if vectors is None:
                graph.remove(numbers.tolist())
            else:
                await self._run_in_thread(graph.add, numbers, vectors)
            owner_index.unsaved += len(numbers)
        owner_index.active_index, owner_index.queued_changes = graph, None
        self._count_changes(owner_index, 0)

    def _activate_table(self, owner_index: OwnerIndex, table: VectorTable | None) -> None:
        """Apply the changes queued during loading to the table, then let it answer searches."""
        for numbers, vectors in owner_index.queued_changes or ():
            if vectors is not None:
                table = table or VectorTable(vectors.shape[1])
                table.add(numbers.tolist(), vectors)
            elif table is not None:
                table.remove(numbers.tolist())
        owner_index.active_index, owner_index.queued_changes = table, None

    async def _read_vectors(self, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Return the vectors storage has for these numbers, and the numbers that have one."""
        stored = await self._passages.vectors(self._embedder, numbers.tolist())
        found = usable_vectors(stored)
        if len(found) < len(stored):  # their passages are embedded again
            await self._passages.delete_vectors(self._embedder, sorted(stored.keys() - found.keys()))
        known = np.array(sorted(found), np.int64)
        vectors = np.frombuffer(b"".join(found[number] for number in known.tolist()), np.float32)
        return known, vectors.reshape(len(known), -1) if len(known) else np.zeros((0, 0), np.float32)

    async def _filter_with_vectors(self, numbers: Numbers) -> Numbers:
        """Return those of these numbers that have a vector in storage."""
        parts, after = [], int(numbers[0]) - 1
        while after < int(numbers[-1]) and (sheet := await self._passages.numbers_with_vectors(self._embedder, after)):
            parts.append(np.frombuffer(bytes.fromhex(sheet), ">i8").astype(np.int64))
            after = int(parts[-1][-1])
        return np.intersect1d(numbers, np.concatenate([np.zeros(0, np.int64), *parts]), assume_unique=True)

    def _count_changes(self, owner_index: OwnerIndex, count: int) -> None:
        """Count unsaved changes, and write the index to its file when there are enough."""
        owner_index.unsaved += count
        if isinstance(owner_index.active_index, HnswGraph) and owner_index.unsaved > max(
            MIN_UNSAVED, SAVE_SHARE * len(owner_index.active_index)
        ):
            owner_index.unsaved, count = 0, owner_index.unsaved
            self._start_task(self._save_if_changed(owner_index, count))

    async def _save_if_changed(self, owner_index: OwnerIndex, unsaved: int | None = None) -> None:
        graph, count = owner_index.active_index, owner_index.unsaved if unsaved is None else unsaved
        if isinstance(graph, HnswGraph) and count:
            owner_index.unsaved = 0
            if len(graph) > RETUNE_GROWTH * graph.tuned_for:
                await self._run_in_thread(tune_width, graph)
            if not await self._write_index(owner_index.owner, graph):
                owner_index.unsaved += count

    async def _write_index(self, owner: str, graph: HnswGraph) -> bool:
        """Write an index to its file and return whether that succeeded. On failure it is rebuilt from storage at the next
        start.
        """
        location = self._location_of(owner)
        try:
            if location is not None:
                await self._run_in_thread(persistence.write, location, graph)
        except LetheError as error:
            log.warning("The index of memories could not be kept: %s", error)
            return False
        return True

    def _location_of(self, owner: str) -> GraphLocation | None:
        return GraphLocation(self._folder, owner, self._embedder) if self._folder is not None else None

    # One thread for all index work: hnswlib allows insertion and saving from a single thread only.
    async def _run_in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(work, *args, **kwargs))

    def _start_task(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)
        return task

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # full-text search still works
            log.error("The index of memories could not be made: %s", error, exc_info=error)
