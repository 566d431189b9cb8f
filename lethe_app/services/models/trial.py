"""Tries the loaded model: whether it is spoken to in a format it understands, and what it would say next with a sampler."""

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
"""Tokens within which a greeting ends by itself."""
GREETING = (
    PromptTurn("system", "You are polite and brief."),
    PromptTurn("user", "Good evening! Answer with one short sentence."),
)
MOST_WORDS = 40
"""Told one by one of those that could come next."""
SHORT = 40
"""Tokens of a continuation that is written to show what a sampler does."""
SAMPLER = SamplerPreset(name="trying", temperature=0.3, seed=5)


@dataclass(frozen=True)
class TrialResult:
    """What came of it."""

    source: str
    """Where the format comes from: “model”, “recognised: ChatML” …"""
    words: str
    is_good: bool
    """It said something, stopped by itself, and spelled out none of its own signs."""


class ModelTrial:
    """Asks the model that is loaded, in the quiet lane: the conversation loses nothing of what was read. Nothing is kept."""

    def __init__(
        self,
        client: ModelClient,
        ready: Callable[[], LoadedModel | None],
        form: Callable[[LoadedModel], Awaitable[RendererChoice]],
    ) -> None:
        self._client, self._ready, self._form = client, ready, form

    async def source(self) -> str:
        """Where the format of the loaded model comes from; empty where none is loaded."""
        model = self._ready()
        return (await self._form(model)).template_source if model is not None else ""

    async def greet(self) -> TrialResult:
        """Raises ModelError, also where no model is loaded."""
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
        """What could follow, as the model itself has it; nothing where the conversation wanted it meanwhile.

        Raises ModelError, also where no model is loaded.
        """
        self._loaded()
        return await self._client.weigh(beginning.rstrip(), MOST_WORDS)

    async def go_on(self, beginning: str, sampler: SamplerPreset) -> AsyncGenerator[str]:
        """A short continuation, piece by piece. Raises ModelError, also where no model is loaded."""
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
