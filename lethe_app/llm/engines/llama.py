"""Chat engine on llama.cpp: one model with a context for the open session, and a second context while background jobs run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lethe_app.domain.model import LoadOptions, NextWords, Usage
from lethe_app.domain.passage import TextEmbedding
from lethe_app.errors import ModelError, ModelMissing
from lethe_app.llm.engines.llama_context import LlamaContext
from lethe_app.llm.engines.llama_sampling import grammar_of
from lethe_app.llm.kv_cache.state_store import StateStore
from lethe_app.llm.native.model import NativeFlag, NativeModel
from lethe_app.llm.protocol import Forget, Generate, Keep, ModelFacts, ReadAhead, RequestPriority, Weigh

QUIET_BATCH = 64
"""Batch size of background jobs in tokens: a large model takes seconds for a full batch, and a preempted job loses the
current one.
"""


class LlamaEngine:
    """Generate with the low-level API of llama.cpp, without needless copies per token."""

    def __init__(self) -> None:
        self.stop = NativeFlag()
        self._weights: NativeModel | None = None
        self._chat: LlamaContext | None = None
        self._quiet: LlamaContext | None = None
        self._shelf: StateStore | None = None

    def load(self, path: Path, options: LoadOptions, progress: Callable[[float], None]) -> ModelFacts:
        self.close()
        self._weights = NativeModel(path, options, progress, self.stop)
        facts = self._weights.facts()
        self._shelf = StateStore(self._weights.identity)
        self._chat = LlamaContext(
            self._weights, self._weights.context, options.batch, self.stop, self._shelf, can_shift=facts.can_shift
        )
        return facts

    def count(self, text: str) -> int:
        return len(self._loaded()[0].tokenize(text))

    def generate(self, job: Generate, reading: Callable[[int, int], None], say: Callable[[str], None]) -> Usage:
        grammar = grammar_of(job.schema) if job.schema else job.grammar
        return self._lane(job.lane).generate(job, grammar, reading, say)

    def weigh(self, job: Weigh) -> NextWords:
        return self._lane(RequestPriority.QUIET).weigh(job)

    def read_ahead(self, job: ReadAhead) -> Usage:
        return self._lane(RequestPriority.CHAT).read_ahead(job)

    def prepare_next_turn(self) -> None:
        if self._chat is not None:
            self._chat.prepare_next_turn()

    def save_state(self, job: Keep) -> None:
        if self._chat is not None and self._shelf is not None:
            self._chat.put_away(job.least)
            if job.parting:
                self._shelf.wait(self.stop.is_set)

    def delete_states(self, job: Forget) -> None:
        if self._shelf is not None:
            self._shelf.delete(job.folder, job.part, job.number)

    def rest(self) -> None:
        """Free the context of background jobs."""
        if self._quiet is not None:
            self._quiet.free()
        self._quiet = None

    def close(self) -> None:
        self.rest()
        if self._weights is not None:
            self._weights.free()
        self._weights = self._chat = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise ModelError("A chat model cannot create embeddings.")

    def embed_tokens(self, texts: Sequence[str]) -> list[TextEmbedding]:
        raise ModelError("A chat model cannot create embeddings.")

    def _lane(self, lane: RequestPriority) -> LlamaContext:
        """Return the context for a priority; the background context is created on first use. Raise ModelOutOfMemory."""
        weights, chat = self._loaded()
        if lane is RequestPriority.CHAT:
            return chat
        if self._quiet is None:
            self._quiet = LlamaContext(weights, weights.new_quiet_context(), min(weights.batch, QUIET_BATCH), self.stop)
        return self._quiet

    def _loaded(self) -> tuple[NativeModel, LlamaContext]:
        if self._weights is None or self._chat is None:
            raise ModelMissing("No model is loaded.")
        return self._weights, self._chat
