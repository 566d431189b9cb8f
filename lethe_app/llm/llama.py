"""llama.cpp as our engine: one model, one context, one conversation in the KV cache.

Together with `llama_weights`, `llama_cache` and `llama_sampling` the only door to llama_cpp.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable
from pathlib import Path

import llama_cpp

from lethe_app.domain.model import LoadOptions, StopReason, Usage
from lethe_app.errors import ModelMissing, PromptTooLong
from lethe_app.llm.llama_cache import Cache
from lethe_app.llm.llama_sampling import Sampler
from lethe_app.llm.llama_weights import NativeFlag, Weights
from lethe_app.llm.protocol import Facts, Generate
from lethe_app.llm.stops import StopStrings


class LlamaEngine:
    """Generates with the low-level calls of llama.cpp, so that no token pays for copies it does not need."""

    def __init__(self) -> None:
        self.stop = NativeFlag()
        self._weights: Weights | None = None
        self._cache: Cache | None = None

    def load(self, path: Path, options: LoadOptions, progress: Callable[[float], None]) -> Facts:
        self.close()
        self._weights = Weights(path, options, progress, self.stop)
        self._cache = Cache(self._weights, self.stop)
        return self._weights.facts()

    def count(self, text: str) -> int:
        return len(self._loaded()[0].tokenize(text))

    def generate(self, job: Generate, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        weights, cache = self._loaded()
        tokens = weights.tokenize(job.prompt)
        if len(tokens) >= weights.context_length:
            raise PromptTooLong(f"The prompt has {len(tokens)} tokens, the model's context holds {weights.context_length}.")
        started = time.perf_counter()
        evaluated = cache.evaluate(tokens, reading)
        read = time.perf_counter()
        if self.stop.is_set():
            return Usage(len(tokens), evaluated, 0, read - started, 0.0, StopReason.STOPPED)
        with Sampler(weights, job.sampler, job.grammar, tokens) as sampler:
            count, reason = self._speak(job, sampler, say)
        return Usage(len(tokens), evaluated, count, read - started, time.perf_counter() - read, reason)

    def close(self) -> None:
        if self._weights is not None:
            self._weights.free()
        self._weights = self._cache = None

    def _loaded(self) -> tuple[Weights, Cache]:
        if self._weights is None or self._cache is None:
            raise ModelMissing("No model is loaded.")
        return self._weights, self._cache

    def _speak(self, job: Generate, sampler: Sampler, say: Callable[[str], None]) -> tuple[int, StopReason]:
        """Draw tokens until the model, a stop string, the length, the context or the user ends it."""
        weights, cache = self._loaded()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        stops = StopStrings(job.stop)
        room = min(job.max_tokens, weights.context_length - cache.length)
        reason = StopReason.LENGTH
        count = 0
        while count < room:
            token = sampler.draw()
            if weights.is_end(token):
                reason = StopReason.END
                break
            count += 1
            if text := stops.feed(decode(weights.piece(token))):
                say(text)
            if stops.hit:
                reason = StopReason.END
                break
            if not cache.append(token):
                reason = StopReason.STOPPED
                break
        if text := stops.feed(decode(b"", True)) + stops.rest():
            say(text)
        return count, reason


def engine_version() -> str:
    """The version of llama-cpp-python and what it can do, for `lethe doctor`."""
    gpu = "with GPU offload" if llama_cpp.llama_supports_gpu_offload() else "processor only"
    return f"llama-cpp-python {llama_cpp.__version__}, {gpu}"
