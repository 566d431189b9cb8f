"""Cache of what searches need in memory: passage columns per set of owners, and the vectors of each owner."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lethe_app.domain.passage import Passage, TextEmbedding
from lethe_app.retrieval.vectors.columns import LINE, PassageColumns
from lethe_app.retrieval.vectors.index import NOTHING, Numbers
from lethe_app.retrieval.vectors.index import Vectors as Matrix
from lethe_app.retrieval.vectors.store import VectorStore
from lethe_app.storage.index.passages import Passages

MOST = 4
"""Sets of owners whose columns are kept in memory; the least recently used is dropped."""


@dataclass(frozen=True)
class OwnerView:
    """Columns and vectors of the passages of some owners."""

    owners: tuple[str, ...]
    shelf: PassageColumns
    vectors: VectorStore

    def has_vectors(self) -> bool:
        """Return whether any of these owners has vectors that can be searched now."""
        return self.vectors.is_ready(self.owners)

    def nearest(self, meaning: TextEmbedding | None, count: int) -> tuple[Numbers, Matrix]:
        """Return numbers and cosines of the passages nearest to `meaning`; empty if it is None."""
        return self.vectors.nearest(self.owners, vector_of(meaning), count) if meaning is not None else NOTHING


class Views:
    """Cache of owner views. The vectors of a world are held once, however many personas share it.

    Callers must serialise changes.
    """

    def __init__(self, passages: Passages, embedder: str, folder: Path | None, exact_up_to: int) -> None:
        self._passages = passages
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._embedder = embedder
        self._vectors = VectorStore(passages, embedder, folder, exact_up_to)
        self._left: set[asyncio.Task[None]] = set()
        """Closing tasks of the vector stores of former embedders, which may still be writing."""
        self._shelves: OrderedDict[tuple[str, ...], PassageColumns] = OrderedDict()
        self._opening = asyncio.Lock()
        self._changes = 0

    def use(self, embedder: str) -> None:
        """Use the vectors of this embedder from now on; those of another are closed in the background."""
        if embedder != self._embedder:
            self._embedder = embedder
            self._leave_vectors()

    async def open(self, owners: Sequence[str]) -> OwnerView:
        """Return the view of these owners, reading it from storage if it is not cached."""
        named = tuple(sorted(set(owners)))
        async with self._opening:
            if named not in self._shelves:
                self._shelves[named] = await self._read(named)
            self._shelves.move_to_end(named)
            shelf = self._shelves[named]
            while len(self._shelves) > MOST:
                self._shelves.popitem(last=False)
                self._let_go()
            vectors = self._vectors
            for owner in shelf.owners.keys() - vectors.owners():
                columns = shelf.columns()
                await vectors.open(owner, columns.number[columns.owner == shelf.owners[owner]])
        return OwnerView(named, shelf, vectors)

    def change(self, gone: Sequence[int], passages: Sequence[Passage]) -> None:
        """Apply removed and added passages to all cached views. A passage that already has its number stays with its vector."""
        self._changes += 1
        for shelf in self._shelves.values():
            shelf.change(gone, passages)
        self._vectors.remove(gone)

    async def add_vectors(self, passages: Sequence[Passage], vectors: Sequence[bytes]) -> None:
        """Add the vectors of these passages to the index of their owners."""
        for owner in {passage.owner for passage in passages}:
            mine = [(p.number, vector) for p, vector in zip(passages, vectors, strict=True) if p.owner == owner]
            matrix = np.frombuffer(b"".join(vector for _number, vector in mine), np.float32).reshape(len(mine), -1)
            await self._vectors.add(owner, [number for number, _vector in mine], matrix)

    def clear(self) -> None:
        """Drop all cached columns and vectors."""
        self._shelves.clear()
        self._leave_vectors()

    async def wait_until_idle(self) -> None:
        """Wait until background reading and writing is done."""
        await self._vectors.wait_until_idle()
        await asyncio.gather(*self._left)

    async def close(self) -> None:
        """Write unsaved graphs and drop everything."""
        self._shelves.clear()
        await asyncio.gather(*self._left, self._vectors.close())

    async def _read(self, owners: tuple[str, ...]) -> PassageColumns:
        """Read the columns of these owners from storage.

        If passages changed during the read, it is repeated: the change was applied to cached views only and would be missing
        here.
        """
        while True:
            before, sheets = self._changes, {owner: await self._sheets(owner) for owner in owners}
            many = sum(len(some) for some in sheets.values()) > 1
            # A sheet has up to 20,000 passages; decoding several would block the event loop, so it is done in a thread.
            shelf = await asyncio.to_thread(PassageColumns, owners, sheets) if many else PassageColumns(owners, sheets)
            if self._changes == before:
                return shelf

    async def _sheets(self, owner: str) -> list[str]:
        sheets, after = [], 0
        while sheet := await self._passages.sheet(owner, after):
            sheets.append(sheet)
            after = int(np.frombuffer(bytes.fromhex(sheet[-2 * LINE.itemsize :]), LINE)["number"][0])
        return sheets

    def _let_go(self) -> None:
        """Close the vectors of owners that no cached view includes."""
        needed = {owner for named in self._shelves for owner in named}
        for owner in self._vectors.owners() - needed:
            self._vectors.close_owner(owner)

    def _leave_vectors(self) -> None:
        if self._vectors.owners():
            leaving = asyncio.get_running_loop().create_task(self._vectors.close())
            self._left.add(leaving)
            leaving.add_done_callback(self._left.discard)
        self._vectors = VectorStore(self._passages, self._embedder, self._folder, self._exact_up_to)


def vector_of(meaning: TextEmbedding) -> Matrix:
    """Return the vector of an embedding as a float32 array."""
    return np.frombuffer(meaning.vector, np.float32)
