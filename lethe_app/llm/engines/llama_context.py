"""One context of a loaded model with its KV cache: prefill, generation and next-token logits."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable
from typing import Any

from lethe_app.domain.model import NextWords, StopReason, Usage
from lethe_app.errors import PromptTooLong
from lethe_app.llm.engines.llama_sampling import Sampler, next_words
from lethe_app.llm.engines.stop_strings import StopStrings
from lethe_app.llm.kv_cache.cache import Cache
from lethe_app.llm.kv_cache.reuse import PLAIN, ReuseOptions
from lethe_app.llm.kv_cache.session_switch import Resuming
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.native.model import NativeFlag, NativeModel
from lethe_app.llm.protocol import Generate, KeptAt, ReadAhead, Weigh
from lethe_app.llm.tokenizer.incremental import Retokenizer


class LlamaContext:
    """One token sequence in one KV cache. Several contexts share the weights and are otherwise independent."""

    def __init__(
        self,
        weights: NativeModel,
        context: Any,  # noqa: ANN401 - a pointer of llama.cpp
        batch: int,
        stop: NativeFlag,
        shelf: StateStore | None = None,
        *,
        can_shift: bool = False,
    ) -> None:
        """Wrap an empty context of `weights`. Prompts are evaluated in batches of `batch` tokens, and complete batches
        survive a stop.

        With `can_shift`, stretches of the previous prompt are reused behind edits. With a `shelf`, the cache is saved and
        restored when the session changes.
        """
        self._weights = weights
        self._stop = stop
        self._cache = Cache(context, batch, stop, can_shift=can_shift)
        self._resuming = Resuming(shelf, self._cache) if shelf is not None else None
        self._prompt = Retokenizer(weights.tokenize, weights.cutting_tokens())
        self._ending: int | None = None
        """End token that was sampled last and is not evaluated yet; None if the reply ended otherwise."""

    def generate(self, job: Generate, grammar: str, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        """Evaluate the prompt, then pass the reply to `say` piece by piece until its end or a stop. Raise PromptTooLong."""
        cache = self._cache
        self._ending = None
        tokens = self._prompt.tokens(job.prompt)
        if len(tokens) >= cache.room:
            raise PromptTooLong(f"The prompt has {len(tokens)} tokens, but the context size is {cache.room}.")
        started = time.perf_counter()
        evaluated = self._read(tokens, reading, ReuseOptions(job.surgery, job.shortest), job.kept_at)
        read = time.perf_counter()
        if self._stop.is_set():
            return Usage(len(tokens), evaluated, 0, read - started, 0.0, StopReason.STOPPED, cache.drift)
        with Sampler(self._weights, cache.context, job.sampler, grammar, tokens) as sampler:
            count, reason = self._speak(job, sampler, say)
        return Usage(len(tokens), evaluated, count, read - started, time.perf_counter() - read, reason, cache.drift)

    def weigh(self, job: Weigh) -> NextWords:
        """Return the most likely next tokens after a prompt; empty if stopped. Raise PromptTooLong."""
        tokens, cache = self._prompt.tokens(job.prompt), self._cache
        if len(tokens) >= cache.room:
            raise PromptTooLong(f"The prompt has {len(tokens)} tokens, but the context size is {cache.room}.")
        self._ending = None
        self._read(tokens, lambda _done, _total: None, PLAIN, None)
        return NextWords(()) if self._stop.is_set() or not tokens else next_words(self._weights, cache.context, job.most)

    def read_ahead(self, job: ReadAhead) -> Usage:
        """Prefill a prompt before it is needed. A prompt that does not fit the context is ignored."""
        tokens, cache = self._prompt.tokens(job.prompt), self._cache
        if not tokens or len(tokens) >= cache.room:
            return Usage(drift=cache.drift)
        self._ending = None
        started = time.perf_counter()
        wishes = ReuseOptions(job.surgery, job.shortest, job.exact)
        evaluated = self._read(tokens, lambda _done, _total: None, wishes, job.kept_at)
        reason = StopReason.STOPPED if cache.length < len(tokens) else StopReason.END
        return Usage(len(tokens), evaluated, 0, time.perf_counter() - started, 0.0, reason, cache.drift)

    def prepare_next_turn(self) -> None:
        """Evaluate the end token of the last reply: the next prompt contains it at exactly that position."""
        if self._ending is not None and not self._stop.is_set():
            self._cache.append(self._ending)
        self._ending = None

    def put_away(self, least: int) -> None:
        """Save the session's state if at least `least` tokens are new since the last save."""
        if self._resuming is not None:
            self._resuming.put_away(least)

    def free(self) -> None:
        """Free the context. The chat context is not freed here but together with the weights."""
        self._cache.free()

    def _read(
        self, tokens: list[int], reading: Callable[[int, int], None], wishes: ReuseOptions, kept_at: KeptAt | None
    ) -> int:
        """Make the cache hold exactly `tokens`, after switching the session if needed; returns how many were computed."""
        if self._resuming is None:
            return self._cache.evaluate(tokens, reading, wishes)
        self._resuming.take_up(kept_at, tokens, lambda held, joints: self._cache.reusable(held, joints, tokens, wishes))
        evaluated = self._cache.evaluate(tokens, reading, wishes)
        self._resuming.has_read()
        return evaluated

    def _speak(self, job: Generate, sampler: Sampler, say: Callable[[str], None]) -> tuple[int, StopReason]:
        """Sample tokens until an end token, a stop string, the length limit, the end of the context or a stop ends the
        reply.
        """
        weights, cache = self._weights, self._cache
        # A character may be split over several tokens; the incremental decoder holds an incomplete one back.
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        stops, out = StopStrings(job.stop), Outlet(say)
        room = min(job.max_tokens, cache.room - cache.length)
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
    """Pass text on at most 60 times per second: a fast model would keep the main process busy with single tokens."""

    FRAME = 1 / 60
    """Seconds between two deliveries, one frame of a usual screen."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._held = ""
        self._next = 0.0

    def pour(self, text: str) -> None:
        """Add text and deliver it if the last delivery is at least a frame ago; the first piece is delivered at once."""
        self._held += text
        if self._held and time.perf_counter() >= self._next:
            self.empty()

    def empty(self) -> None:
        """Deliver the buffered text."""
        if self._held:
            self._say(self._held)
            self._held = ""
            self._next = time.perf_counter() + self.FRAME
