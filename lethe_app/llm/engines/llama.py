"""Chat engine on llama.cpp: one model with a context for the open session, and a second context while background jobs run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lethe_app.domain.model import LoadOptions, ModelFacts, ModelFile, NextWords, SamplingStep, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.errors import ModelMissing
from lethe_app.llm.engines import llama_sampling
from lethe_app.llm.engines.llama_context import LlamaContext
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.native.model import NativeFlag, NativeModel
from lethe_app.llm.protocol import Generate, Prefill, RequestPriority

BACKGROUND_BATCH_SIZE = 64
"""Batch size of background jobs in tokens: a large model takes seconds for a full batch, and a preempted job loses the
current one.
"""


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
