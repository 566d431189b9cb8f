"""Chat engine on llama.cpp: one model with a context for the open session, and a second context while background jobs run."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from lethe_app.domain.model import LoadOptions, ModelFacts, ModelFile, NextWords, SamplingStep, StopReason, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelMissing, PromptTooLong
from lethe_app.llm.engines import llama_sampling
from lethe_app.llm.engines.llama_sampling import Sampler, check_logits, next_token_logits
from lethe_app.llm.engines.stop_strings import StopStrings
from lethe_app.llm.kv_cache.cache import KvCache
from lethe_app.llm.kv_cache.reuse import DEFAULT_OPTIONS, ReuseOptions
from lethe_app.llm.kv_cache.session_switch import SessionSwitcher
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.native.model import NativeFlag, NativeModel
from lethe_app.llm.protocol import Generate, Prefill, RequestPriority, StateLocation
from lethe_app.llm.tokenizer.incremental import Retokenizer

BACKGROUND_BATCH_SIZE = 64
"""Batch size of background jobs in tokens: a large model takes seconds for a full batch, and a preempted job loses the
current one.
"""


class LlamaContext:
    """One token sequence in one KV cache. Several contexts share the weights and are otherwise independent."""

    def __init__(
        self,
        model: NativeModel,
        context: Any,  # noqa: ANN401 - a pointer of llama.cpp
        batch: int,
        stop: NativeFlag,
        state_store: StateStore | None = None,
        *,
        can_shift: bool = False,
    ) -> None:
        """Wrap an empty context of `model`. Prompts are evaluated in batches of `batch` tokens, and complete batches
        survive a stop.

        With `can_shift`, runs of the previous prompt are reused after edits. With a `state_store`, the cache is saved and
        restored when the session changes.
        """
        self._model = model
        self._stop = stop
        self._cache = KvCache(context, batch, stop, can_shift=can_shift)
        self._session_switcher = SessionSwitcher(state_store, self._cache) if state_store is not None else None
        self._retokenizer = Retokenizer(model.tokenize, model.splitting_tokens())
        self._pending_end_token: int | None = None
        """End token that was sampled last and is not evaluated yet; None if the reply ended otherwise."""

    @property
    def free_cells(self) -> int:
        """Number of tokens that the cache has room for."""
        return self._cache.capacity - self._cache.length

    def generate(
        self, job: Generate, grammar: str, on_prefill: Callable[[int, int], None], on_text: Callable[[str], None]
    ) -> Usage:
        """Evaluate the prompt, then pass the reply to `on_text` piece by piece until its end or a stop. Raise PromptTooLong,
        and ModelUnreadable if the weights are damaged.
        """
        tokens, cache = self._tokenize(job.prompt), self._cache
        started_at = time.perf_counter()
        evaluated = self._prefill(tokens, on_prefill, job.reuse, job.state_location)
        prefilled_at = time.perf_counter()
        if self._stop.is_set():
            return Usage(len(tokens), evaluated, 0, prefilled_at - started_at, 0.0, StopReason.STOPPED, cache.drift)
        if tokens:
            check_logits(self._model, cache.context)
        with closing(Sampler(self._model, cache.context, job.sampler, grammar, tokens)) as sampler:
            count, reason = self._generate_tokens(job, sampler, on_text)
        return Usage(
            len(tokens), evaluated, count, prefilled_at - started_at, time.perf_counter() - prefilled_at, reason, cache.drift
        )

    def score_next_tokens(self, prompt: str, limit: int) -> NextWords:
        """Return the most likely next tokens after a prompt; empty if stopped. Raise PromptTooLong."""
        tokens, cache = self._tokenize(prompt), self._cache
        self._prefill(tokens, lambda _done, _total: None, DEFAULT_OPTIONS, None)
        return NextWords(()) if self._stop.is_set() or not tokens else next_token_logits(self._model, cache.context, limit)

    def prefill(self, job: Prefill) -> Usage:
        """Prefill a prompt before it is needed. A prompt that does not fit the context is ignored."""
        tokens, cache = self._retokenizer.tokenize(job.prompt), self._cache
        if not tokens or len(tokens) >= cache.capacity:
            return Usage(drift=cache.drift)
        self._pending_end_token = None
        started_at = time.perf_counter()
        evaluated = self._prefill(tokens, lambda _done, _total: None, job.reuse, job.state_location)
        reason = StopReason.STOPPED if cache.length < len(tokens) else StopReason.END
        return Usage(len(tokens), evaluated, 0, time.perf_counter() - started_at, 0.0, reason, cache.drift)

    def prepare_next_turn(self) -> None:
        """Evaluate the end token of the last reply: the next prompt contains it at exactly that position."""
        if self._pending_end_token is not None and not self._stop.is_set():
            self._cache.append(self._pending_end_token)
        self._pending_end_token = None

    def save_state(self, min_new_tokens: int) -> None:
        """Save the session's state if at least `min_new_tokens` tokens are new since the last save."""
        if self._session_switcher is not None:
            self._session_switcher.save_state(min_new_tokens)

    def free(self) -> None:
        """Free the context. The chat context is not freed here but together with the weights."""
        self._cache.free()

    def _tokenize(self, prompt: str) -> list[int]:
        """Return the tokens of the next prompt. Raise PromptTooLong."""
        self._pending_end_token = None
        tokens = self._retokenizer.tokenize(prompt)
        if len(tokens) >= self._cache.capacity:
            raise PromptTooLong(f"The prompt has {len(tokens)} tokens, but the context size is {self._cache.capacity}.")
        return tokens

    def _prefill(
        self,
        tokens: list[int],
        on_progress: Callable[[int, int], None],
        options: ReuseOptions,
        state_location: StateLocation | None,
    ) -> int:
        """Make the cache hold exactly `tokens`, after switching the session if needed; returns how many were computed."""
        if self._session_switcher is None:
            return self._cache.evaluate(tokens, on_progress, options)
        self._session_switcher.switch_session(
            state_location, tokens, lambda cached, seams: self._cache.count_reusable(cached, seams, tokens, options)
        )
        evaluated = self._cache.evaluate(tokens, on_progress, options)
        self._session_switcher.record_prefill()
        return evaluated

    def _generate_tokens(self, job: Generate, sampler: Sampler, on_text: Callable[[str], None]) -> tuple[int, StopReason]:
        """Sample tokens until an end token, a stop string, the length limit, the end of the context or a stop ends the
        reply.
        """
        model, cache = self._model, self._cache
        # A character may be split over several tokens; the incremental decoder holds an incomplete one back.
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        stops, outlet = StopStrings(job.stop), TextThrottle(on_text)
        max_count = min(job.max_tokens, cache.capacity - cache.length)
        reason = StopReason.LENGTH
        count = 0
        while count < max_count:
            token = sampler.sample_token()
            if model.is_end_token(token):
                reason, self._pending_end_token = StopReason.END, token
                break
            count += 1
            outlet.write(stops.feed(decode(model.token_bytes(token))))
            if stops.is_matched:
                reason = StopReason.END
                break
            if not cache.append(token):
                reason = StopReason.STOPPED
                break
        outlet.write(stops.feed(decode(b"", True)) + stops.flush())
        outlet.flush()
        return count, reason


class TextThrottle:
    """Pass text on at most 60 times per second: a fast model would keep the main process busy with single tokens."""

    FRAME_SECONDS = 1 / 60
    """Seconds between two deliveries, one frame of a usual screen."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._buffer = ""
        self._next_flush_at = 0.0

    def write(self, text: str) -> None:
        """Add text and deliver it if the last delivery is at least a frame ago; the first piece is delivered at once."""
        self._buffer += text
        if self._buffer and time.perf_counter() >= self._next_flush_at:
            self.flush()

    def flush(self) -> None:
        """Deliver the buffered text."""
        if self._buffer:
            self._on_text(self._buffer)
            self._buffer = ""
            self._next_flush_at = time.perf_counter() + self.FRAME_SECONDS


class LlamaEngine:
    """Generate with the low-level API of llama.cpp, without needless copies per token."""

    def __init__(self) -> None:
        self.stop = NativeFlag()
        self._model: NativeModel | None = None
        self._chat_context: LlamaContext | None = None
        self._background_context: LlamaContext | None = None
        self._state_store: StateStore | None = None

    def load(self, file: ModelFile, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        self.close()
        self._model = NativeModel(file.path, options, progress, self.stop)
        facts = self._model.read_facts()
        self._state_store = StateStore(self._model.identity)
        self._chat_context = LlamaContext(
            self._model, self._model.context, options.batch, self.stop, self._state_store, can_shift=facts.can_shift
        )
        return facts

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self._require_loaded()[0].tokenize(text)) for text in texts]

    def generate(self, job: Generate, on_prefill: Callable[[int, int], None], on_text: Callable[[str], None]) -> Usage:
        grammar = llama_sampling.grammar_from_schema(job.schema) if job.schema else job.grammar
        return self._context_for(job.priority).generate(job, grammar, on_prefill, on_text)

    def score_next_tokens(self, prompt: str, limit: int) -> NextWords:
        return self._context_for(RequestPriority.BACKGROUND).score_next_tokens(prompt, limit)

    def preview_sampling(self, preset: SamplerPreset, candidates: NextWords) -> tuple[SamplingStep, ...]:
        """See `llama_sampling.preview_sampling`; no model is needed."""
        return llama_sampling.preview_sampling(preset, candidates)

    def prefill(self, job: Prefill) -> Usage:
        return self._context_for(RequestPriority.CHAT).prefill(job)

    def prepare_next_turn(self) -> None:
        if self._chat_context is not None:
            self._chat_context.prepare_next_turn()

    def save_state(self, min_new_tokens: int, is_closing: bool = False) -> None:
        if self._chat_context is not None and self._state_store is not None:
            self._chat_context.save_state(min_new_tokens)
            if is_closing:
                self._state_store.wait_until_written(self.stop.is_set)

    def delete_states(self, folder: Path, name_part: str, deletion_number: int | None = None) -> None:
        if self._state_store is not None:
            self._state_store.delete(folder, name_part, deletion_number)

    def free_background_context(self) -> None:
        """Free the context of background jobs."""
        if self._background_context is not None:
            self._background_context.free()
        self._background_context = None

    def close(self) -> None:
        self.free_background_context()
        if self._model is not None:
            self._model.free()
        self._model = self._chat_context = None

    def _context_for(self, priority: RequestPriority) -> LlamaContext:
        """Return the context for a priority; the background context is created on first use. Raise ModelOutOfMemory."""
        model, chat = self._require_loaded()
        if priority is RequestPriority.CHAT:
            return chat
        if self._background_context is None:
            self._background_context = LlamaContext(
                model,
                model.create_background_context(chat.free_cells),
                min(model.batch, BACKGROUND_BATCH_SIZE),
                self.stop,
            )
        return self._background_context

    def _require_loaded(self) -> tuple[NativeModel, LlamaContext]:
        if self._model is None or self._chat_context is None:
            raise ModelMissing("No model is loaded.")
        return self._model, self._chat_context
