"""Finds the nearest vectors: exactly while there are few, by a graph of neighbours when there are many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import hnswlib
import numpy as np
from numpy.typing import NDArray

from lethe_app.errors import StorageError

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

EXACT_UP_TO = 20_000
"""Vectors compared one by one; that takes under a millisecond for 384 dimensions."""
LINKS, BUILD_WIDTH, SEARCH_WIDTH = 16, 200, 256
"""M, ef_construction and least ef of the graph."""


class VectorIndex:
    """Unit vectors under the numbers of their passages. Derived from storage: throwing it away loses nothing."""

    def __init__(self, size: int, exact_up_to: int = EXACT_UP_TO) -> None:
        self._size = size
        self._exact_up_to = exact_up_to
        self._row: dict[int, int] = {}
        self._number = np.zeros(64, np.int64)
        self._vector = np.zeros((64, size), np.float32)
        self._graph: hnswlib.Index | None = None
        self._members: set[int] = set()
        """What is in the graph and not marked as gone."""

    def __len__(self) -> int:
        return len(self._members) if self._graph is not None else len(self._row)

    def __contains__(self, number: int) -> bool:
        return number in self._members or number in self._row

    @property
    def is_exact(self) -> bool:
        return self._graph is None

    def add(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Put in, or replace where the number is known. One row of `vectors` per number."""
        if self._graph is None and len(self._row) + len(numbers) > self._exact_up_to:
            self._begin_graph(len(self._row) + len(numbers))
        if self._graph is not None:
            self._make_room(len(numbers))
            self._graph.add_items(vectors, np.asarray(numbers, np.int64))
            self._members.update(numbers)
            return
        for number, vector in zip(numbers, vectors, strict=True):
            row = self._row.setdefault(number, len(self._row))
            if row == len(self._number):
                self._number = np.concatenate([self._number, np.zeros_like(self._number)])
                self._vector = np.concatenate([self._vector, np.zeros_like(self._vector)])
            self._number[row], self._vector[row] = number, vector

    def remove(self, numbers: Sequence[int]) -> None:
        """Take out; numbers that are not in it are passed over."""
        for number in numbers:
            if number in self._members:
                assert self._graph is not None, "only the graph has members"
                self._graph.mark_deleted(number)
                self._members.discard(number)
            row = self._row.pop(number, None)
            if row is not None:
                last = len(self._row)
                if row != last:
                    self._number[row], self._vector[row] = self._number[last], self._vector[last]
                    self._row[int(self._number[row])] = row

    def nearest(self, vector: Vectors, count: int) -> tuple[Numbers, Vectors]:
        """The numbers of up to `count` nearest vectors and their cosines, nearest first."""
        count = min(count, len(self))
        if count == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        if self._graph is not None:
            self._graph.set_ef(max(SEARCH_WIDTH, 2 * count))
            labels, distances = self._graph.knn_query(vector, k=count)
            return labels[0].astype(np.int64), (1.0 - distances[0]).astype(np.float32)
        cosines = self._vector[: len(self._row)] @ vector
        best = np.argpartition(-cosines, count - 1)[:count] if count < len(cosines) else np.arange(count)
        best = best[np.argsort(-cosines[best], kind="stable")]
        return self._number[best], cosines[best]

    def save(self, path: Path) -> None:
        """Keep the graph for the next start; an exact index is read from storage as fast."""
        if self._graph is not None:
            self._graph.save_index(str(path))

    def load(self, path: Path, numbers: Sequence[int]) -> bool:
        """Take the graph from a file if it holds exactly these numbers; else change nothing and say so."""
        graph = hnswlib.Index("ip", self._size)
        try:
            graph.load_index(str(path), max_elements=len(numbers) + 1024)
        except (RuntimeError, OSError):
            return False
        if set(graph.get_ids_list()) != set(numbers):
            return False
        self._graph, self._members, self._row = graph, set(numbers), {}
        return True

    def _begin_graph(self, expected: int) -> None:
        """From here on there are too many to compare one by one."""
        graph = hnswlib.Index("ip", self._size)
        try:
            graph.init_index(expected + 1024, ef_construction=BUILD_WIDTH, M=LINKS, random_seed=1)
        except RuntimeError as error:
            raise StorageError("There is not enough memory for the index of memories.") from error
        self._graph = graph
        known = len(self._row)
        if known:
            graph.add_items(self._vector[:known], self._number[:known])
        self._members = set(self._row)
        self._row, self._number, self._vector = {}, self._number[:1], self._vector[:1]

    def _make_room(self, more: int) -> None:
        assert self._graph is not None, "called for a graph"
        needed = self._graph.get_current_count() + more
        if needed > self._graph.get_max_elements():
            self._graph.resize_index(needed + needed // 2)
