"""llama.cpp as our engine: one model, one context, one conversation in the KV cache.

Together with `llama_weights`, `llama_cache` and `llama_sampling` the only door to llama_cpp.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from lethe_app.domain.model import LoadOptions, StopReason, Usage
from lethe_app.domain.passage import Meaning
from lethe_app.errors import ModelError, ModelMissing, PromptTooLong
from lethe_app.llm.llama_cache import Cache
from lethe_app.llm.llama_sampling import Sampler
from lethe_app.llm.llama_weights import NativeFlag, Weights
from lethe_app.llm.protocol import Facts, Generate
from lethe_app.llm.retokenize import Retokenizer
from lethe_app.llm.stops import StopStrings


class LlamaEngine:
    """Generates with the low-level calls of llama.cpp, so that no token pays for copies it does not need."""

    def __init__(self) -> None:
        self.stop = NativeFlag()
        self._weights: Weights | None = None
        self._cache: Cache | None = None
        self._prompt: Retokenizer | None = None
        self._ending: int | None = None

    def load(self, path: Path, options: LoadOptions, progress: Callable[[float], None]) -> Facts:
        self.close()
        self._weights = Weights(path, options, progress, self.stop)
        self._cache = Cache(self._weights, self.stop)
        self._prompt = Retokenizer(self._weights.tokenize, self._weights.cutting_tokens())
        return self._weights.facts()

    def count(self, text: str) -> int:
        return len(self._loaded()[0].tokenize(text))

    def generate(self, job: Generate, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        weights, cache = self._loaded()
        self._ending = None
        assert self._prompt is not None, "made together with the weights"
        tokens = self._prompt.tokens(job.prompt)
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

    def read_ahead(self, prompt: str) -> Usage:
        weights, cache = self._loaded()
        assert self._prompt is not None, "made together with the weights"
        tokens = self._prompt.tokens(prompt)
        if not tokens or len(tokens) >= weights.context_length:
            return Usage()
        self._ending = None
        return Usage(len(tokens), cache.evaluate(tokens, lambda _done, _total: None))

    def close(self) -> None:
        if self._weights is not None:
            self._weights.free()
        self._weights = self._cache = self._prompt = None

    def _loaded(self) -> tuple[Weights, Cache]:
        if self._weights is None or self._cache is None:
            raise ModelMissing("No model is loaded.")
        return self._weights, self._cache

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise ModelError("A chat model gives no vectors.")

    def embed_tokens(self, texts: Sequence[str]) -> list[Meaning]:
        raise ModelError("A chat model gives no vectors.")

    def settle(self) -> None:
        """Evaluate the token with which the model ended its reply: the next prompt has it at just that place."""
        if self._ending is not None and self._cache is not None and not self.stop.is_set():
            self._cache.append(self._ending)
        self._ending = None

    def _speak(self, job: Generate, sampler: Sampler, say: Callable[[str], None]) -> tuple[int, StopReason]:
        """Draw tokens until the model, a stop string, the length, the context or the user ends it."""
        weights, cache = self._loaded()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        stops, out = StopStrings(job.stop), Outlet(say)
        room = min(job.max_tokens, weights.context_length - cache.length)
        reason = StopReason.LENGTH
        count = 0
        while count < room:
            token = sampler.draw()
            if weights.is_end(token):
                reason, self._ending = StopReason.END, token
                break
            count += 1
            out.pour(stops.feed(decode(weights.piece(token))))
            if stops.hit:
                reason = StopReason.END
                break
            if not cache.append(token):
                reason = StopReason.STOPPED
                break
        out.pour(stops.feed(decode(b"", True)) + stops.rest())
        out.empty()
        return count, reason


class Outlet:
    """Hands text on at most once per frame of a screen: a fast model would keep the program busy with single tokens."""

    FRAME = 1 / 60

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._held = ""
        self._next = 0.0

    def pour(self, text: str) -> None:
        """The first piece goes out at once, later ones when their frame has come."""
        self._held += text
        if self._held and time.perf_counter() >= self._next:
            self.empty()

    def empty(self) -> None:
        """Say what is held."""
        if self._held:
            self._say(self._held)
            self._held = ""
            self._next = time.perf_counter() + self.FRAME
