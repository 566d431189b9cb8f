"""Holds a stretch of a cache outside of it while it is computed anew, and gives back what was not reached.

Sums over many cells depend on the order in which these lie, if only in their last bits, and a quantised model makes more of
those bits than one would think. llama.cpp puts tokens where there is room, so beside cells that are still there the new ones
end in another order than in an empty context. Where the old ones are out of the way, all is as if it had been read from the
first token on, bit for bit.
"""

from __future__ import annotations

from typing import Any

import llama_cpp

from lethe_app.llm.llama_states import put, size_of, take
from lethe_app.llm.llama_weights import NativeFlag

MOST_BYTES = 256 << 20
"""To put so much back takes about 70 ms (142 MB took 38), and somebody who comes in between waits for it."""
PIECE = 512
"""Tokens copied at once; between two pieces a stop is looked for."""


class Rack:
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
                if not put(self._context, self._spare, data):
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
