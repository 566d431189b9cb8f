"""The KV cache and the list of tokens it holds, which must tell the same story at every moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llama_cpp

from lethe_app.errors import ModelError
from lethe_app.llm.llama_weights import NativeFlag

ABORTED = 2
SEQUENCE = 0


class Cache:
    """Evaluates tokens behind those already cached; a stop in the middle leaves only whole batches, never a lie."""

    def __init__(self, context: Any, batch: int, stop: NativeFlag) -> None:  # noqa: ANN401 - a pointer of llama.cpp
        """On an empty context, which reads `batch` tokens at once."""
        self.context = context
        self.room = int(llama_cpp.llama_n_ctx(context))
        self._memory = llama_cpp.llama_get_memory(context)
        self._batch_size = batch
        self._stop = stop
        self._tokens: list[int] = []

    @property
    def length(self) -> int:
        """Tokens cached now."""
        return len(self._tokens)

    def evaluate(self, tokens: list[int], reading: Callable[[int, int], None]) -> int:
        """Make the cache hold exactly `tokens`, reusing the longest common prefix; returns how many were computed.

        The last token is always computed, for its logits are needed. Ends early, consistently, when the stop flag is set.
        """
        kept = self._rewind(min(common_prefix(self._tokens, tokens), len(tokens) - 1))
        total = len(tokens) - kept
        reading(0, total)
        for start in range(kept, len(tokens), self._batch_size):
            if not self._decode(tokens[start : start + self._batch_size]):
                break
            reading(self.length - kept, total)
        return self.length - kept

    def append(self, token: int) -> bool:
        """Evaluate one token drawn; False when the stop flag ended it."""
        return self._decode([token])

    def free(self) -> None:
        """Give the context back; the last thing asked of it."""
        llama_cpp.llama_free(self.context)

    def _rewind(self, length: int) -> int:
        """Forget everything behind the first `length` tokens; a model that cannot forget a part forgets all."""
        if length < self.length and not llama_cpp.llama_memory_seq_rm(self._memory, SEQUENCE, length, -1):
            llama_cpp.llama_memory_clear(self._memory, True)
            length = 0
        del self._tokens[length:]
        return length

    def _decode(self, tokens: list[int]) -> bool:
        if self._stop.is_set():
            return False
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        code = llama_cpp.llama_decode(self.context, batch)
        if code == 0:
            self._tokens += tokens
            return True
        llama_cpp.llama_synchronize(self.context)
        self._drop_half_done()
        if code == ABORTED or self._stop.is_set():
            return False
        raise ModelError(
            f"The engine could not evaluate the prompt (code {code}).", "Restart the model, with a smaller context."
        )

    def _drop_half_done(self) -> None:
        """Cells of an interrupted batch go; what was whole before it stays."""
        if not llama_cpp.llama_memory_seq_rm(self._memory, SEQUENCE, self.length, -1):
            llama_cpp.llama_memory_clear(self._memory, True)
            self._tokens.clear()


def common_prefix(cached: list[int], wanted: list[int]) -> int:
    """How many tokens two lists share from the start; halving keeps the comparison in C."""
    low, high = 0, min(len(cached), len(wanted))
    if cached[:high] == wanted[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if cached[low:middle] == wanted[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
