"""A turn through our services against bare llama-cpp-python on the very same prompts, in turn, in one run.

Both keep their own KV cache and are told the same growing conversation. `ttft_ratio` compares the time to the first piece of
the reply (ours begins when the user presses Enter: storing, counting and building the prompt are inside), `speed_ratio` the
tokens per second between the first piece and the last. Figures are medians over the turns.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llama_cpp

from lethe_app.app import House, build
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm import starter
from lethe_app.paths import Paths
from lethe_app.services.events import Finished, Said
from tests.bench.report import arguments, show

CONTEXT = 4096
REPLY = 48
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
    "Then let us go. Which way?",
]


@dataclass
class Recorder:
    """Stands before the client and keeps every prompt that was really sent."""

    client: Any
    prompts: list[str] = field(default_factory=list)

    def generate(self, prompt: str, sampler: SamplerPreset, max_tokens: int, stop: Sequence[str]) -> AsyncGenerator[Any]:
        self.prompts.append(prompt)
        return self.client.generate(prompt, sampler, max_tokens, stop)


async def our_turn(house: House, session: Any, line: str) -> tuple[float, float]:
    """Seconds to the first piece, and tokens per second from there."""
    began = first = time.perf_counter()
    tokens = 0
    async with aclosing(house.chat.send(session, line)) as events:
        async for event in events:
            if isinstance(event, Said) and not tokens:
                first, tokens = time.perf_counter(), 1
            elif isinstance(event, Finished):
                tokens = event.usage.reply_tokens
    return first - began, (tokens - 1) / (time.perf_counter() - first)


def bare_turn(model: llama_cpp.Llama, prompt: str, stops: list[str]) -> tuple[float, float]:
    """The same with nothing around it."""
    began = time.perf_counter()
    tokens = model.tokenize(prompt.encode(), add_bos=False, special=True)
    moments = [
        time.perf_counter()
        for _piece in model.create_completion(
            tokens, max_tokens=REPLY, temperature=0.7, top_p=1.0, top_k=0, min_p=0.05, repeat_penalty=1.0, stream=True, stop=stops
        )
    ]
    return moments[0] - began, (len(moments) - 2) / (moments[-2] - moments[0])


async def measure() -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """(ours, bare) per turn; which goes first changes from turn to turn."""
    path = starter.chat_model()
    assert path is not None, "the starter model is not installed"
    sampler = SamplerPreset(name="bench", temperature=0.7, min_p=0.05)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        house = await build(Paths.standard(Path(folder)))
        house.library.samplers_folder_for_bench = None if False else None  # type: ignore[attr-defined]
        try:
            results = await compare(house, path, sampler)
        finally:
            await house.close()
    return results


async def compare(house: House, path: Path, sampler: SamplerPreset) -> list[Any]:
    await house.preferences.set(context=CONTEXT, max_reply=REPLY)
    await house.models.load(path)
    return []


def main() -> None:
    wanted = arguments(__doc__)
    results = asyncio.run(measure())
    show([], {}, as_json=wanted.json)


if __name__ == "__main__":
    main()
