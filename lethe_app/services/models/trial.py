"""Tests of the loaded model: whether it understands its prompt format, and what a sampler preset does to its output."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from lethe_app.domain.model import LoadedModel, NextWords, StopReason
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import ModelMissing
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import Chunk, Done, RequestPriority
from lethe_app.prompt.format.instruct import RendererChoice

LONGEST = 96
"""Maximum tokens of the reply to the test prompt; a model that understands the format ends a greeting earlier."""
GREETING = (
    PromptTurn("system", "You are polite and brief."),
    PromptTurn("user", "Good evening! Answer with one short sentence."),
)
MOST_WORDS = 40
"""Number of likeliest next tokens that are listed one by one; the others are counted in groups."""
SHORT = 40
"""Maximum tokens of a continuation that demonstrates a sampler."""
SAMPLER = SamplerPreset(name="trying", temperature=0.3, seed=5)


@dataclass(frozen=True)
class TrialResult:
    """Result of the format test."""

    source: str
    """Source of the format, such as “model” or “recognised: ChatML”."""
    words: str
    is_good: bool
    """True if the reply is not empty, ended by itself and contains no control token or stop string as text."""


class ModelTrial:
    """Run tests on the loaded model, at background priority, so that the KV cache of the session is untouched. Nothing is
    stored.
    """

    def __init__(
        self,
        client: ModelClient,
        ready: Callable[[], LoadedModel | None],
        form: Callable[[LoadedModel], Awaitable[RendererChoice]],
    ) -> None:
        self._client, self._ready, self._form = client, ready, form

    async def source(self) -> str:
        """Return the source of the loaded model's format; empty if no model is loaded."""
        model = self._ready()
        return (await self._form(model)).template_source if model is not None else ""

    async def greet(self) -> TrialResult:
        """Let the model answer a short greeting and check its reply. Raise ModelError, also if no model is loaded."""
        model = self._loaded()
        choice = await self._form(model)
        prompt = choice.renderer.render(list(GREETING), thinking=False)
        words, reason = "", StopReason.LENGTH
        stream = self._client.generate(prompt, SAMPLER, LONGEST, choice.renderer.stop_strings, lane=RequestPriority.QUIET)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, Chunk):
                    words += piece.text
                elif isinstance(piece, Done):
                    reason = piece.usage.reason
        spelled = [sign for sign in (*model.control_tokens, *choice.renderer.stop_strings) if sign.strip() and sign in words]
        return TrialResult(
            choice.template_source, words.strip(), bool(words.strip()) and reason is StopReason.END and not spelled
        )

    async def next_words(self, beginning: str) -> NextWords:
        """Return the likeliest next tokens after a text, before sampling; empty if a chat request preempted the job.

        Raise ModelError, also if no model is loaded.
        """
        self._loaded()
        return await self._client.weigh(beginning.rstrip(), MOST_WORDS)

    async def go_on(self, beginning: str, sampler: SamplerPreset) -> AsyncGenerator[str]:
        """Yield a short continuation of a text, piece by piece. Raise ModelError, also if no model is loaded."""
        self._loaded()
        stream = self._client.generate(beginning.rstrip(), sampler, SHORT, lane=RequestPriority.QUIET)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, Chunk):
                    yield piece.text

    def _loaded(self) -> LoadedModel:
        model = self._ready()
        if model is None:
            raise ModelMissing("No model is loaded.", "Load one first.")
        return model
