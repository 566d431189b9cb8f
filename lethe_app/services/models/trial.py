"""Tests of the loaded model: whether it understands its prompt format, and what a sampler preset does to its output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from lethe_app.domain.model import LoadedModel, NextWords, StopReason
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import ModelMissing
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import Chunk, Done, RequestPriority
from lethe_app.prompt.format.instruct import RendererChoice

MAX_REPLY_TOKENS = 96
"""Maximum tokens of the reply to the test prompt; a model that understands the format ends a greeting earlier."""
GREETING = (
    PromptTurn("system", "You are polite and brief."),
    PromptTurn("user", "Good evening! Answer with one short sentence."),
)
MAX_NEXT_WORDS = 40
"""Number of likeliest next tokens that are listed one by one; the others are counted in groups."""
MAX_SAMPLE_TOKENS = 40
"""Maximum tokens of a continuation that demonstrates a sampler."""
EXAMPLE_TEXT = "The old lighthouse keeper opened the door and saw"
"""Text whose next tokens, as a small model predicts them, are the example that is shown while no model is loaded."""
GREETING_SAMPLER = SamplerPreset(name="trying", temperature=0.3, seed=5)


@dataclass(frozen=True)
class TrialResult:
    """Result of the format test."""

    source: str
    """Source of the format, such as “model” or “recognised: ChatML”."""
    reply: str
    is_good: bool
    """True if the reply is not empty, ended by itself and contains no control token or stop string as text."""


class ModelTrial:
    """Run tests on the loaded model, at background priority, so that the KV cache of the session is untouched. Nothing is
    stored.
    """

    def __init__(
        self,
        client: ModelClient,
        preview_client: ModelClient,
        example: Path,
        loaded_model: Callable[[], LoadedModel | None],
        choose_renderer: Callable[[LoadedModel], Awaitable[RendererChoice]],
    ) -> None:
        """Create the service; `preview_client` runs a process without a model, and `example` holds the tokens that follow
        `EXAMPLE_TEXT`.
        """
        self.preview_sampling = preview_client.preview_sampling
        """Return the probabilities of candidates before the samplers of a preset and after each of them."""
        self.end_preview = preview_client.close
        """End the process of the preview; the next preview starts it again."""
        self._example = example
        self._client, self._loaded_model, self._choose_renderer = client, loaded_model, choose_renderer

    async def format_source(self) -> str:
        """Return the source of the loaded model's format; empty if no model is loaded."""
        model = self._loaded_model()
        return (await self._choose_renderer(model)).template_source if model is not None else ""

    async def run_greeting(self) -> TrialResult:
        """Let the model answer a short greeting and check its reply. Raise ModelError, also if no model is loaded."""
        model = self._require_model()
        choice = await self._choose_renderer(model)
        prompt = choice.renderer.render(list(GREETING), thinking=False)
        reply, reason = "", StopReason.LENGTH
        stream = self._client.generate(
            prompt, GREETING_SAMPLER, MAX_REPLY_TOKENS, choice.renderer.stop_strings, priority=RequestPriority.BACKGROUND
        )
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, Chunk):
                    reply += piece.text
                elif isinstance(piece, Done):
                    reason = piece.usage.reason
        leaked_tokens = [
            token for token in (*model.control_tokens, *choice.renderer.stop_strings) if token.strip() and token in reply
        ]
        return TrialResult(
            choice.template_source, reply.strip(), bool(reply.strip()) and reason is StopReason.END and not leaked_tokens
        )

    async def predict_next_words(self, beginning: str) -> NextWords:
        """Return the likeliest next tokens after a text, before sampling; those of the example if no model is loaded.

        The result is empty if a chat request preempted the job. Raise ModelError.
        """
        if self._loaded_model() is None:
            return TypeAdapter(NextWords).validate_json(await asyncio.to_thread(self._example.read_bytes))
        return await self._client.score_next_tokens(beginning.rstrip(), MAX_NEXT_WORDS)

    async def continue_text(self, beginning: str, sampler: SamplerPreset) -> AsyncGenerator[str]:
        """Yield a short continuation of a text, piece by piece. Raise ModelError, also if no model is loaded."""
        self._require_model()
        stream = self._client.generate(beginning.rstrip(), sampler, MAX_SAMPLE_TOKENS, priority=RequestPriority.BACKGROUND)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, Chunk):
                    yield piece.text

    def _require_model(self) -> LoadedModel:
        model = self._loaded_model()
        if model is None:
            raise ModelMissing("No model is loaded.", "Load one first.")
        return model
