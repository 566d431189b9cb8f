"""Gives every source a small number, for hundreds of thousands of UUIDs as objects would fill the memory."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Halves = NDArray[np.uint64]


class Sources:
    """The positions of sources; only ever grows, so that a position means the same for ever."""

    def __init__(self, halves: Halves) -> None:
        """Of UUIDs as rows of their two halves, sorted and each once; the position is the place in this order."""
        self._halves = halves
        self._later: dict[UUID, int] = {}
        self._later_ones: list[UUID] = []

    def __len__(self) -> int:
        return len(self._halves) + len(self._later_ones)

    def __getitem__(self, position: int) -> UUID:
        if position >= len(self._halves):
            return self._later_ones[position - len(self._halves)]
        high, low = self._halves[position].tolist()
        return UUID(int=high << 64 | low)

    def position(self, source: UUID) -> int:
        """Where it is; -1 if it is not there."""
        high, low = np.uint64(source.int >> 64), np.uint64(source.int & (2**64 - 1))
        first, last = np.searchsorted(self._halves[:, 0], [high, high], side="left")[0], len(self._halves)
        for place in range(int(first), last):
            if self._halves[place, 0] != high:
                break
            if self._halves[place, 1] == low:
                return place
        return self._later.get(source, -1)

    def positions(self, sources: Iterable[UUID]) -> Rows:
        """Where those of them are that are there."""
        found = np.array([self.position(source) for source in sources], np.int64)
        return found[found >= 0]

    def add(self, source: UUID) -> int:
        """Its position, a new one if it is new."""
        place = self.position(source)
        if place < 0:
            place = self._later[source] = len(self)
            self._later_ones.append(source)
        return place


def numbered(high: Halves, low: Halves) -> tuple[Sources, Rows]:
    """All that occur, and the position of each given one."""
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    position = np.empty(len(order), np.int64)
    position[order] = np.cumsum(fresh) - 1
    return Sources(np.stack([high[fresh], low[fresh]], axis=1)), position
