"""Cache of what searches need in memory: passage columns per set of owners, and the vectors of each owner."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lethe_app.domain.passage import Passage, TextEmbedding
from lethe_app.retrieval.vectors.columns import RECORD, PassageColumns
from lethe_app.retrieval.vectors.index import NO_RESULTS, Numbers
from lethe_app.retrieval.vectors.index import Vectors as Matrix
from lethe_app.retrieval.vectors.store import VectorStore
from lethe_app.storage.index.passages import Passages

MAX_VIEWS = 4
"""Sets of owners whose columns are kept in memory; the least recently used is dropped."""


@dataclass(frozen=True)
class OwnerView:
    """Columns and vectors of the passages of some owners."""

    owners: tuple[str, ...]
    passage_columns: PassageColumns
    vectors: VectorStore

    def nearest(self, embedding: TextEmbedding | None, count: int) -> tuple[Numbers, Matrix]:
        """Return numbers and cosines of the passages nearest to `embedding`; empty if it is None."""
        return self.vectors.nearest(self.owners, vector_of(embedding), count) if embedding is not None else NO_RESULTS


class OwnerViews:
    """Cache of owner views. The vectors of a world are held once, however many personas share it.

    Callers must serialise changes.
    """

    def __init__(self, passages: Passages, embedder: str, folder: Path | None, exact_up_to: int) -> None:
        self._passages = passages
        self._folder = folder
        self._exact_up_to = exact_up_to
        self._embedder = embedder
        self._vectors = VectorStore(passages, embedder, folder, exact_up_to)
        self._closing_tasks: set[asyncio.Task[None]] = set()
        """Closing tasks of the vector stores of former embedders, which may still be writing."""
        self._columns_by_owners: OrderedDict[tuple[str, ...], PassageColumns] = OrderedDict()
        self._open_lock = asyncio.Lock()
        self._change_count = 0

    def set_embedder(self, embedder: str) -> None:
        """Use the vectors of this embedder from now on; those of another are closed in the background."""
        if embedder != self._embedder:
            self._embedder = embedder
            self._replace_vectors()

    async def open_view(self, owners: Sequence[str]) -> OwnerView:
        """Return the view of these owners, reading it from storage if it is not cached."""
        owner_key = tuple(sorted(set(owners)))
        async with self._open_lock:
            if owner_key not in self._columns_by_owners:
                self._columns_by_owners[owner_key] = await self._read_columns(owner_key)
            self._columns_by_owners.move_to_end(owner_key)
            passage_columns = self._columns_by_owners[owner_key]
            while len(self._columns_by_owners) > MAX_VIEWS:
                self._columns_by_owners.popitem(last=False)
                needed = {owner for named in self._columns_by_owners for owner in named}
                for owner in self._vectors.owners() - needed:
                    self._vectors.close_owner(owner)
            vectors = self._vectors
            for owner in passage_columns.owners.keys() - vectors.owners():
                columns = passage_columns.columns()
                await vectors.open(owner, columns.number[columns.owner == passage_columns.owners[owner]])
        return OwnerView(owner_key, passage_columns, vectors)

    def apply_changes(self, removed: Sequence[int], passages: Sequence[Passage]) -> None:
        """Apply removed and added passages to all cached views. A passage that already has its number stays with its vector."""
        self._change_count += 1
        for passage_columns in self._columns_by_owners.values():
            passage_columns.apply_changes(removed, passages)
        self._vectors.remove(removed)

    async def add_vectors(self, passages: Sequence[Passage], vectors: Sequence[bytes]) -> None:
        """Add the vectors of these passages to the index of their owners."""
        for owner in {passage.owner for passage in passages}:
            own_passages = [(p.number, vector) for p, vector in zip(passages, vectors, strict=True) if p.owner == owner]
            matrix = np.frombuffer(b"".join(vector for _number, vector in own_passages), np.float32).reshape(
                len(own_passages), -1
            )
            await self._vectors.add(owner, [number for number, _vector in own_passages], matrix)

    def clear(self) -> None:
        """Drop all cached columns and vectors."""
        self._columns_by_owners.clear()
        self._replace_vectors()

    async def wait_until_idle(self) -> None:
        """Wait until background reading and writing is done."""
        await self._vectors.wait_until_idle()
        await asyncio.gather(*self._closing_tasks)

    async def close(self) -> None:
        """Write unsaved graphs and drop everything."""
        self._columns_by_owners.clear()
        await asyncio.gather(*self._closing_tasks, self._vectors.close())

    async def _read_columns(self, owners: tuple[str, ...]) -> PassageColumns:
        """Read the columns of these owners from storage.

        If passages changed during the read, it is repeated: the change was applied to cached views only and would be missing
        here.
        """
        while True:
            change_count, sheets = self._change_count, {owner: await self._read_sheets(owner) for owner in owners}
            has_many_sheets = sum(len(some) for some in sheets.values()) > 1
            # A sheet has up to 20,000 passages; decoding several would block the event loop, so it is done in a thread.
            passage_columns = (
                await asyncio.to_thread(PassageColumns, owners, sheets) if has_many_sheets else PassageColumns(owners, sheets)
            )
            if self._change_count == change_count:
                return passage_columns

    async def _read_sheets(self, owner: str) -> list[str]:
        sheets, after = [], 0
        while sheet := await self._passages.encoded_rows(owner, after):
            sheets.append(sheet)
            after = int(np.frombuffer(bytes.fromhex(sheet[-2 * RECORD.itemsize :]), RECORD)["number"][0])
        return sheets

    def _replace_vectors(self) -> None:
        if self._vectors.owners():
            closing_task = asyncio.get_running_loop().create_task(self._vectors.close())
            self._closing_tasks.add(closing_task)
            closing_task.add_done_callback(self._closing_tasks.discard)
        self._vectors = VectorStore(self._passages, self._embedder, self._folder, self._exact_up_to)


def vector_of(embedding: TextEmbedding) -> Matrix:
    """Return the vector of an embedding as a float32 array."""
    return np.frombuffer(embedding.vector, np.float32)
