"""A turn through our services against bare llama-cpp-python on the very same prompts, in turn, in one run.

Both keep their own KV cache and are told the same growing conversation, with the same sampler. `ttft_ratio` compares the time
to the first piece of the reply (ours begins when the user presses Enter: storing, counting and building the prompt are inside),
`speed_ratio` the tokens per second from there on. Figures are medians over the turns. As in life the user reads and writes
between two turns, and ours has read ahead by then; the bare engine waits for that, so that the two never share the processor.
`ttft_ratio_without_reading_ahead` is measured with that switched off.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import llama_cpp

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.client import ModelClient
from lethe_app.paths import Paths
from lethe_app.services.events import ReplyFinished, ReplyText
from lethe_app.storage.files.json_files import write_model
from tests.bench._setup import starter_model
from tests.bench.report import Figures, Row, run

CONTEXT, REPLY = 4096, 64
MOMENT, PATIENCE = 0.6, 30.0
"""Seconds between a reply and the next message, at least and at most; a person takes about as long."""
SAMPLER = SamplerPreset(name="bench", temperature=0.8, top_k=40, top_p=0.95, min_p=0.05)
LINES = [
    "Good evening. What do you see from where you stand?",
    "Tell me about the last storm you were in.",
    "And who was with you then?",
    "I would have been afraid. Were you?",
    "What is the first thing you do when you come ashore?",
    "Describe the harbour to me.",
    "Is there anything you regret?",
    "What should I know before I sail with you?",
    "Sing me a line of a song you know.",
    "And what does it mean?",
    "Have you ever been lost?",
    "Then let us go. Which way?",
]


@dataclass(frozen=True)
class Measured:
    """One turn."""

    first: float
    """Seconds to the first piece."""
    speed: float
    """Tokens per second after it."""


@dataclass
class Recorder:
    """Stands before the client and keeps the prompts that were really sent."""

    client: ModelClient
    prompts: list[tuple[str, Sequence[str]]] = field(default_factory=list)

    def generate(self, prompt: str, sampler: SamplerPreset, most: int, stop: Sequence[str], **how: Any) -> AsyncGenerator[Any]:
        """As the client does."""
        self.prompts.append((prompt, stop))
        return self.client.generate(prompt, sampler, most, stop, **how)


async def our_turn(services: AppServices, session: UUID, line: str) -> Measured:
    """From Enter to the last word."""
    began = time.perf_counter()
    first = last = 0.0
    tokens = 0
    async with aclosing(services.chat.send(session, line)) as events:
        async for event in events:
            if isinstance(event, ReplyText):
                last = time.perf_counter()
                first = first or last
            elif isinstance(event, ReplyFinished):
                tokens = event.usage.reply_tokens
    return Measured(first - began, (tokens - 1) / (last - first))


def bare_turn(model: llama_cpp.Llama, prompt: str, stops: Sequence[str]) -> Measured:
    """The same prompt with nothing around it."""
    began = time.perf_counter()
    tokens = model.tokenize(prompt.encode(), add_bos=False, special=True)
    sampler = {name: getattr(SAMPLER, name) for name in ("temperature", "top_k", "top_p", "min_p")}
    pieces = model.create_completion(tokens, max_tokens=REPLY, repeat_penalty=1.0, stream=True, stop=list(stops), **sampler)
    moments = []
    said = ""
    for piece in pieces:
        moments.append(time.perf_counter())
        said += piece["choices"][0]["text"]
    count = len(model.tokenize(said.encode(), add_bos=False))
    return Measured(moments[0] - began, (count - 1) / (moments[-1] - moments[0]))


def prime(model: llama_cpp.Llama, told: str) -> None:
    """Have it know what ours knows: its own reply was another one, and would have to be read over otherwise."""
    if told:
        model.create_completion(model.tokenize(told.encode(), add_bos=False, special=True), max_tokens=1)


async def settled(services: AppServices) -> None:
    """Ours has read ahead and computes nothing any more."""
    await asyncio.sleep(MOMENT)
    with suppress(TimeoutError):
        await asyncio.wait_for(services.prefill.finish(), PATIENCE)


async def newest_reply(services: AppServices, session: UUID) -> str:
    """What the persona said last."""
    count = len(await services.sessions.outline(session))
    return (await services.sessions.page(session, count - 1, 1))[0].content


async def compare(services: AppServices, bare: llama_cpp.Llama) -> list[tuple[Measured, Measured]]:
    """(ours, bare) for every line of a new conversation."""
    before = ""
    recorder = Recorder(services.chat._generator._client)
    services.chat._generator._client = recorder  # type: ignore[assignment]
    session = await services.sessions.new("mira")
    results = []
    for line in LINES:
        ours = await our_turn(services, session.guid, line)
        await settled(services)
        prompt, stops = recorder.prompts[-1]
        prime(bare, before)
        results.append((ours, bare_turn(bare, prompt, stops)))
        before = prompt + await newest_reply(services, session.guid)
    services.chat._generator._client = recorder.client
    return results[1:]  # the first turn reads the whole prompt, which drowns what is measured


async def measure() -> tuple[list[tuple[Measured, Measured]], list[tuple[Measured, Measured]]]:
    """With and without reading ahead, in a home of its own, with the starter model."""
    path = starter_model()
    bare = llama_cpp.Llama(str(path), n_ctx=CONTEXT, n_batch=512, n_ubatch=512, n_threads=2, n_threads_batch=2, verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        paths = Paths.standard(Path(folder))
        write_model(paths.presets / "samplers" / "bench.json", SAMPLER)
        services = await build(paths)
        try:
            await services.preferences.set(context=CONTEXT, max_reply=REPLY, sampler="bench")
            await services.models.load(path)
            ahead = await compare(services, bare)
            await services.preferences.set(read_ahead=False)
            return ahead, await compare(services, bare)
        finally:
            await services.close()


def ttft(results: list[tuple[Measured, Measured]]) -> float:
    """Ours over bare, median over the turns."""
    return statistics.median(ours.first / bare.first for ours, bare in results)


async def compare_both() -> tuple[list[Row], Figures]:
    ahead, plain = await measure()
    speed = statistics.median(ours.speed / bare.speed for ours, bare in ahead + plain)
    rows: list[Row] = []
    for name, results in (("reading ahead", ahead), ("without", plain)):
        for number, (ours, bare) in enumerate(results, 2):
            rows.append(
                (f"{name}, turn {number}: first piece [ms]", f"ours {ours.first * 1000:.0f}, bare {bare.first * 1000:.0f}")
            )
    rows.append(("speed [tokens/s]", " / ".join(f"{statistics.median(speeds):.0f}" for speeds in both_speeds(ahead + plain))))
    figures = {"ttft_ratio": ttft(ahead), "speed_ratio": speed, "ttft_ratio_without_reading_ahead": ttft(plain)}
    return rows, figures


def both_speeds(results: list[tuple[Measured, Measured]]) -> tuple[list[float], list[float]]:
    """Tokens per second of all turns: ours, bare."""
    return [ours.speed for ours, _bare in results], [bare.speed for _ours, bare in results]


if __name__ == "__main__":
    run(__doc__, lambda _wanted: compare_both())
