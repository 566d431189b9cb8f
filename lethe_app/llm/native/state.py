"""Reads the state of a sequence out of llama.cpp and back in: for saved states, and for models that cannot go back."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import llama_cpp

from lethe_app.llm.native.model import has_memory_for

WHOLE = int(llama_cpp.LLAMA_STATE_SEQ_FLAGS_NONE)
SUMS = int(llama_cpp.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY)
"""Only what cannot be cut at a token; of a hybrid model, keys and values stay where they are."""
MOST_CHECKPOINTS = 4


def size_of(context: Any, sequence: int, flags: int = WHOLE) -> int:  # noqa: ANN401 - of llama.cpp
    """Bytes that a copy of what one sequence holds would have."""
    return int(llama_cpp.llama_state_seq_get_size_ext(context, sequence, flags))


def take(context: Any, sequence: int, flags: int = WHOLE) -> bytearray | None:  # noqa: ANN401 - of llama.cpp
    """A copy of what one sequence holds; None if there is no memory for it."""
    size = size_of(context, sequence, flags)
    if not size or not has_memory_for(size):
        return None
    data = bytearray(size)
    buffer = (ctypes.c_uint8 * size).from_buffer(data)
    written = int(llama_cpp.llama_state_seq_get_data_ext(context, buffer, size, sequence, flags))
    return data if written == size else None


def restore_sequence(context: Any, sequence: int, data: bytes | bytearray, flags: int = WHOLE) -> bool:  # noqa: ANN401 - of llama.cpp
    """Have a sequence hold that; False if llama.cpp finds that it does not fit this model and context."""
    size = len(data)
    buffer = (ctypes.c_uint8 * size).from_buffer(data if isinstance(data, bytearray) else bytearray(data))
    return bool(size) and int(llama_cpp.llama_state_seq_set_data_ext(context, buffer, size, sequence, flags)) == size


@dataclass(frozen=True)
class Checkpoint:
    """What the model summed up from the first `length` tokens."""

    length: int
    data: bytearray


class Checkpoints:
    """Places to which a model can go back that cannot forget its last tokens: it keeps a sum, not a list.

    The tokens before a checkpoint must be those before which it was taken; whoever changes them says so with `cut`.
    """

    def __init__(self, context: Any, sequence: int) -> None:  # noqa: ANN401 - of llama.cpp
        self._context = context
        self._sequence = sequence
        self._held: list[Checkpoint] = []

    def take(self, length: int) -> None:
        """Here, behind so many tokens. The oldest makes room."""
        data = take(self._context, self._sequence, SUMS)
        if data is not None:
            self._held = [one for one in self._held if one.length != length][1 - MOST_CHECKPOINTS :]
            self._held.append(Checkpoint(length, data))

    def nearest(self, length: int) -> int:
        """The last place not behind that one; 0 where there is none."""
        return max((one.length for one in self._held if one.length <= length), default=0)

    def go_back(self, length: int) -> bool:
        """To a place that `nearest` named."""
        found = next((one for one in self._held if one.length == length), None)
        return found is not None and restore_sequence(self._context, self._sequence, found.data, SUMS)

    def cut(self, length: int) -> None:
        """Behind so many tokens, others will follow."""
        self._held = [one for one in self._held if one.length <= length]


class SlidingWindow:
    """A sliding window, if the model has one: cells that an earlier token must see may be written over, which nobody is told.

    By default llama.cpp keeps them all, so that such models go back as others do; in a saved state it keeps what is still seen.
    """

    def __init__(self, context: Any, sequence: int) -> None:  # noqa: ANN401 - of llama.cpp
        self._memory = llama_cpp.llama_get_memory(context)
        self._sequence = sequence
        self.width = int(llama_cpp.llama_model_n_swa(llama_cpp.llama_get_model(context)))

    def is_there(self, length: int) -> bool:
        """Can the token behind the first `length` be computed from what is cached?"""
        return self._sees(int(llama_cpp.llama_memory_seq_pos_min(self._memory, self._sequence)), length)

    def is_kept(self, length: int, whole: int) -> bool:
        """And from a saved state of `whole` tokens?"""
        return self._sees(max(0, whole - self.width), length)

    def _sees(self, first: int, length: int) -> bool:
        return not self.width or first <= max(0, length - self.width + 1)
