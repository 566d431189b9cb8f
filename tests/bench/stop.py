"""How long after Stop the model is free again, between tokens and in the middle of a long prompt, on the starter model.

The clock runs from closing the stream of events until that has ended, which is when the next request could begin.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from contextlib import aclosing

from lethe_app.domain.model import LoadOptions
from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.client import ModelClient
from lethe_app.llm.models.gguf_model import describe_model
from lethe_app.llm.protocol import Chunk, PrefillProgress
from tests.bench._setup import starter_model
from tests.bench.report import run

TRIES = 8
STORY = "<|im_start|>user\nTell me a long story.<|im_end|>\n<|im_start|>assistant\n"


async def stopped_after(client: ModelClient, prompt: str, enough: Callable[[object], bool], wait: float) -> float:
    """Milliseconds from Stop to silence, where Stop comes `wait` seconds after `enough` was true of a report."""
    async with aclosing(client.generate(prompt, SamplerPreset(name="bench"), 400)) as reports:
        async for report in reports:
            if enough(report):
                break
        await asyncio.sleep(wait)
        began = time.perf_counter()
    return (time.perf_counter() - began) * 1000


async def measure() -> dict[str, float]:
    """Medians and worst of some tries; every prompt is new, so that nothing of it is cached."""
    client = ModelClient()
    await client.load(describe_model(starter_model()), LoadOptions(context=8192), lambda _fraction: None)
    speaking, reading = [], []
    for number in range(TRIES):
        speaking.append(await stopped_after(client, STORY, lambda report: isinstance(report, Chunk), 0.05))
        long = f"{number} " + "The river flows on and on past the mill. " * 500
        reading.append(
            await stopped_after(client, long, lambda report: isinstance(report, PrefillProgress), 0.1 + number * 0.13)
        )
    await client.close()
    return {
        "speaking_ms": statistics.median(speaking),
        "speaking_ms_max": max(speaking),
        "reading_ms": statistics.median(reading),
        "reading_ms_max": max(reading),
    }


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
