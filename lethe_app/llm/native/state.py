"""Export and import of a sequence's state in llama.cpp, for saved states and for models that cannot remove their last
tokens.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import llama_cpp

from lethe_app.llm.native.model import has_memory_for

FULL_STATE = int(llama_cpp.LLAMA_STATE_SEQ_FLAGS_NONE)
PARTIAL_STATE = int(llama_cpp.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY)
"""Flag for the part of the state that cannot be truncated at a token; for a hybrid model, keys and values are left out."""
MAX_CHECKPOINTS = 4
"""Number of checkpoints kept per context."""


def sequence_size(context: Any, sequence: int, flags: int = FULL_STATE) -> int:  # noqa: ANN401 - of llama.cpp
    """Return the size in bytes of a copy of one sequence's state."""
    return int(llama_cpp.llama_state_seq_get_size_ext(context, sequence, flags))


def copy_sequence(context: Any, sequence: int, flags: int = FULL_STATE) -> bytearray | None:  # noqa: ANN401 - of llama.cpp
    """Return a copy of one sequence's state, or None if there is no memory for it."""
    size = sequence_size(context, sequence, flags)
    if not size or not has_memory_for(size):
        return None
    data = bytearray(size)
    buffer = (ctypes.c_uint8 * size).from_buffer(data)
    written = int(llama_cpp.llama_state_seq_get_data_ext(context, buffer, size, sequence, flags))
    return data if written == size else None


def restore_sequence(context: Any, sequence: int, data: bytes | bytearray, flags: int = FULL_STATE) -> bool:  # noqa: ANN401 - of llama.cpp
    """Replace a sequence's state by `data`; returns False if llama.cpp finds that it does not fit this model and context."""
    size = len(data)
    # from_buffer needs writable memory; a bytearray is used in place, bytes are copied.
    buffer = (ctypes.c_uint8 * size).from_buffer(data if isinstance(data, bytearray) else bytearray(data))
    return bool(size) and int(llama_cpp.llama_state_seq_set_data_ext(context, buffer, size, sequence, flags)) == size


@dataclass(frozen=True)
class Checkpoint:
    """State of a recurrent model after its first `length` tokens."""

    length: int
    data: bytearray


class Checkpoints:
    """Positions to which a recurrent model can be rewound: it keeps a running state from which tokens cannot be removed.

    The tokens before a checkpoint must still be those it was taken after; whoever changes them calls `truncate`.
    """

    def __init__(self, context: Any, sequence: int) -> None:  # noqa: ANN401 - of llama.cpp
        self._context = context
        self._sequence = sequence
        self._checkpoints: list[Checkpoint] = []

    def save(self, length: int) -> None:
        """Save a checkpoint after the first `length` tokens, which are all that is evaluated now. Beyond the limit the
        oldest is dropped; without memory for a copy none is saved.
        """
        data = copy_sequence(self._context, self._sequence, PARTIAL_STATE)
        if data is not None:
            self._checkpoints = [one for one in self._checkpoints if one.length != length][1 - MAX_CHECKPOINTS :]
            self._checkpoints.append(Checkpoint(length, data))

    def nearest_position(self, length: int) -> int:
        """Return the last checkpoint position not after `length`; 0 if there is none."""
        return max((one.length for one in self._checkpoints if one.length <= length), default=0)

    def restore(self, length: int) -> bool:
        """Restore the checkpoint at a position returned by `nearest_position`; returns False if llama.cpp refuses it."""
        checkpoint = next((one for one in self._checkpoints if one.length == length), None)
        return checkpoint is not None and restore_sequence(self._context, self._sequence, checkpoint.data, PARTIAL_STATE)

    def truncate(self, length: int) -> None:
        """Drop the checkpoints after `length` tokens, because other tokens will follow there."""
        self._checkpoints = [one for one in self._checkpoints if one.length <= length]


class SlidingWindow:
    """Check which cells of a sliding-window cache are still present: llama.cpp overwrites cells outside the window without
    notice.

    By default llama.cpp keeps all cells of such a model, so that it can be rewound like others; a saved state contains only
    those inside the window.
    """

    def __init__(self, context: Any, sequence: int) -> None:  # noqa: ANN401 - of llama.cpp
        self._memory = llama_cpp.llama_get_memory(context)
        self._sequence = sequence
        self.width = int(llama_cpp.llama_model_n_swa(llama_cpp.llama_get_model(context)))

    def has_cells_for(self, length: int) -> bool:
        """Return whether the token after the first `length` can be computed from the cells present."""
        return self._is_covered(int(llama_cpp.llama_memory_seq_pos_min(self._memory, self._sequence)), length)

    def has_saved_cells_for(self, length: int, saved_length: int) -> bool:
        """Return whether that token can be computed from a saved state of `saved_length` tokens."""
        return self._is_covered(max(0, saved_length - self.width), length)

    def _is_covered(self, first: int, length: int) -> bool:
        return not self.width or first <= max(0, length - self.width + 1)
