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
from lethe_app.retrieval.vectors.index import NOTHING, Graph, Numbers, Vectors, VectorTable
from lethe_app.retrieval.vectors.persistence import GraphLocation
from lethe_app.retrieval.vectors.search_width import tune
from lethe_app.storage.index.passages import Passages

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

EXACT_UP_TO = 20_000
"""Vectors up to which search is exhaustive (a millisecond at 384 dimensions); an HNSW graph is used for more."""
READ = 2_000
"""Vectors read from storage per query."""
THREADS = max(1, (os.cpu_count() or 1) // 2)
"""Threads that build a whole graph; the other cores are left to the language model."""
SAVE_AFTER = 0.1
OUTGROWN = 1.5
"""Growth factor since the last measurement of the search width above which it is measured again."""
UNSAVED = 1_000
"""Minimum number of changes, besides the share `SAVE_AFTER`, after which an index is written to its file again."""


@dataclass
class Owned:
    """Vector index of one owner."""

    owner: str
    serving: VectorTable | Graph | None = None
    """Index that answers searches; None while a graph is read from its file."""
    later: list[tuple[Numbers, Vectors | None]] | None = None
    """Changes queued while an index is being built: inserted vectors, or None for removed ones. None if nothing is being
    built.
    """
    unsaved: int = 0
    making: asyncio.Task[None] | None = field(default=None, repr=False)


class VectorStore:
    """Vector indexes of one embedder, by owner. Use it from one event loop; callers must serialise changes."""

    def __init__(self, passages: Passages, embedder: str, folder: Path | None, exact_up_to: int = EXACT_UP_TO) -> None:
        self._passages = passages
        self._embedder = embedder
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._owned: dict[str, Owned] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, owner: str, numbers: Numbers) -> None:
        """Load the vectors that storage has for these passages of an owner.

        Few vectors are loaded before this returns, many in the background.
        """
        if owner in self._owned:
            return
        held = self._owned[owner] = Owned(owner, later=[])
        if len(numbers) <= self._exact_up_to:
            await self._fill(held, numbers)
        else:
            held.making = self._start(self._open_many(held, numbers))

    def close_owner(self, owner: str) -> None:
        """Drop the index of an owner from memory; unsaved changes of a graph are written in the background first."""
        held = self._owned.pop(owner, None)
        if held is not None:
            if held.making is not None:
                held.making.cancel()
            self._start(self._save(held))

    def owners(self) -> set[str]:
        """Return the owners that are open."""
        return set(self._owned)

    def is_ready(self, owners: Iterable[str]) -> bool:
        """Return whether any of these owners has a vector that can be searched now."""
        return any(len(held.serving) for owner in owners if (held := self._owned.get(owner)) and held.serving is not None)

    def nearest(self, owners: Iterable[str], vector: Vectors, count: int) -> tuple[Numbers, Vectors]:
        """Return the numbers of up to `count` nearest passages of these owners and their cosines, nearest first.

        Owners that are searched exhaustively contribute all their passages, not just `count`.
        """
        found = [NOTHING]
        for owner in owners:
            held = self._owned.get(owner)
            if held is not None and held.serving is not None:
                every = isinstance(held.serving, VectorTable)
                found.append(held.serving.nearest(vector, len(held.serving) if every else count))
        numbers, cosines = (np.concatenate(some) for some in zip(*found, strict=True))
        order = np.argsort(-cosines, kind="stable")
        return numbers[order], cosines[order]

    async def add(self, owner: str, numbers: Sequence[int], vectors: Vectors) -> None:
        """Insert or replace vectors of an open owner. For a closed owner nothing is done: `open` reads them from storage."""
        held = self._owned.get(owner)
        if held is None:
            return
        named = np.array(numbers, np.int64)
        if held.later is not None:
            # The present index keeps answering searches, so the change is applied to it as well.
            held.later.append((named, vectors))
        elif held.serving is None:
            held.serving = VectorTable(vectors.shape[1])
        if isinstance(held.serving, Graph):
            await self._aside(held.serving.add, named, vectors)
            self._changed(held, len(named))
        elif held.serving is not None:
            held.serving.add(numbers, vectors)
            if held.later is None and len(held.serving) > self._exact_up_to:
                held.later = []
                held.making = self._start(self._grow(held, held.serving))

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove the vectors with these numbers from all open owners; unknown numbers are ignored."""
        for held in self._owned.values():
            if held.later is not None:
                held.later.append((np.array(numbers, np.int64), None))
            if held.serving is not None:
                held.serving.remove(numbers)
                self._changed(held, len(numbers))

    async def wait_until_idle(self) -> None:
        """Wait until all background work is done."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Cancel running builds, write unsaved graphs and shut the worker thread down."""
        for owner in self.owners():
            self.close_owner(owner)
        await self.wait_until_idle()
        self._thread.shutdown(wait=True)

    # Background work

    async def _fill(self, held: Owned, numbers: Numbers) -> None:
        """Load a small number of vectors into an exact table."""
        table: VectorTable | None = None
        for start in range(0, len(numbers), READ):
            known, vectors = await self._read(numbers[start : start + READ])
            if len(known):
                table = table or VectorTable(vectors.shape[1])
                table.add(known.tolist(), vectors)
        self._serve(held, table)

    async def _open_many(self, held: Owned, numbers: Numbers) -> None:
        """Load the index from its file, or build it from storage if the file is missing or too far behind."""
        numbers = await self._seen(numbers)
        if len(numbers) <= self._exact_up_to:
            await self._fill(held, numbers)
            return
        place = self._place(held.owner)
        graph = await self._aside(persistence.read, place) if place else None
        differences = await persistence.differences(graph, numbers, self._read) if graph is not None else None
        if graph is None or differences is None:
            graph, differences = None, (NOTHING[0], numbers)
        removed, missing = differences
        if graph is not None:
            graph.remove(removed.tolist())
        held.unsaved = len(removed) + len(missing)
        await self._take_over(held, await self._extend(held.owner, graph, missing))

    async def _grow(self, held: Owned, table: VectorTable) -> None:
        """Convert a table that became too large into a graph; the table keeps answering searches until then."""
        numbers, vectors = table.everything()
        graph = Graph(vectors.shape[1], len(numbers) + len(numbers) // 2)
        for start in range(0, len(numbers), READ // 8):
            some = slice(start, start + READ // 8)
            await self._aside(graph.add, numbers[some], vectors[some])
        held.unsaved = len(graph)
        await self._take_over(held, graph)

    async def _extend(self, owner: str, graph: Graph | None, numbers: Numbers) -> Graph:
        """Insert vectors from storage into a graph, or into a new one.

        The graph is written to its file each time it has grown by half, and when the work is cancelled: the next start
        continues there.
        """
        saved = len(graph) if graph is not None else 0
        try:
            for start in range(0, len(numbers), READ // 8):
                known, vectors = await self._read(numbers[start : start + READ // 8])
                if len(known):
                    if graph is None:
                        graph = Graph(vectors.shape[1], len(numbers) + 1024)
                    await self._aside(graph.add, known, vectors, THREADS)
                    if len(graph) > OUTGROWN * max(saved, self._exact_up_to):
                        await self._write(owner, graph)
                        saved = len(graph)
        except asyncio.CancelledError:
            if graph is not None:
                await self._write(owner, graph)
            raise
        assert graph is not None, "there are more vectors than fit into a table"
        return graph

    async def _take_over(self, held: Owned, graph: Graph) -> None:
        """Apply the changes queued during the build to the new index, then let it answer searches."""
        if len(graph) > OUTGROWN * graph.tuned_for:
            await self._aside(tune, graph)
        while held.later:
            numbers, vectors = held.later.pop(0)
            if vectors is None:
                graph.remove(numbers.tolist())
            else:
                await self._aside(graph.add, numbers, vectors)
            held.unsaved += len(numbers)
        held.serving, held.later = graph, None
        self._changed(held, 0)

    def _serve(self, held: Owned, table: VectorTable | None) -> None:
        """Apply the changes queued during loading to the table, then let it answer searches."""
        for numbers, vectors in held.later or ():
            if vectors is not None:
                table = table or VectorTable(vectors.shape[1])
                table.add(numbers.tolist(), vectors)
            elif table is not None:
                table.remove(numbers.tolist())
        held.serving, held.later = table, None

    async def _read(self, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Return the vectors storage has for these numbers, and the numbers that have one."""
        found = await self._passages.vectors(self._embedder, numbers.tolist())
        known = np.array(sorted(found), np.int64)
        vectors = np.frombuffer(b"".join(found[number] for number in known.tolist()), np.float32)
        return known, vectors.reshape(len(known), -1) if len(known) else np.zeros((0, 0), np.float32)

    async def _seen(self, numbers: Numbers) -> Numbers:
        """Return those of these numbers that have a vector in storage."""
        parts, after = [], int(numbers[0]) - 1
        while after < int(numbers[-1]) and (sheet := await self._passages.seen(self._embedder, after)):
            parts.append(np.frombuffer(bytes.fromhex(sheet), ">i8").astype(np.int64))
            after = int(parts[-1][-1])
        return np.intersect1d(numbers, np.concatenate([np.zeros(0, np.int64), *parts]), assume_unique=True)

    def _changed(self, held: Owned, count: int) -> None:
        """Count unsaved changes, and write the index to its file when there are enough."""
        held.unsaved += count
        if isinstance(held.serving, Graph) and held.unsaved > max(UNSAVED, SAVE_AFTER * len(held.serving)):
            held.unsaved, count = 0, held.unsaved
            self._start(self._save(held, count))

    async def _save(self, held: Owned, unsaved: int | None = None) -> None:
        graph, count = held.serving, held.unsaved if unsaved is None else unsaved
        if isinstance(graph, Graph) and count:
            held.unsaved = 0
            if len(graph) > OUTGROWN * graph.tuned_for:
                await self._aside(tune, graph)
            if not await self._write(held.owner, graph):
                held.unsaved += count

    async def _write(self, owner: str, graph: Graph) -> bool:
        """Write an index to its file and return whether that succeeded. On failure it is rebuilt from storage at the next
        start.
        """
        place = self._place(owner)
        try:
            if place is not None:
                await self._aside(persistence.write, place, graph)
        except LetheError as error:
            log.warning("The index of memories could not be kept: %s", error)
            return False
        return True

    def _place(self, owner: str) -> GraphLocation | None:
        return GraphLocation(self._folder, owner, self._embedder) if self._folder is not None else None

    # One thread for all index work: hnswlib allows insertion and saving from a single thread only.
    async def _aside(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *given, **named))

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # words go on finding what is remembered
            log.error("The index of memories could not be made: %s", error, exc_info=error)
