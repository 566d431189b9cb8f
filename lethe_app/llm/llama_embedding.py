"""llama.cpp as an embedder: texts in, unit vectors out, many texts in one batch."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import llama_cpp

from lethe_app.domain.model import LoadOptions, Usage
from lethe_app.errors import ModelError, ModelMissing
from lethe_app.llm.llama_weights import SEQUENCES, NativeFlag, Weights
from lethe_app.llm.protocol import Facts, Generate


class EmbeddingEngine:
    """One embedding model. Texts longer than its window are cut at the window's end; whoever calls splits them before."""

    def __init__(self) -> None:
        self.stop = NativeFlag()
        self._weights: Weights | None = None

    def load(self, path: Path, options: LoadOptions, progress: Callable[[float], None]) -> Facts:
        self.close()
        self._weights = Weights(path, replace(options, embedding=True), progress, self.stop)
        return self._weights.facts()

    def count(self, text: str) -> int:
        return len(self._loaded().tokenize(text))

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One unit vector of float32 in native order per text; ends early with an error when stopped."""
        weights = self._loaded()
        window = weights.context_length
        found: list[bytes] = []
        waiting: list[list[int]] = []
        for text in texts:
            tokens = weights.tokenize(text)[:window] or [0]
            if len(waiting) == SEQUENCES or sum(map(len, waiting)) + len(tokens) > window:
                found += self._embed_batch(waiting)
                waiting = []
            waiting.append(tokens)
        return found + (self._embed_batch(waiting) if waiting else [])

    def generate(self, job: Generate, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        raise ModelError("An embedding model does not speak.")

    def read_ahead(self, prompt: str) -> Usage:
        raise ModelError("An embedding model does not read ahead.")

    def settle(self) -> None:
        """There is nothing to prepare."""

    def close(self) -> None:
        if self._weights is not None:
            self._weights.free()
        self._weights = None

    def _loaded(self) -> Weights:
        if self._weights is None:
            raise ModelMissing("No embedding model is loaded.")
        return self._weights

    def _embed_batch(self, texts: list[list[int]]) -> list[bytes]:
        """Every text is a sequence of its own; the model pools each into one vector."""
        weights = self._loaded()
        batch = llama_cpp.llama_batch_init(sum(map(len, texts)), 0, 1)
        try:
            fill(batch, texts)
            code = llama_cpp.llama_encode(weights.context, batch)
        finally:
            llama_cpp.llama_batch_free(batch)
        if code != 0:
            raise ModelError("The embedding was stopped." if self.stop.is_set() else f"The embedder failed (code {code}).")
        size = int(llama_cpp.llama_model_n_embd(weights.model))
        return [unit(llama_cpp.llama_get_embeddings_seq(weights.context, number)[:size]) for number in range(len(texts))]


def fill(batch: llama_cpp.llama_batch, texts: list[list[int]]) -> None:
    """Lay the tokens of all texts one after the other, each knowing its place and its text."""
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
    """The vector with length one, as float32."""
    length = math.sqrt(math.fsum(x * x for x in vector))
    return array("f", [x / length for x in vector] if length > 0 else vector).tobytes()
