"""Embedding engine on llama.cpp: unit vectors for many texts per batch, and optionally a vector per token."""

from __future__ import annotations

import ctypes
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import llama_cpp

from lethe_app.domain.model import LoadOptions, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import ModelError, ModelMissing, ModelOutOfMemory
from lethe_app.llm.native.model import SEQUENCES, NativeFlag, NativeModel, flash_attention
from lethe_app.llm.protocol import Generate, ModelFacts, ReadAhead


class EmbeddingEngine:
    """Engine with one embedding model. Texts longer than its window are truncated there; callers split them into passages
    first.
    """

    def __init__(self) -> None:
        self.stop = NativeFlag()
        self._weights: NativeModel | None = None
        self._options = LoadOptions()
        self._token_context: Any = None
        """Context without pooling, created on first use: a context of llama.cpp either pools or does not."""

    def load(self, path: Path, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        self.close()
        self._options = replace(options, embedding=True)
        self._weights = NativeModel(path, self._options, progress, self.stop)
        return self._weights.facts()

    def count(self, text: str) -> int:
        return len(self._loaded().tokenize(text))

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one unit vector of float32 in native byte order per text. Raise ModelError when stopped."""
        weights = self._loaded()
        found: list[bytes] = []
        for batch in batches(weights, texts):
            self._encode(weights.context, batch)
            found += [pooled(weights, number) for number in range(len(batch))]
        return found

    def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Return a vector per text and per token from one unpooled pass; the pooled vector is computed from those of the
        tokens.
        """
        weights = self._loaded()
        if self._token_context is None:
            self._token_context = unpooled_context(weights, self._options, self.stop)
        found: list[TextEmbedding] = []
        for batch in batches(weights, texts):
            self._encode(self._token_context, batch)
            found += meanings(weights, self._token_context, batch)
        return found

    def generate(self, job: Generate, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        raise ModelError("An embedding model cannot generate text.")

    def read_ahead(self, job: ReadAhead) -> Usage:
        raise ModelError("An embedding model cannot prefill a prompt.")

    def prepare_next_turn(self) -> None:
        """Do nothing: an embedding model has no next turn."""

    def close(self) -> None:
        if self._token_context is not None:
            llama_cpp.llama_free(self._token_context)
        if self._weights is not None:
            self._weights.free()
        self._weights = self._token_context = None

    def _loaded(self) -> NativeModel:
        if self._weights is None:
            raise ModelMissing("No embedding model is loaded.")
        return self._weights

    def _encode(self, context: Any, texts: list[list[int]]) -> None:  # noqa: ANN401 - a pointer of llama.cpp
        """Encode texts in one batch, each as a sequence of its own. Raise ModelError."""
        batch = llama_cpp.llama_batch_init(sum(map(len, texts)), 0, 1)
        try:
            fill(batch, texts)
            code = llama_cpp.llama_encode(context, batch)
        finally:
            llama_cpp.llama_batch_free(batch)
        if code != 0:
            raise ModelError(
                "The embedding was stopped." if self.stop.is_set() else f"The embedding model failed (code {code})."
            )


def batches(weights: NativeModel, texts: Sequence[str]) -> Iterator[list[list[int]]]:
    """Yield the tokens of the texts in batches of as many texts as fit the window and the sequence limit."""
    window = weights.context_length
    waiting: list[list[int]] = []
    for text in texts:
        # Every text needs a sequence for its vector, so one without tokens gets token 0.
        tokens = weights.tokenize(text)[:window] or [0]
        if len(waiting) == SEQUENCES or sum(map(len, waiting)) + len(tokens) > window:
            yield waiting
            waiting = []
        waiting.append(tokens)
    if waiting:
        yield waiting


def unpooled_context(weights: NativeModel, options: LoadOptions, stop: NativeFlag) -> Any:  # noqa: ANN401 - a pointer of llama.cpp
    """Create a second context on the same weights that returns a vector per token. Raise ModelOutOfMemory."""
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = weights.context_length
    params.embeddings = params.kv_unified = True
    params.n_seq_max = SEQUENCES
    params.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_NONE
    params.n_threads = params.n_threads_batch = weights.threads
    params.flash_attn_type = flash_attention(options)  # as in the first one: the vectors must be the same
    params.abort_callback = stop.callback
    params.abort_callback_data = ctypes.cast(stop.buffer, ctypes.c_void_p)
    context = llama_cpp.llama_init_from_model(weights.model, params)
    if not context:
        raise ModelOutOfMemory("There is not enough memory for token embeddings.", "Close other programs to free memory.")
    return context


def pooled(weights: NativeModel, number: int) -> bytes:
    """Return the unit vector that the model pooled for text `number` of the last batch."""
    size = int(llama_cpp.llama_model_n_embd(weights.model))
    return unit(llama_cpp.llama_get_embeddings_seq(weights.context, number)[:size])


def meanings(weights: NativeModel, context: Any, texts: list[list[int]]) -> Iterator[TextEmbedding]:  # noqa: ANN401 - a pointer of llama.cpp
    """Yield the embeddings of the texts of the last batch, read from the context's output buffer."""
    size = int(llama_cpp.llama_model_n_embd(weights.model))
    place = ctypes.addressof(llama_cpp.llama_get_embeddings(context).contents)
    pooling = llama_cpp.llama_pooling_type(weights.context)
    for tokens in texts:
        length = len(tokens) * size * ctypes.sizeof(ctypes.c_float)
        raw = ctypes.string_at(place, length)
        place += length
        yield TextEmbedding(unit(pool(array("f", raw), size, pooling)), raw, tuple(map(weights.spelling, tokens)))


def pool(rows: array[float], size: int, pooling: int) -> Sequence[float]:
    """Pool token vectors into one vector in the way llama.cpp does for this pooling type."""
    if pooling == llama_cpp.LLAMA_POOLING_TYPE_CLS:
        return rows[:size]
    if pooling == llama_cpp.LLAMA_POOLING_TYPE_LAST:
        return rows[-size:]
    return [sum(rows[column::size]) for column in range(size)]  # the length does not matter: it becomes one


def fill(batch: llama_cpp.llama_batch, texts: list[list[int]]) -> None:
    """Fill a llama.cpp batch with the tokens of all texts, each with its position and its sequence number."""
    at = 0
    for number, tokens in enumerate(texts):
        for place, token in enumerate(tokens):
            batch.token[at] = token
            batch.pos[at] = place  # type: ignore[call-overload]  # the binding calls an array of numbers one of arrays
            batch.n_seq_id[at] = 1
            batch.seq_id[at][0] = number
            batch.logits[at] = 1
            at += 1
    batch.n_tokens = at


def unit(vector: Sequence[float]) -> bytes:
    """Return the vector normalised to length one, as float32; a zero vector stays zero."""
    length = math.sqrt(math.fsum(x * x for x in vector))
    return array("f", [x / length for x in vector] if length > 0 else vector).tobytes()
