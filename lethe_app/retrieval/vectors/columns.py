"""Metadata of all passages of some owners as NumPy columns, without the texts, for ranking a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.storage.index.passages import KINDS

Halves = NDArray[np.uint64]


class SourceTable:
    """Map of source UUIDs to integer positions. It only grows, so that a position always means the same source."""

    def __init__(self, halves: Halves) -> None:
        """Build the map from UUIDs given as rows of their high and low 64 bits, sorted and unique; the row is the position."""
        self._halves = halves
        self._added_positions: dict[UUID, int] = {}
        self._added: list[UUID] = []

    def __len__(self) -> int:
        return len(self._halves) + len(self._added)

    def __getitem__(self, position: int) -> UUID:
        if position >= len(self._halves):
            return self._added[position - len(self._halves)]
        high, low = self._halves[position].tolist()
        return UUID(int=high << 64 | low)

    def position(self, source: UUID) -> int:
        """Return the position of a source, or -1 if it is unknown."""
        high, low = np.uint64(source.int >> 64), np.uint64(source.int & (2**64 - 1))
        first, last = np.searchsorted(self._halves[:, 0], [high, high], side="left")[0], len(self._halves)
        for row in range(int(first), last):
            if self._halves[row, 0] != high:
                break
            if self._halves[row, 1] == low:
                return row
        return self._added_positions.get(source, -1)

    def positions(self, sources: Iterable[UUID]) -> Rows:
        """Return the positions of those sources that are known."""
        found = np.array([self.position(source) for source in sources], np.int64)
        return found[found >= 0]

    def add(self, source: UUID) -> int:
        """Return the position of a source, adding it if it is new."""
        new_position = self.position(source)
        if new_position < 0:
            new_position = self._added_positions[source] = len(self)
            self._added.append(source)
        return new_position


def number_sources(high: Halves, low: Halves) -> tuple[SourceTable, Rows]:
    """Return the distinct UUIDs among the given halves, and for each given UUID its position among them."""
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    position = np.empty(len(order), np.int64)
    position[order] = np.cumsum(fresh) - 1
    return SourceTable(np.stack([high[fresh], low[fresh]], axis=1)), position


Rows = NDArray[np.int64]
Column = NDArray[Any]

LINES, FACTS, SUMMARIES, STANDALONE = 0, 1, 2, 3
"""Passage groups that are ranked separately: chat messages, facts, summaries, and standalone entries (memories, World Info,
documents).
"""
GROUP_BY_KIND = {
    PassageKind.MESSAGE: LINES,
    PassageKind.FACT: FACTS,
    PassageKind.MEMORY: STANDALONE,
    PassageKind.WORLD: STANDALONE,
    PassageKind.DOCUMENT: STANDALONE,
    PassageKind.SUMMARY: SUMMARIES,
    PassageKind.SENTENCE: SUMMARIES,
}
GROUPS = np.array([GROUP_BY_KIND[kind] for kind in KINDS], np.int8)
SAMPLE = 50_000
"""Newest passages from which the document frequency of common words is estimated."""
FACT = KINDS.index(PassageKind.FACT)
COLUMN_TYPES = {
    "number": np.int64, "kind": np.int8, "group": np.int8, "owner": np.int16, "source": np.int32, "day": np.int32,
    "length": np.int32,
}  # fmt: skip
RECORD = np.dtype([
    ("number", ">u8"), ("kind", "u1"), ("is_own_source", "u1"), ("day", ">u4"), ("length", ">u4"),
    ("high", ">u8"), ("low", ">u8"),
])  # fmt: skip
"""Record of one passage, as `Passages.encoded_rows` writes it: 34 bytes, big-endian; `high` and `low` are its source's UUID."""


@dataclass(frozen=True)
class ColumnSnapshot:
    """Immutable snapshot of the passage columns: one entry per passage, ordered by passage number."""

    number: Rows
    kind: NDArray[np.int8]
    """Index into `KINDS`."""
    group: NDArray[np.int8]
    owner: NDArray[np.int16]
    """Index into the owners of the `PassageColumns`."""
    source: NDArray[np.int32]
    """Index into `sources`."""
    day: NDArray[np.int32]
    """Ordinal of the day, as `date.toordinal` returns it."""
    length: NDArray[np.int32]
    sources: SourceTable
    """All sources, including those that have no passage any more."""
    source_count: int
    """Number of sources with at least one passage."""
    mean_length: float
    """Mean passage length in characters, at least 1."""

    @cached_property
    def last_row(self) -> Rows:
        """Row of the newest passage of each source within the newest `SAMPLE` passages; -1 if the source has none there."""
        start, found = max(0, len(self.number) - SAMPLE), np.full(len(self.sources), -1, np.int64)
        np.maximum.at(found, self.source[start:], np.arange(start, len(self.number)))
        return found

    @cached_property
    def group_counts(self) -> list[int]:
        """Number of passages in each group."""
        counts: list[int] = np.bincount(self.group, minlength=STANDALONE + 1).tolist()
        return counts

    def rows_of(self, numbers: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the row of each passage number, and a mask of the numbers that exist; rows of the others are meaningless."""
        if len(self.number) == 0:
            return np.zeros(len(numbers), np.int64), np.zeros(len(numbers), bool)
        rows = np.minimum(np.searchsorted(self.number, numbers), len(self.number) - 1)
        return rows, self.number[rows] == numbers


class PassageColumns:
    """Columns of the passages of some owners. New passages are appended; any other change replaces the arrays."""

    def __init__(self, owners: Sequence[str], sheets: Mapping[str, Sequence[str]]) -> None:
        """Read the columns from the sheets of each owner, as `Passages.encoded_rows` returns them."""
        self.owners = {owner: index for index, owner in enumerate(owners)}
        records_by_owner = {owner: np.frombuffer(bytes.fromhex("".join(sheets[owner])), RECORD) for owner in owners}
        records = np.concatenate([np.zeros(0, RECORD), *records_by_owner.values()])
        owner_indices = np.repeat(np.arange(len(records_by_owner)), [len(owned) for owned in records_by_owner.values()])
        # Sorted by number, because rows are looked up by binary search.
        order = np.argsort(records["number"], kind="stable")
        records, owner_indices = records[order], owner_indices[order]
        self._sources, source = number_sources(records["high"].astype(np.uint64), records["low"].astype(np.uint64))
        kind = records["kind"].astype(np.int8)
        values = {
            "number": records["number"],
            "kind": kind,
            "group": _compute_groups(kind, records["is_own_source"]),
            "owner": owner_indices,
            "source": source,
            "day": records["day"],
            "length": records["length"],
        }
        self._values: dict[str, Column] = {name: values[name].astype(dtype) for name, dtype in COLUMN_TYPES.items()}
        self._size = len(records)
        self._source_counts = np.bincount(source, minlength=len(self._sources))
        self._source_count = len(self._sources)
        self._length = int(records["length"].sum())
        self._columns: ColumnSnapshot | None = None

    def __len__(self) -> int:
        return self._size

    def __contains__(self, number: int) -> bool:
        row = int(np.searchsorted(self._numbers, number))
        return row < self._size and int(self._numbers[row]) == number

    def columns(self) -> ColumnSnapshot:
        """Return a snapshot of the current columns; later changes do not affect it."""
        if self._columns is None:
            columns = {name: column[: self._size] for name, column in self._values.items()}
            mean_length = max(1.0, self._length / max(1, self._size))
            self._columns = ColumnSnapshot(
                **columns, sources=self._sources, source_count=self._source_count, mean_length=mean_length
            )
        return self._columns

    def apply_changes(self, removed: Sequence[int], passages: Sequence[Passage]) -> None:
        """Remove the passages with the numbers `removed`, then add those `passages` that are new and belong to these owners."""
        self._remove(removed)
        fresh = (passage for passage in passages if passage.owner in self.owners and passage.number not in self)
        self._append(sorted(fresh, key=lambda passage: passage.number))

    @property
    def _numbers(self) -> Rows:
        return self._values["number"][: self._size]

    def _remove(self, numbers: Sequence[int]) -> None:
        requested = np.unique(np.array(numbers, np.int64))
        rows = np.searchsorted(self._numbers, requested)
        found = rows < self._size
        found[found] = self._numbers[rows[found]] == requested[found]
        if found.any():
            self._update_counts(self._values["source"][rows[found]], self._values["length"][rows[found]], -1)
            self._values = {name: np.delete(column[: self._size], rows[found]) for name, column in self._values.items()}
            self._size = len(self._values["number"])
            self._columns = None

    def _append(self, passages: Sequence[Passage]) -> None:
        if not passages:
            return
        kind = np.array([KINDS.index(passage.kind) for passage in passages], np.int8)
        rows: dict[str, Column] = {
            "number": np.array([passage.number for passage in passages]),
            "kind": kind,
            "group": _compute_groups(kind, np.array([passage.source == passage.origin for passage in passages])),
            "owner": np.array([self.owners[passage.owner] for passage in passages]),
            "source": np.array([self._sources.add(passage.source) for passage in passages]),
            "day": np.array([passage.time.toordinal() for passage in passages]),
            "length": np.array([len(passage.searched) for passage in passages]),
        }
        self._update_counts(rows["source"], rows["length"], 1)
        in_order = self._size == 0 or int(self._numbers[-1]) < passages[0].number
        self._values = {name: _append_values(column, self._size, rows[name]) for name, column in self._values.items()}
        self._size += len(passages)
        if not in_order:
            order = np.argsort(self._numbers, kind="stable")
            self._values = {name: column[: self._size][order] for name, column in self._values.items()}
        self._columns = None

    def _update_counts(self, sources: Column, lengths: Column, delta: int) -> None:
        """Add `delta` (1 or -1) to the passage count of each of these sources, and update the totals."""
        if len(self._sources) > len(self._source_counts):
            # Grows to at least twice its size, so that adding sources one at a time does not copy the array each time.
            self._source_counts = np.append(self._source_counts, np.zeros(len(self._sources), np.int64))
        touched = np.unique(sources)
        before = int(np.count_nonzero(self._source_counts[touched]))
        np.add.at(self._source_counts, sources, delta)
        self._source_count += int(np.count_nonzero(self._source_counts[touched])) - before
        self._length += delta * int(lengths.sum())


def _compute_groups(kind: Column, is_own_source: Column) -> Column:
    """Return the group of each passage. A fact without a session is its own source and therefore standalone, as a memory is."""
    return np.where((kind == FACT) & (is_own_source != 0), STANDALONE, GROUPS[kind])


def _append_values(column: Column, size: int, values: Column) -> Column:
    """Return the column with `values` after its first `size` entries. What lies beyond `size` belongs to no snapshot yet, so
    spare capacity is written in place.
    """
    needed = size + len(values)
    if needed > len(column):
        column = np.concatenate([column[:size], np.zeros(needed // 4 + 64, column.dtype)])
        if needed > len(column):
            column = np.concatenate([column, np.zeros(needed, column.dtype)])
    column[size:needed] = values
    return column
