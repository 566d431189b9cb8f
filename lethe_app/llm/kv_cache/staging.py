"""Staging of the cells after an edit while tokens are inserted before them or recomputed.

llama.cpp appends tokens only after the last one of a sequence, so the cells after the edit are moved to a second sequence,
which only changes their labels. Cells that are recomputed in place are copied to main memory instead, if they are not too
large: if they stayed in the context, the last bits of the result would differ from those of a full evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import llama_cpp

from lethe_app.llm.kv_cache.diff import TokenRun, order_moves
from lethe_app.llm.native.model import NativeFlag
from lethe_app.llm.native.state import copy_sequence, restore_sequence, sequence_size

MAX_COPY_BYTES = 256 << 20
"""Maximum size in bytes of a copy: restoring that much takes about 70 ms (142 MB took 38), for which a chat request waits."""
TOKENS_PER_PIECE = 512
"""Tokens copied at once; the stop flag is checked between two pieces."""


class MainMemoryCopy:
    """Copy of a range of cells of one sequence in main memory.

    llama.cpp exports only whole sequences, so the range is first labelled as an otherwise empty spare sequence.
    """

    def __init__(self, context: Any, sequence: int, spare: int, stop: NativeFlag) -> None:  # noqa: ANN401 - of llama.cpp
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        self._sequence, self._spare = sequence, spare
        self._stop = stop
        self._pieces: list[tuple[int, int, bytearray]] = []
        """First position, position after the last, and the exported state of each piece."""

    @property
    def is_used(self) -> bool:
        return bool(self._pieces)

    def copy_range(self, start: int, end: int) -> bool:
        """Copy the cells of a range of positions; returns False and holds nothing if they are too large or the stop flag is
        set.
        """
        self.clear()
        total_size = sequence_size(self._context, self._sequence)
        if not end or total_size * (end - start) // end > MAX_COPY_BYTES:
            return False
        for position in range(start, end, TOKENS_PER_PIECE):
            piece = None if self._stop.is_set() else self._copy_cells(position, min(position + TOKENS_PER_PIECE, end))
            if piece is None:
                self.clear()
                return False
            self._pieces.append((position, min(position + TOKENS_PER_PIECE, end), piece))
        return True

    def restore_range(self, start: int, end: int) -> bool:
        """Restore the copied cells of a range into the sequence; returns False if llama.cpp has no room for them."""
        for first, last, data in self._pieces:
            if first < end and last > start:
                if not restore_sequence(self._context, self._spare, data):
                    self._empty_spare()
                    return False
                llama_cpp.llama_memory_seq_cp(self._memory, self._spare, self._sequence, max(first, start), min(last, end))
                self._empty_spare()
        return True

    def clear(self) -> None:
        """Drop the copies."""
        self._pieces.clear()

    def _copy_cells(self, start: int, end: int) -> bytearray | None:
        llama_cpp.llama_memory_seq_cp(self._memory, self._sequence, self._spare, start, end)
        data = copy_sequence(self._context, self._spare)
        self._empty_spare()
        return data

    def _empty_spare(self) -> None:
        llama_cpp.llama_memory_seq_rm(self._memory, self._spare, -1, -1)


SEQUENCE, STAGING = 0, 1


class CellStaging:
    """Staging area of a context: runs after an edit wait in its second sequence, or as a copy in main memory."""

    def __init__(self, context: Any, stop: NativeFlag) -> None:  # noqa: ANN401 - of llama.cpp
        self._memory = llama_cpp.llama_get_memory(context)
        self._memory_copy = MainMemoryCopy(context, SEQUENCE, STAGING, stop)
        self.runs: list[TokenRun] = []
        """Staged runs with the positions where they are needed, in order."""
        self.has_moved = False
        """True if moved cells are pending: llama.cpp rotates their keys to the new positions only at the next decode."""

    @property
    def length(self) -> int:
        """Number of staged tokens."""
        return sum(run.length for run in self.runs)

    @property
    def cells(self) -> int:
        """Number of staged tokens that occupy cells of the context."""
        return 0 if self._memory_copy.is_used else self.length

    def stage(self, runs: Sequence[TokenRun], *, recompute: bool) -> None:
        """Stage all cells after the first run, before the sequence is truncated there."""
        if len(runs) > 1 and not (
            recompute
            and self._can_copy_to_memory(runs)
            and self._memory_copy.copy_range(runs[1].target_start, runs[-1].target_end)
        ):
            llama_cpp.llama_memory_seq_cp(self._memory, SEQUENCE, STAGING, runs[0].length, -1)

    def arrange(self, runs: Sequence[TokenRun]) -> None:
        """Drop the staged cells outside the runs and move the runs to the positions where they are needed."""
        end, later_runs = runs[0].length, list(runs[1:])
        for run in later_runs:
            self._remove_cells(end, run.cached_start)
            end = run.cached_end
        if later_runs:
            self._remove_cells(end, -1)
        # In this order no run is moved onto cells of one that still has to move.
        for run in order_moves(later_runs):
            self._shift(run.cached_start, run.length, run.target_start - run.cached_start)
        self.runs = later_runs

    def unstage(self, run: TokenRun, position: int) -> bool:
        """Move a run, already removed from `runs`, back into the sequence at `position`; returns False if there is no room for
        it.
        """
        self._shift(run.target_start, run.length, position - run.target_start)
        if self._memory_copy.is_used:
            return self._memory_copy.restore_range(position, position + run.length)
        # Within the shared buffer a copy only adds the label of the other sequence; removing takes the old label off.
        llama_cpp.llama_memory_seq_cp(self._memory, STAGING, SEQUENCE, position, position + run.length)
        self._remove_cells(position, position + run.length)
        return True

    def drop(self, end: int) -> None:
        """Drop the staged cells needed before position `end`."""
        if self.runs and self.runs[0].target_start < end:
            self._remove_cells(0, end)
            self.runs = [run.without_head(max(end - run.target_start, 0)) for run in self.runs if run.target_end > end]

    def clear(self) -> None:
        """Drop all staged cells."""
        if self.runs:
            self._remove_cells(0, -1)
        self.runs = []
        self._memory_copy.clear()

    def _can_copy_to_memory(self, runs: Sequence[TokenRun]) -> bool:
        """Return whether the runs form one contiguous block that stays in place, which is all a copy in main memory
        supports.
        """
        is_in_place = all(run.cached_start == run.target_start for run in runs)
        return is_in_place and not self.has_moved and all(one.target_end == other.target_start for one, other in pairwise(runs))

    def _shift(self, position: int, length: int, distance: int) -> None:
        if distance:
            llama_cpp.llama_memory_seq_add(self._memory, STAGING, position, position + length, distance)
            self.has_moved = True

    def _remove_cells(self, start: int, end: int) -> None:
        if start != end:
            llama_cpp.llama_memory_seq_rm(self._memory, STAGING, start, end)
