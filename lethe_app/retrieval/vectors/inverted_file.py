"""Finds the nearest of very many vectors: they lie in cells of some hundred near ones, and only the nearest cells are asked."""

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
"""Vectors of a cell; with one more it is parted in two."""
PARTINGS = 6
"""Rounds in which the two halves of a cell find their middles."""
SLICE = 64
"""Vectors put in while nobody may ask; some milliseconds."""


class VectorCell:
    """Vectors that lie near one another. What is written stands still: rows are only put at the end, or all made anew."""

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
        needed = self._count + len(numbers)
        if needed > len(self._numbers):
            more = max(needed, min(needed + needed // 4, FULL)) - self._count
            self._numbers = np.concatenate([self.numbers, np.zeros(more, np.int64)])
            self._vectors = np.concatenate([self.vectors, np.zeros((more, vectors.shape[1]), np.float32)])
        self._numbers[self._count : needed], self._vectors[self._count : needed] = numbers, vectors
        self._count = needed

    def remove(self, number: int) -> None:
        stays = self.numbers != number
        self._numbers, self._vectors, self._count = self.numbers[stays], self.vectors[stays], int(np.count_nonzero(stays))

    def stored(self, number: int) -> Vectors:
        found: Vectors = self._vectors[int(np.flatnonzero(self.numbers == number)[0])]
        return found


class Cells:
    """An inverted file; cells are parted as they fill. Put in and save from one thread; ask and take out from any other."""

    widths: ClassVar = tuple(2048 * many for many in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64))
    widest: ClassVar = 131_072

    def __init__(self, size: int, width: int = 0) -> None:
        self.size = size
        self.width = width or self.widths[0]
        """How many vectors a search compares; more is slower and finds more."""
        self.tuned_for = 0
        """How many vectors there were when that was measured."""
        self.gone: frozenset[int] = frozenset()
        """What is taken out leaves nothing behind."""
        self._cells = [VectorCell(np.zeros(0, np.int64), np.zeros((0, size), np.float32))]
        self._middle, self._half = np.zeros((64, size), np.float32), np.zeros(64, np.float32)
        self._count = np.zeros(64, np.int64)
        self._cell_of: dict[int, int] = {}
        self._asking = threading.Lock()

    def __len__(self) -> int:
        return len(self._cell_of)

    def add(self, numbers: Numbers, vectors: Vectors, threads: int = 1) -> None:
        """Put in, or replace where the number is known; by one thread, however many may be used."""
        for start in range(0, len(numbers), SLICE):
            last = {number: place for place, number in enumerate(numbers[start : start + SLICE].tolist(), start)}
            places = np.array(list(last.values()))
            with self._asking:
                self._take(number for number in last if number in self._cell_of)
                self._put(numbers[places], vectors[places])

    def remove(self, numbers: Iterable[int]) -> None:
        """Take out; numbers that are not in it are passed over."""
        with self._asking:
            self._take(number for number in numbers if number in self._cell_of)

    def nearest(self, vector: Vectors, count: int, width: int = 0) -> tuple[Numbers, Vectors]:
        """The numbers of up to `count` nearest vectors and their cosines, nearest first, among at least so many."""
        with self._asking:
            known = len(self._cells)
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
        """All that are in it, in rising order."""
        return np.sort(np.array(list(self._cell_of), np.int64))

    def stored(self, numbers: Numbers) -> Vectors:
        """The vectors under these numbers, all of which must be in it."""
        found = [self._cells[self._cell_of[number]].stored(number) for number in numbers.tolist()]
        return np.array(found, np.float32).reshape(len(found), self.size)

    def save(self, path: Path) -> None:
        """Write all of it; do not put in meanwhile."""
        with self._asking:
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
        """What `save` wrote, whole; raises `StorageError` where that cannot be."""
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
        """Make two of a cell that is too full, as often as it must be."""
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
    """Two cells for one, each around a middle of its own."""
    vectors = cell.vectors
    one = vectors[int(np.argmin(vectors @ vectors[0]))]
    other = vectors[int(np.argmin(vectors @ one))]
    for _round in range(PARTINGS):
        side = vectors @ (one - other) > (one @ one - other @ other) / 2
        if side.all() or not side.any():  # all the same
            side = np.arange(len(vectors)) % 2 == 0
        one, other = vectors[side].mean(axis=0), vectors[~side].mean(axis=0)
    return VectorCell(cell.numbers[side], vectors[side]), VectorCell(cell.numbers[~side], vectors[~side])
