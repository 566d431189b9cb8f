"""Embedding engine on llama.cpp: unit vectors for many texts per batch, and optionally a vector per token."""

from __future__ import annotations

import ctypes
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import llama_cpp

from lethe_app.domain.model import LoadOptions, ModelFacts, ModelFile
from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import ModelError, ModelMissing, ModelUnreadable
from lethe_app.llm.native.model import MAX_SEQUENCES, NativeFlag, NativeModel


class EmbeddingEngine:
    """Engine with one embedding model. Texts longer than its window are truncated there; callers split them into passages
    first.
    """

    def __init__(self) -> None:
        self.stop = NativeFlag()
        self._model: NativeModel | None = None
        self._token_context: Any = None
        """Context without pooling, created on first use: a context of llama.cpp either pools or does not."""

    def load(self, file: ModelFile, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        self.close()
        self._model = NativeModel(file.path, replace(options, embedding=True), progress, self.stop)
        if not all(map(math.isfinite, array("f", self.embed_tokens([file.name])[0].vector))):
            raise ModelUnreadable(
                f"The weights of “{file.path.name}” are damaged: what it computes are no numbers.",
                "Download the file again, or choose another embedding model.",
            )
        return self._model.read_facts()

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self._require_loaded().tokenize(text)) for text in texts]

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one unit vector of float32 in native byte order per text. Raise ModelError when stopped."""
        model = self._require_loaded()
        size = int(llama_cpp.llama_model_n_embd(model.model))
        vectors: list[bytes] = []
        for batch in split_into_batches(model, texts):
            self._encode(model.context, batch)
            pooled = (llama_cpp.llama_get_embeddings_seq(model.context, number) for number in range(len(batch)))
            vectors += [normalise_vector(vector[:size]) for vector in pooled]
        return vectors

    def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        """Return a vector per text and per token from one unpooled pass; the pooled vector is computed from those of the
        tokens.
        """
        model = self._require_loaded()
        if self._token_context is None:
            self._token_context = model.create_context(model.context_length, model.threads, is_pooled=False)
        embeddings: list[TextEmbedding] = []
        for batch in split_into_batches(model, texts):
            self._encode(self._token_context, batch)
            embeddings += read_embeddings(model, self._token_context, batch)
        return embeddings

    def close(self) -> None:
        if self._token_context is not None:
            llama_cpp.llama_free(self._token_context)
        if self._model is not None:
            self._model.free()
        self._model = self._token_context = None

    def _require_loaded(self) -> NativeModel:
        if self._model is None:
            raise ModelMissing("No embedding model is loaded.")
        return self._model

    def _encode(self, context: Any, texts: list[list[int]]) -> None:  # noqa: ANN401 - a pointer of llama.cpp
        """Encode texts in one batch, each as a sequence of its own. Raise ModelError."""
        batch = llama_cpp.llama_batch_init(sum(map(len, texts)), 0, 1)
        try:
            fill_batch(batch, texts)
            code = llama_cpp.llama_encode(context, batch)
        finally:
            llama_cpp.llama_batch_free(batch)
        if code != 0:
            raise ModelError(
                "The embedding was stopped." if self.stop.is_set() else f"The embedding model failed (code {code})."
            )


def split_into_batches(model: NativeModel, texts: Sequence[str]) -> Iterator[list[list[int]]]:
    """Yield the tokens of the texts in batches of as many texts as fit the window and the sequence limit."""
    window = model.context_length
    batch: list[list[int]] = []
    for text in texts:
        # Every text needs a sequence for its vector, so one without tokens gets token 0.
        tokens = model.tokenize(text)[:window] or [0]
        if len(batch) == MAX_SEQUENCES or sum(map(len, batch)) + len(tokens) > window:
            yield batch
            batch = []
        batch.append(tokens)
    if batch:
        yield batch


def read_embeddings(model: NativeModel, context: Any, texts: list[list[int]]) -> Iterator[TextEmbedding]:  # noqa: ANN401 - a pointer of llama.cpp
    """Yield the embeddings of the texts of the last batch, read from the context's output buffer."""
    size = int(llama_cpp.llama_model_n_embd(model.model))
    address = ctypes.addressof(llama_cpp.llama_get_embeddings(context).contents)
    pooling = llama_cpp.llama_pooling_type(model.context)
    for tokens in texts:
        length = len(tokens) * size * ctypes.sizeof(ctypes.c_float)
        raw = ctypes.string_at(address, length)
        address += length
        yield TextEmbedding(
            normalise_vector(pool_tokens(array("f", raw), size, pooling)), raw, tuple(map(model.token_spelling, tokens))
        )


def pool_tokens(rows: array[float], size: int, pooling: int) -> Sequence[float]:
    """Pool token vectors into one vector in the way llama.cpp does for this pooling type."""
    if pooling == llama_cpp.LLAMA_POOLING_TYPE_CLS:
        return rows[:size]
    if pooling == llama_cpp.LLAMA_POOLING_TYPE_LAST:
        return rows[-size:]
    return [sum(rows[column::size]) for column in range(size)]  # the length does not matter: it becomes one


def fill_batch(batch: llama_cpp.llama_batch, texts: list[list[int]]) -> None:
    """Fill a llama.cpp batch with the tokens of all texts, each with its position and its sequence number."""
    index = 0
    for number, tokens in enumerate(texts):
        for position, token in enumerate(tokens):
            batch.token[index] = token
            batch.pos[index] = position  # type: ignore[call-overload]  # the binding calls an array of numbers one of arrays
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = number
            batch.logits[index] = 1
            index += 1
    batch.n_tokens = index


def normalise_vector(vector: Sequence[float]) -> bytes:
    """Return the vector normalised to length one, as float32; a zero vector stays zero."""
    length = math.sqrt(math.fsum(x * x for x in vector))
    return array("f", [x / length for x in vector] if length > 0 else vector).tobytes()
