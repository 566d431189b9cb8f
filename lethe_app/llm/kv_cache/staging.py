"""Where the end of a cached text stands while tokens are put in before it, or while it is computed anew.

llama.cpp adds tokens only behind the last one of a sequence, so what stands behind waits in a second one; cells only change
their label for that. What is computed anew just where it stands waits on a rack outside, if it is not too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import llama_cpp

from lethe_app.llm.kv_cache.diff import Run, moves
from lethe_app.llm.native.model import NativeFlag
from lethe_app.llm.native.state import restore_sequence, size_of, take

MOST_BYTES = 256 << 20
"""To put so much back takes about 70 ms (142 MB took 38), and somebody who comes in between waits for it."""
PIECE = 512
"""Tokens copied at once; between two pieces a stop is looked for."""


class StagingSequence:
    """For one sequence of a context; another one that is empty serves to tell a stretch from the rest."""

    def __init__(self, context: Any, sequence: int, spare: int, stop: NativeFlag) -> None:  # noqa: ANN401 - of llama.cpp
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        self._sequence, self._spare = sequence, spare
        self._stop = stop
        self._pieces: list[tuple[int, int, bytearray]] = []
        """First place, the one behind the last, and what stood there."""

    @property
    def is_used(self) -> bool:
        return bool(self._pieces)

    def hold(self, start: int, end: int) -> bool:
        """Copy the cells of these places; False, and nothing is held, if they are too large or somebody waits."""
        self.clear()
        whole = size_of(self._context, self._sequence)
        if not end or whole * (end - start) // end > MOST_BYTES:
            return False
        for place in range(start, end, PIECE):
            piece = None if self._stop.is_set() else self._copied(place, min(place + PIECE, end))
            if piece is None:
                self.clear()
                return False
            self._pieces.append((place, min(place + PIECE, end), piece))
        return True

    def give_back(self, start: int, end: int) -> bool:
        """Have the sequence hold these places again; False if llama.cpp finds no room for them."""
        for first, last, data in self._pieces:
            if first < end and last > start:
                if not restore_sequence(self._context, self._spare, data):
                    self._empty_spare()
                    return False
                llama_cpp.llama_memory_seq_cp(self._memory, self._spare, self._sequence, max(first, start), min(last, end))
                self._empty_spare()
        return True

    def clear(self) -> None:
        """Nothing of it is needed any more."""
        self._pieces.clear()

    def _copied(self, start: int, end: int) -> bytearray | None:
        llama_cpp.llama_memory_seq_cp(self._memory, self._sequence, self._spare, start, end)
        data = take(self._context, self._spare)
        self._empty_spare()
        return data

    def _empty_spare(self) -> None:
        llama_cpp.llama_memory_seq_rm(self._memory, self._spare, -1, -1)


SEQUENCE, PARKED = 0, 1


class CellStaging:
    """For the first sequence of a context; the second belongs to it."""

    def __init__(self, context: Any, stop: NativeFlag) -> None:  # noqa: ANN401 - of llama.cpp
        self._memory = llama_cpp.llama_get_memory(context)
        self._rack = StagingSequence(context, SEQUENCE, PARKED, stop)
        self.runs: list[Run] = []
        """What waits, and where it is wanted."""
        self.has_moved = False
        """Do cells wait to be moved, whose keys are not yet those of their places?"""

    @property
    def length(self) -> int:
        """Tokens that wait."""
        return sum(run.length for run in self.runs)

    @property
    def cells(self) -> int:
        """Those of them that stand in the context."""
        return 0 if self._rack.is_used else self.length

    def copy(self, runs: Sequence[Run], *, anew: bool) -> None:
        """Have all behind the first run twice, before the sequence forgets it."""
        if len(runs) > 1 and not (anew and self._fits_rack(runs) and self._rack.hold(runs[1].wanted, runs[-1].wanted_end)):
            llama_cpp.llama_memory_seq_cp(self._memory, SEQUENCE, PARKED, runs[0].length, -1)

    def arrange(self, runs: Sequence[Run]) -> None:
        """Forget what is in none of the runs; those behind the first wait at the places where they are wanted."""
        end, behind = runs[0].length, list(runs[1:])
        for run in behind:
            self._forget(end, run.cached)
            end = run.cached_end
        if behind:
            self._forget(end, -1)
        for run in moves(behind):
            self._shift(run.cached, run.length, run.wanted - run.cached)
        self.runs = behind

    def leave(self, run: Run, place: int) -> bool:
        """Have the sequence hold, from that place on, a run that waits no longer. False if there is no room any more."""
        self._shift(run.wanted, run.length, place - run.wanted)
        if self._rack.is_used:
            return self._rack.give_back(place, place + run.length)
        llama_cpp.llama_memory_seq_cp(self._memory, PARKED, SEQUENCE, place, place + run.length)
        self._forget(place, place + run.length)
        return True

    def drop(self, end: int) -> None:
        """Forget what is wanted before a place."""
        if self.runs and self.runs[0].wanted < end:
            self._forget(0, end)
            self.runs = [run.without_head(max(end - run.wanted, 0)) for run in self.runs if run.wanted_end > end]

    def clear(self) -> None:
        """Nothing waits any more."""
        if self.runs:
            self._forget(0, -1)
        self.runs = []
        self._rack.clear()

    def _fits_rack(self, runs: Sequence[Run]) -> bool:
        """It serves one stretch that stays in its place."""
        stays = all(run.cached == run.wanted for run in runs)
        return stays and not self.has_moved and all(one.wanted_end == other.wanted for one, other in pairwise(runs))

    def _shift(self, place: int, length: int, distance: int) -> None:
        if distance:
            llama_cpp.llama_memory_seq_add(self._memory, PARKED, place, place + length, distance)
            self.has_moved = True

    def _forget(self, start: int, end: int) -> None:
        if start != end:
            llama_cpp.llama_memory_seq_rm(self._memory, PARKED, start, end)
