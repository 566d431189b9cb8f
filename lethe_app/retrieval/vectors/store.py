"""Keeps the vectors of each owner ready to be searched: read, grown, written to a file, all behind the back of whoever asks."""

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
from lethe_app.retrieval.vectors.inverted_file import Cells
from lethe_app.retrieval.vectors.persistence import GraphLocation
from lethe_app.retrieval.vectors.search_width import tune
from lethe_app.storage.index.passages import Passages

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

EXACT_UP_TO, GRAPH_UP_TO = 20_000, 200_000
"""Vectors compared one by one, which takes a millisecond for 384 dimensions; and as a graph. Beyond, a graph takes a quarter of
an hour to make and many milliseconds for each that is put in; cells take a hundredth of that."""
READ = 2_000
"""Vectors read from storage at once."""
THREADS = max(1, (os.cpu_count() or 1) // 2)
"""Cores that make a whole graph; the model wants the others."""
SAVE_AFTER = 0.1
OUTGROWN = 1.5
"""A graph so many times as large as when its width was measured is measured again."""
UNSAVED = 1_000
"""A graph is written to its file again when more than this many, and more than this share, are new."""


@dataclass
class Owned:
    """The vectors of one owner."""

    owner: str
    serving: VectorTable | Graph | Cells | None = None
    """What is asked; nothing while a graph or cells are read from their file."""
    later: list[tuple[Numbers, Vectors | None]] | None = None
    """What was put in and taken out (no vectors) while a graph is being made; None when none is."""
    unsaved: int = 0
    making: asyncio.Task[None] | None = field(default=None, repr=False)


class VectorStore:
    """Vectors of one embedder. Use it from one event loop; let no two changes overlap."""

    def __init__(self, passages: Passages, embedder: str, folder: Path | None, exact_up_to: int = EXACT_UP_TO) -> None:
        self._passages = passages
        self._embedder = embedder
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._owned: dict[str, Owned] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, owner: str, numbers: Numbers) -> None:
        """Take in what storage has for these passages of an owner: a few at once, many by and by."""
        if owner in self._owned:
            return
        held = self._owned[owner] = Owned(owner, later=[])
        if len(numbers) <= self._exact_up_to:
            await self._fill(held, numbers)
        else:
            held.making = self._start(self._open_many(held, numbers))

    def close_owner(self, owner: str) -> None:
        """Let go of what is in memory; what is new in a graph is written first, in the background."""
        held = self._owned.pop(owner, None)
        if held is not None:
            if held.making is not None:
                held.making.cancel()
            self._start(self._save(held))

    def owners(self) -> set[str]:
        """Whose vectors are held."""
        return set(self._owned)

    def is_ready(self, owners: Iterable[str]) -> bool:
        """Is there any vector of these owners to compare with?"""
        return any(len(held.serving) for owner in owners if (held := self._owned.get(owner)) and held.serving is not None)

    def nearest(self, owners: Iterable[str], vector: Vectors, count: int) -> tuple[Numbers, Vectors]:
        """The numbers of up to `count` nearest passages of these owners, and their cosines, nearest first.

        While there are so few that each is compared, all of them.
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
        """Put in, or replace, if that owner is open; else they are read from storage when it is opened."""
        held = self._owned.get(owner)
        if held is None:
            return
        named = np.array(numbers, np.int64)
        if held.later is not None:
            held.later.append((named, vectors))
        elif held.serving is None:
            held.serving = VectorTable(vectors.shape[1])
        if isinstance(held.serving, Graph | Cells):
            await self._aside(held.serving.add, named, vectors)
            self._changed(held, len(named))
        elif held.serving is not None:
            held.serving.add(numbers, vectors)
            if held.later is None and len(held.serving) > self._exact_up_to:
                held.later = []
                held.making = self._start(self._grow(held, held.serving))

    def remove(self, numbers: Sequence[int]) -> None:
        """Take out of all owners; numbers that are not there are passed over."""
        for held in self._owned.values():
            if held.later is not None:
                held.later.append((np.array(numbers, np.int64), None))
            if held.serving is not None:
                held.serving.remove(numbers)
                self._changed(held, len(numbers))

    async def wait_until_idle(self) -> None:
        """Wait until everything in the background is done."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Stop what is being made, write what is new, and end."""
        for owner in self.owners():
            self.close_owner(owner)
        await self.wait_until_idle()
        self._thread.shutdown(wait=True)

    # Behind the back

    async def _fill(self, held: Owned, numbers: Numbers) -> None:
        """Read a few vectors into a table."""
        table: VectorTable | None = None
        for start in range(0, len(numbers), READ):
            known, vectors = await self._read(numbers[start : start + READ])
            if len(known):
                table = table or VectorTable(vectors.shape[1])
                table.add(known.tolist(), vectors)
        self._serve(held, table)

    async def _open_many(self, held: Owned, numbers: Numbers) -> None:
        """Take the graph from its file, or else make it."""
        numbers = await self._seen(numbers)
        if len(numbers) <= self._exact_up_to:
            await self._fill(held, numbers)
            return
        place = self._place(held.owner)
        graph = await self._aside(persistence.read, place) if place else None
        outgrown = isinstance(graph, Graph) and len(numbers) > GRAPH_UP_TO
        mended = await self._mend(graph, numbers) if graph is not None and not outgrown else None
        if graph is None or mended is None:
            graph = await self._build(held.owner, numbers)
            mended = len(graph)
        held.unsaved = mended
        await self._take_over(held, graph)

    async def _grow(self, held: Owned, table: VectorTable) -> None:
        """A table that became too long turns into a graph; until then it is asked as before."""
        numbers, vectors = table.everything()
        graph = Graph(vectors.shape[1], len(numbers) + len(numbers) // 2)
        for start in range(0, len(numbers), READ // 8):
            some = slice(start, start + READ // 8)
            await self._aside(graph.add, numbers[some], vectors[some])
        held.unsaved = len(graph)
        await self._take_over(held, graph)

    async def _build(self, owner: str, numbers: Numbers) -> Graph | Cells:
        """From storage, for there is no file, or none that can be used. Cut short, the next start goes on from there."""
        graph: Graph | Cells | None = None
        try:
            for start in range(0, len(numbers), READ // 8):
                known, vectors = await self._read(numbers[start : start + READ // 8])
                if len(known):
                    size = vectors.shape[1]
                    graph = graph or (Cells(size) if len(numbers) > GRAPH_UP_TO else Graph(size, len(numbers) + 1024))
                    await self._aside(graph.add, known, vectors, THREADS)
        except asyncio.CancelledError:
            if graph is not None:
                await self._write(owner, graph)
            raise
        assert graph is not None, "there are more vectors than fit into a table"
        return graph

    async def _mend(self, graph: Graph | Cells, numbers: Numbers) -> int | None:
        """Bring a graph from a file up to what storage has; how much that was, None where it would be too much."""
        stale = await persistence.differences(graph, numbers, self._read)
        if stale is None:
            return None
        gone, fresh = stale
        graph.remove(gone.tolist())
        for start in range(0, len(fresh), READ // 8):
            known, vectors = await self._read(fresh[start : start + READ // 8])
            await self._aside(graph.add, known, vectors)
        return len(gone) + len(fresh)

    async def _take_over(self, held: Owned, graph: Graph | Cells) -> None:
        """What changed meanwhile is done to the graph too; then it is the one that is asked."""
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
        """A table that was read, after what changed meanwhile."""
        for numbers, vectors in held.later or ():
            if vectors is not None:
                table = table or VectorTable(vectors.shape[1])
                table.add(numbers.tolist(), vectors)
            elif table is not None:
                table.remove(numbers.tolist())
        held.serving, held.later = table, None

    async def _read(self, numbers: Numbers) -> tuple[Numbers, Vectors]:
        """Those of these numbers that have a vector, with it."""
        found = await self._passages.vectors(self._embedder, numbers.tolist())
        known = np.array(sorted(found), np.int64)
        vectors = np.frombuffer(b"".join(found[number] for number in known.tolist()), np.float32)
        return known, vectors.reshape(len(known), -1) if len(known) else np.zeros((0, 0), np.float32)

    async def _seen(self, numbers: Numbers) -> Numbers:
        """Those of these numbers that have a vector."""
        parts, after = [], int(numbers[0]) - 1
        while after < int(numbers[-1]) and (sheet := await self._passages.seen(self._embedder, after)):
            parts.append(np.frombuffer(bytes.fromhex(sheet), ">i8").astype(np.int64))
            after = int(parts[-1][-1])
        return np.intersect1d(numbers, np.concatenate([np.zeros(0, np.int64), *parts]), assume_unique=True)

    def _changed(self, held: Owned, count: int) -> None:
        """Write the graph again when enough of it is new."""
        held.unsaved += count
        if isinstance(held.serving, Graph | Cells) and held.unsaved > max(UNSAVED, SAVE_AFTER * len(held.serving)):
            held.unsaved, count = 0, held.unsaved
            self._start(self._save(held, count))

    async def _save(self, held: Owned, unsaved: int | None = None) -> None:
        graph, count = held.serving, held.unsaved if unsaved is None else unsaved
        if isinstance(graph, Graph | Cells) and count:
            held.unsaved = 0
            if len(graph) > OUTGROWN * graph.tuned_for:
                await self._aside(tune, graph)
            if not await self._write(held.owner, graph):
                held.unsaved += count

    async def _write(self, owner: str, graph: Graph | Cells) -> bool:
        """Keep a graph in its file; whether that was possible. If not, it is made anew from storage next time."""
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
