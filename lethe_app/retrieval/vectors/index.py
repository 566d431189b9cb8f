"""Nearest-neighbour search: an exact table while there are few vectors, an HNSW graph (hnswlib) when there are many."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import hnswlib
import numpy as np
from numpy.typing import NDArray

from lethe_app.errors import StorageError

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]

LINKS, BUILD_WIDTH, MIN_WIDTH = 16, 200, 128
"""M, ef_construction and the smallest ef of the HNSW graph (Malkov and Yashunin, 2018). The first two are the defaults of
hnswlib, fixed here because a stored graph was built with them; ef is measured for each graph (`measure_width`).
"""
INSERT_BATCH = 16
"""Vectors inserted per lock acquisition and thread; searches wait about ten milliseconds for it."""
SAMPLE_SIZE, NEIGHBOUR_COUNT = 100, 10
"""Queries of a measurement of the search width, and nearest neighbours searched for each."""
TARGET_RECALL = 0.985
"""Share of the exact neighbours that a search width must find. With the width measured for it, 98.9 to 99.4 % of the exact ten
nearest are found among 100,000 passages (docs/benchmarks.md).
"""
NO_RESULTS = np.zeros(0, np.int64), np.zeros(0, np.float32)


class VectorTable:
    """Table of unit vectors by passage number, searched exhaustively."""

    def __init__(self, size: int) -> None:
        self._row: dict[int, int] = {}
        self._number = np.zeros(64, np.int64)
        self._vector = np.zeros((64, size), np.float32)

    def __len__(self) -> int:
        return len(self._row)

    def add(self, numbers: Iterable[int], vectors: Vectors) -> None:
        """Insert one vector per number, replacing those whose number is known."""
        for number, vector in zip(numbers, vectors, strict=True):
            row = self._row.setdefault(int(number), len(self._row))
            if row == len(self._number):
                self._number = np.concatenate([self._number, np.zeros_like(self._number)])
                self._vector = np.concatenate([self._vector, np.zeros_like(self._vector)])
            self._number[row], self._vector[row] = number, vector

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove the vectors with these numbers; unknown numbers are ignored."""
        for number in numbers:
            row = self._row.pop(number, None)
            last = len(self._row)
            # The last row fills the gap, so that the used rows stay contiguous for the matrix product in `nearest`.
            if row is not None and row != last:
                self._number[row], self._vector[row] = self._number[last], self._vector[last]
                self._row[int(self._number[row])] = row

    def nearest(self, vector: Vectors, count: int) -> tuple[Numbers, Vectors]:
        """Return the numbers of up to `count` nearest vectors and their cosines, nearest first."""
        count = min(count, len(self))
        if count == 0:
            return NO_RESULTS
        cosines = self._vector[: len(self)] @ vector
        best = np.argpartition(-cosines, count - 1)[:count] if count < len(cosines) else np.arange(count)
        best = best[np.argsort(-cosines[best], kind="stable")]
        return self._number[best], cosines[best]

    def copy_all(self) -> tuple[Numbers, Vectors]:
        """Return a copy of all numbers and vectors."""
        return self._number[: len(self)].copy(), self._vector[: len(self)].copy()


class HnswGraph:
    """HNSW graph of unit vectors; approximate search.

    Call `add` and `save` from one thread; `nearest` and `remove` may be called from any thread.
    """

    widths: ClassVar = (MIN_WIDTH, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
    """Search widths (ef) that `measure_width` tries in turn."""
    widest: ClassVar = 8192
    """Search width whose result counts as exact when the others are measured."""

    def __init__(self, size: int, capacity: int = 1024, width: int = MIN_WIDTH) -> None:
        # The inner-product distance of hnswlib is 1 - dot, which is the cosine distance of unit vectors.
        self._index = hnswlib.Index("ip", size)
        self._deleted: set[int] = set()
        self._lock = threading.Lock()
        self.size = size
        self.width = width
        """ef: candidates a search keeps; more is slower and finds more."""
        self.tuned_for = 0
        """Number of vectors in the graph when `width` was measured."""
        try:
            # A fixed seed, so that the same insertions by one thread build the same graph.
            self._index.init_index(capacity, ef_construction=BUILD_WIDTH, M=LINKS, random_seed=1)
        except RuntimeError as error:
            raise StorageError("There is not enough memory for the index of memories.") from error

    def __len__(self) -> int:
        return int(self._index.get_current_count()) - len(self._deleted)

    @property
    def deleted(self) -> frozenset[int]:
        """Numbers that were removed. hnswlib only marks them: their vectors remain in the graph and are still traversed."""
        return frozenset(self._deleted)

    def add(self, numbers: Numbers, vectors: Vectors, threads: int = 1) -> None:
        """Insert vectors, replacing those whose number is known."""
        self._ensure_capacity(len(numbers))
        for start in range(0, len(numbers), INSERT_BATCH * threads):
            chunk = slice(start, start + INSERT_BATCH * threads)
            with self._lock:
                self._index.add_items(vectors[chunk], numbers[chunk], num_threads=threads)
                self._deleted.difference_update(numbers[chunk].tolist())

    def remove(self, numbers: Iterable[int]) -> None:
        """Mark the vectors with these numbers as deleted; unknown numbers are ignored."""
        with self._lock:
            for number in numbers:
                try:
                    self._index.mark_deleted(number)
                except RuntimeError:  # unknown, or deleted already
                    continue
                self._deleted.add(number)

    def nearest(self, vector: Vectors, count: int, width: int = 0) -> tuple[Numbers, Vectors]:
        """Return the numbers of up to `count` nearest vectors and their cosines, nearest first.

        The search keeps at least `width` candidates (default: `self.width`).
        """
        count, width = min(count, len(self)), max(width or self.width, count)
        while count > 0:
            with self._lock:
                self._index.set_ef(width)
                try:
                    # hnswlib raises RuntimeError if fewer than k of the ef candidates are not deleted: search four times
                    # wider, then ask for fewer.
                    labels, distances = self._index.knn_query(vector, k=count, num_threads=1)
                except RuntimeError:
                    width, count = 4 * width, count if width < len(self) else count // 2
                    continue
            return labels[0].astype(np.int64), (1.0 - distances[0]).astype(np.float32)
        return NO_RESULTS

    def numbers(self) -> Numbers:
        """Return all passage numbers in the graph that are not deleted, ascending."""
        all_numbers = np.sort(np.array(self._index.get_ids_list(), np.int64))
        return all_numbers[~np.isin(all_numbers, np.array(sorted(self._deleted), np.int64))]

    def get_vectors(self, numbers: Numbers) -> Vectors:
        """Return the vectors of these numbers, shape (n, size). Every number must be in the graph."""
        found: Vectors = np.asarray(self._index.get_items(numbers, return_type="numpy"), np.float32)
        return found.reshape(len(numbers), self.size)

    def save(self, path: Path) -> None:
        """Write the graph to a file. Do not call `add` meanwhile; `remove` is allowed."""
        self._index.save_index(str(path))

    @classmethod
    def load(cls, path: Path, size: int, width: int, deleted: Sequence[int]) -> HnswGraph:
        """Read a graph that `save` wrote and remove the numbers in `deleted`. Raise StorageError if it cannot be loaded."""
        graph = cls(size, 1, width)  # its own empty index is replaced below
        index = hnswlib.Index("ip", size)
        try:
            index.load_index(str(path))
        except (RuntimeError, OSError) as error:
            raise StorageError(f"{path} is not an index of memories.") from error
        graph._index = index
        graph.remove(deleted)  # deletions that happened while the graph was being written are not marked in the file
        graph._deleted.update(deleted)
        return graph

    def _ensure_capacity(self, count: int) -> None:
        needed = int(self._index.get_current_count()) + count
        if needed > int(self._index.get_max_elements()):
            with self._lock:
                # hnswlib reallocates all vectors to resize; a tenth in reserve makes that rare while a graph grows.
                self._index.resize_index(needed + needed // 10 + 1024)


def tune_width(graph: HnswGraph) -> None:
    """Measure the search width of an index and set it."""
    graph.width, graph.tuned_for = measure_width(graph), len(graph)


def measure_width(graph: HnswGraph) -> int:
    """Return the smallest of the index's `widths` that reaches the recall target; the last one if none does.

    The result at `widest` counts as exact, because an exhaustive comparison would stall the window. The queries are
    synthetic vectors that are not stored: stored vectors find themselves and their neighbours too easily.
    """
    numbers = graph.numbers()
    if len(numbers) <= graph.widths[0]:
        return int(graph.widths[0])
    sample = np.random.default_rng(1).choice(numbers, min(SAMPLE_SIZE, len(numbers)), replace=False)
    queries = _make_queries(graph, sample)
    exact = _search_all(graph, queries, graph.widest)
    for width in graph.widths:
        found = _search_all(graph, queries, width)
        hits = sum(len(np.intersect1d(numbers, expected)) for numbers, expected in zip(found, exact, strict=True))
        if hits >= TARGET_RECALL * exact.size:
            break
    return int(width)


def _make_queries(graph: HnswGraph, numbers: Numbers) -> Vectors:
    """Return synthetic queries: each vector plus the difference of two of its neighbours, which keeps it within its cluster."""
    stored = graph.get_vectors(numbers)
    neighbours = np.array([graph.nearest(vector, 31)[0][[10, -1]] for vector in stored])
    shifted = stored + graph.get_vectors(neighbours[:, 0]) - graph.get_vectors(neighbours[:, 1])
    unit: Vectors = shifted / np.maximum(np.linalg.norm(shifted, axis=1, keepdims=True), 1e-9)
    return unit


def _search_all(graph: HnswGraph, queries: Vectors, width: int) -> Numbers:
    return np.stack([graph.nearest(query, NEIGHBOUR_COUNT, width)[0] for query in queries])
