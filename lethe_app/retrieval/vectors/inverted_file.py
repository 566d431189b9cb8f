"""Inverted-file index for very many vectors: they are clustered into cells, and a search compares only the nearest cells."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from lethe_app.errors import StorageError
from lethe_app.retrieval.vectors.index import NOTHING, Numbers, Vectors
from lethe_app.retrieval.vectors.top_k import begins, highest_first

FULL = 512
"""Maximum number of vectors in a cell; a fuller cell is split in two."""
PARTINGS = 6
"""Rounds of 2-means that split a cell."""
SLICE = 64
"""Vectors inserted per lock acquisition; searches wait a few milliseconds for it."""


class VectorCell:
    """One cluster of vectors. Written rows are never modified: rows are appended, or all arrays are replaced, so that a view
    stays valid.
    """

    def __init__(self, numbers: Numbers, vectors: Vectors) -> None:
        self._numbers, self._vectors, self._count = numbers, vectors, len(numbers)

    def __len__(self) -> int:
        return self._count

    @property
    def numbers(self) -> Numbers:
        return self._numbers[: self._count]

    @property
    def vectors(self) -> Vectors:
        return self._vectors[: self._count]

    def add(self, numbers: Numbers, vectors: Vectors) -> None:
        """Append vectors."""
        needed = self._count + len(numbers)
        if needed > len(self._numbers):
            more = max(needed, min(needed + needed // 4, FULL)) - self._count
            self._numbers = np.concatenate([self.numbers, np.zeros(more, np.int64)])
            self._vectors = np.concatenate([self.vectors, np.zeros((more, vectors.shape[1]), np.float32)])
        self._numbers[self._count : needed], self._vectors[self._count : needed] = numbers, vectors
        self._count = needed

    def remove(self, number: int) -> None:
        """Remove the vector of a number."""
        stays = self.numbers != number
        self._numbers, self._vectors, self._count = self.numbers[stays], self.vectors[stays], int(np.count_nonzero(stays))

    def stored(self, number: int) -> Vectors:
        """Return the vector of a number, which must be in the cell."""
        found: Vectors = self._vectors[int(np.flatnonzero(self.numbers == number)[0])]
        return found


class Cells:
    """Inverted-file index whose cells are split as they fill.

    Call `add` and `save` from one thread; `nearest` and `remove` may be called from any thread.
    """

    widths: ClassVar = tuple(2048 * many for many in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64))
    """Search widths that `search_width.width_for` tries in turn."""
    widest: ClassVar = 131_072
    """Search width whose result counts as exact when the others are measured."""

    def __init__(self, size: int, width: int = 0) -> None:
        self.size = size
        self.width = width or self.widths[0]
        """Number of vectors a search compares; more is slower and finds more."""
        self.tuned_for = 0
        """Number of vectors in the index when `width` was measured."""
        self.gone: frozenset[int] = frozenset()
        """Always empty: unlike a `Graph`, removal leaves no tombstone."""
        self._cells = [VectorCell(np.zeros(0, np.int64), np.zeros((0, size), np.float32))]
        self._middle, self._half = np.zeros((64, size), np.float32), np.zeros(64, np.float32)
        self._count = np.zeros(64, np.int64)
        self._cell_of: dict[int, int] = {}
        self._asking = threading.Lock()

    def __len__(self) -> int:
        return len(self._cell_of)

    def add(self, numbers: Numbers, vectors: Vectors, threads: int = 1) -> None:
        """Insert vectors, replacing those whose number is known. `threads` is ignored; it exists for parity with
        `Graph.add`.
        """
        for start in range(0, len(numbers), SLICE):
            last = {number: place for place, number in enumerate(numbers[start : start + SLICE].tolist(), start)}
            places = np.array(list(last.values()))
            with self._asking:
                self._take(number for number in last if number in self._cell_of)
                self._put(numbers[places], vectors[places])

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove the vectors with these numbers; unknown numbers are ignored."""
        with self._asking:
            self._take(number for number in numbers if number in self._cell_of)

    def nearest(self, vector: Vectors, count: int, width: int = 0) -> tuple[Numbers, Vectors]:
        """Return the numbers of up to `count` nearest vectors and their cosines, nearest first.

        At least `width` vectors (default: `self.width`) are compared.
        """
        with self._asking:
            known = len(self._cells)
            # |c|²/2 - c·q orders the cells by Euclidean distance of their centroid: centroids are not of length one, so the
            # dot product would not.
            order = np.argsort(self._half[:known] - self._middle[:known] @ vector, kind="stable")
            enough = int(np.searchsorted(np.cumsum(self._count[order]), max(width or self.width, count))) + 1
            asked = [self._cells[cell] for cell in order[:enough].tolist()]
            if not self._cell_of:
                return NOTHING
            cosines = np.concatenate([cell.vectors @ vector for cell in asked])
            numbers = np.concatenate([cell.numbers for cell in asked])
        best = highest_first(cosines, count)
        return numbers[best], cosines[best]

    def numbers(self) -> Numbers:
        """Return all passage numbers in the index, ascending."""
        return np.sort(np.array(list(self._cell_of), np.int64))

    def stored(self, numbers: Numbers) -> Vectors:
        """Return the vectors of these numbers, shape (n, size). Every number must be in the index."""
        found = [self._cells[self._cell_of[number]].stored(number) for number in numbers.tolist()]
        return np.array(found, np.float32).reshape(len(found), self.size)

    def save(self, path: Path) -> None:
        """Write the index to a file. Do not call `add` meanwhile; `remove` is allowed."""
        with self._asking:
            # Rows of cells are never modified, so these views may be written without the lock; centroids are updated in
            # place and copied.
            kept = [(cell.numbers, cell.vectors) for cell in self._cells]
            middle = self._middle[: len(kept)].copy()
        with path.open("wb") as file:
            np.save(file, np.array([len(numbers) for numbers, _vectors in kept]))
            np.save(file, middle)
            np.save(file, np.concatenate([numbers for numbers, _vectors in kept]))
            for _numbers, vectors in kept:
                vectors.tofile(file)

    @classmethod
    def load(cls, path: Path, size: int, width: int, gone: Sequence[int]) -> Cells:
        """Read an index that `save` wrote and remove the numbers in `gone`. Raise StorageError if the file is incomplete or
        foreign.
        """
        try:
            with path.open("rb") as file:
                counts, middle, numbers = (np.load(file, allow_pickle=False) for _part in range(3))
                vectors = np.fromfile(file, np.float32).reshape(-1, size)
        except (ValueError, EOFError, OSError) as error:
            raise StorageError(f"{path} is not an index of memories.") from error
        if not len(vectors) == len(numbers) == counts.sum() or middle.shape != (len(counts), size):
            raise StorageError(f"{path} is not an index of memories.")
        cells, ends = cls(size, width), np.cumsum(counts)
        places = [slice(end - count, end) for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]
        cells._cells = [VectorCell(numbers[place], vectors[place]) for place in places]
        cells._middle, cells._half, cells._count = middle, np.einsum("ij,ij->i", middle, middle) / 2, counts
        cells._cell_of = dict(zip(numbers.tolist(), np.repeat(np.arange(len(counts)), counts).tolist(), strict=True))
        cells.remove(gone)
        return cells

    def _put(self, numbers: Numbers, vectors: Vectors) -> None:
        known = len(self._cells)
        cell = np.argmin(self._half[:known] - vectors @ self._middle[:known].T, axis=1)
        order = np.argsort(cell, kind="stable")
        starts = np.flatnonzero(begins(cell[order]))
        for some in np.split(order, starts[1:]):
            place = int(cell[some[0]])
            self._cells[place].add(numbers[some], vectors[some])
            self._count[place] = len(self._cells[place])
            self._cell_of.update(dict.fromkeys(numbers[some].tolist(), place))
            self._part(place)

    def _take(self, numbers: Iterable[int]) -> None:
        for number in list(numbers):
            place = self._cell_of.pop(number)
            self._cells[place].remove(number)
            self._count[place] -= 1

    def _part(self, place: int) -> None:
        """Split a cell that is over-full, recursively."""
        if len(self._cells[place]) <= FULL:
            return
        new = len(self._cells)
        if new == len(self._count):
            self._middle, self._half = np.concatenate([self._middle] * 2), np.concatenate([self._half] * 2)
            self._count = np.concatenate([self._count] * 2)
        self._cells[place], second = parted(self._cells[place])
        self._cells.append(second)
        self._cell_of.update(dict.fromkeys(second.numbers.tolist(), new))
        for half in (place, new):
            middle = self._cells[half].vectors.mean(axis=0)
            self._middle[half], self._half[half], self._count[half] = middle, middle @ middle / 2, len(self._cells[half])
            self._part(half)


def parted(cell: VectorCell) -> tuple[VectorCell, VectorCell]:
    """Split a cell in two with 2-means, starting from two vectors that lie far apart."""
    vectors = cell.vectors
    one = vectors[int(np.argmin(vectors @ vectors[0]))]
    other = vectors[int(np.argmin(vectors @ one))]
    for _round in range(PARTINGS):
        side = vectors @ (one - other) > (one @ one - other @ other) / 2
        if side.all() or not side.any():  # all the same
            side = np.arange(len(vectors)) % 2 == 0
        one, other = vectors[side].mean(axis=0), vectors[~side].mean(axis=0)
    return VectorCell(cell.numbers[side], vectors[side]), VectorCell(cell.numbers[~side], vectors[~side])
