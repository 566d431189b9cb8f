"""A model that reads everything and computes nothing: the program's own engine and cache with the arithmetic left out.

What such a model counts as evaluated is what llama.cpp would have evaluated, in a hundredth of the time: splices are planned,
cells are cut and moved (there are none) and joints are kept by the very code that does it for a model that computes.
`Watched` is the real thing with such a model beside it, which says whether that is so.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lethe_app.domain.model import LoadedModel, LoadOptions, ModelFile, StopReason, Usage
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.client import ModelClient
from lethe_app.llm.engines.llama import LlamaEngine
from lethe_app.llm.kv_cache.cache import KvCache
from lethe_app.llm.kv_cache.reuse import DEFAULT_OPTIONS, ReuseOptions
from lethe_app.llm.protocol import Chunk, Done, Prefill, PrefillProgress, RequestPriority
from tests.llm.model_files import file_at


class StillCache(KvCache):
    """The program's cache over a context that stays empty."""

    def _decode(self, tokens: list[int]) -> bool:
        self._tokens += tokens
        self._staging.has_moved = False
        return True


class Still:
    """The engine with such a cache; replies are told to it."""

    def __init__(self, path: Path, options: LoadOptions) -> None:
        self.engine = LlamaEngine()
        self.facts = self.engine.load(file_at(path), options, lambda _fraction: None)
        self._weights, self._lane = self.engine._require_loaded()
        context, stop = self._weights.context, self.engine.stop
        self._lane._cache = self.cache = StillCache(context, options.batch, stop, can_shift=self.facts.can_shift)

    def read(self, prompt: str, wishes: ReuseOptions) -> Usage:
        """Make the cache hold a prompt, as for a reply or ahead of one."""
        usage = self.engine.prefill(Prefill(1, prompt, wishes))
        assert usage.prompt_tokens, "the prompt has no room in the context"
        return usage

    def speak(self, reply: str, *, ended: bool = True) -> None:
        """Say something behind the prompt; one that `ended` has the token that says so."""
        for token in self._weights.tokenize(reply, False):
            self.cache.append(token)
        if ended:
            self.cache.append(self._weights.tokenize(self.facts.eos, False)[0])

    def close(self) -> None:
        self.engine.close()


@dataclass(frozen=True)
class Call:
    """One thing that was asked of a model."""

    prompt: str
    wishes: ReuseOptions
    usage: Usage
    reply: str | None = None
    """None where it only read ahead."""


class StillModel:
    """Stands where the program has its client: says the replies it was given, and keeps what it was asked."""

    preview_sampling = ModelClient.preview_sampling
    """Only bound by the services; no preset is shown here."""

    def __init__(self) -> None:
        self.replies: deque[str] = deque()
        self.calls: list[Call] = []
        self._still: Still | None = None

    @property
    def is_running(self) -> bool:
        return self._still is not None

    @property
    def still(self) -> Still:
        assert self._still is not None, "no model is loaded"
        return self._still

    async def load(
        self, file: ModelFile, options: LoadOptions, progress: Callable[[float], None], on_crash: object = None
    ) -> LoadedModel:
        await self.close()
        self._still = Still(file.path, options)
        progress(1.0)
        return LoadedModel(file=file, options=options, **vars(self._still.facts))

    async def generate(
        self,
        prompt: str,
        _sampler: SamplerPreset,
        _most: int,
        _stop: Sequence[str] = (),
        *,
        reuse: ReuseOptions = DEFAULT_OPTIONS,
        **_more: object,
    ) -> AsyncGenerator[Chunk | Done]:
        """The next reply, for the price of its prompt. Quiet jobs are not among the things it can do."""
        usage = self.still.read(prompt, reuse)
        reply = self.replies.popleft()
        self.still.speak(reply)
        self.calls.append(Call(prompt, reuse, usage, reply))
        yield Chunk(1, reply)
        yield Done(1, usage)

    async def prefill(self, prompt: str, *, reuse: ReuseOptions = DEFAULT_OPTIONS, **_more: object) -> Usage:
        usage = self.still.read(prompt, reuse)
        self.calls.append(Call(prompt, reuse, usage))
        return usage

    async def count(self, texts: Sequence[str]) -> list[int]:
        return self.still.engine.count(texts)

    async def free_background_context(self) -> None:
        """There is nothing to give back."""

    async def save_state(self, *_where: object, **_how: object) -> None:
        """There is no file to save to."""

    async def delete_states(self, *_where: object, **_how: object) -> None:
        """There is no file to delete."""

    async def close(self) -> None:
        if self._still is not None:
            self._still.close()
        self._still = None


class Watched(ModelClient):
    """The real client, with a still model beside it that is told the same; `calls` are those of the real one."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.counted: list[int] = []
        """What the still model says of each call."""
        self.quiet: list[Usage] = []
        """What quiet jobs cost, of which the still model hears nothing."""
        self.wrote = asyncio.Event()
        """One of them wrote something."""
        self._still: Still | None = None

    async def load(
        self, file: ModelFile, options: LoadOptions, progress: Callable[[float], None], on_crash: object = None
    ) -> LoadedModel:
        loaded = await super().load(file, options, progress)
        self._still = Still(file.path, options)
        return loaded

    async def generate(
        self,
        prompt: str,
        *options: Any,
        priority: RequestPriority = RequestPriority.CHAT,
        reuse: ReuseOptions = DEFAULT_OPTIONS,
        **more: Any,
    ) -> AsyncGenerator[PrefillProgress | Chunk | Done]:
        reply = ""
        stream = super().generate(prompt, *options, priority=priority, reuse=reuse, **more)
        async with aclosing(stream) as reports:
            async for report in reports:
                if isinstance(report, Chunk):
                    reply += report.text
                elif isinstance(report, Done):
                    if priority is RequestPriority.CHAT:
                        self._note(Call(prompt, reuse, report.usage, reply))
                    else:
                        self.quiet.append(report.usage)
                        if report.usage.reply_tokens:
                            self.wrote.set()
                yield report

    async def prefill(self, prompt: str, *, reuse: ReuseOptions = DEFAULT_OPTIONS, **more: Any) -> Usage:
        usage = await super().prefill(prompt, reuse=reuse, **more)
        self._note(Call(prompt, reuse, usage))
        return usage

    async def close(self) -> None:
        await super().close()
        if self._still is not None:
            self._still.close()
        self._still = None

    def _note(self, call: Call) -> None:
        assert call.usage.reason is not StopReason.STOPPED or call.reply is not None, "reading ahead was interrupted"
        self.counted.append(self._still.read(call.prompt, call.wishes).evaluated_tokens)
        if call.reply is not None:
            self._still.speak(call.reply, ended=call.usage.reason is StopReason.END)
        self.calls.append(call)
