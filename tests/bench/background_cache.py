"""Does work in the background cost the chat what it has read? The next turn with and without it, with the starter model.

The same evening is played three times in a house of its own: undisturbed, with an archive of another conversation under way
since the last reply (the starter model is trusted with it for the occasion, so that the work is really given to it; its answers
are of no use), and with a long piece of writing such as a research task asks for. Each works in the quiet lane for as long as
the user reads, and is still at it when they send. Equal tokens are the proof; the time to the first token is told beside it.
"""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import timedelta

from lethe_app.domain.presets import SamplerPreset
from lethe_app.llm.protocol import RequestPriority
from tests.bench._evening import BEGUN, WATCHED, Scene, Step, begun, hold_exchanges
from tests.bench._long_talk import velm
from tests.bench._still_model import Watched
from tests.bench.report import Figures, run
from tests.services.past_sessions import qualify

CONTEXT, OPENING, REPLY = 4096, 24, 40
BEFORE, AFTER = 2, 2
"""Turns before the work begins, and turns that are compared; work goes on between these too."""
READING = 8.0
"""Seconds the user reads."""
WRITTEN = SamplerPreset(name="bench", temperature=0)
REPORT = "<|im_start|>user\nWrite a long report on the lighthouses of the north.<|im_end|>\n<|im_start|>assistant\n"


@dataclass(frozen=True)
class Outcome:
    """The compared turns, and what the quiet lane did meanwhile."""

    steps: list[Step]
    quiet_tokens: int

    @property
    def prompts(self) -> list[str]:
        return [step.answer.prompt for step in self.steps]

    @property
    def evaluated(self) -> int:
        return sum(step.answer.usage.evaluated_tokens for step in self.steps)

    @property
    def seconds(self) -> float:
        return sum(step.answer.usage.prompt_seconds for step in self.steps) / len(self.steps)


async def nothing(_scene: Scene) -> None:
    """An undisturbed evening: the user reads for as long."""


async def archive(scene: Scene) -> None:
    """Another conversation is archived by the model."""
    services = scene.services
    qualify(services)
    other = await hold_exchanges(services, velm(12).talk, BEGUN - timedelta(days=20))
    await services.archive_queue.archive_session(other.guid, at_once=False)
    await services.archive_queue.finish()


async def write(scene: Scene) -> None:
    """What a research task asks of the model, again and again."""
    while True:
        job = scene.services.client.generate(REPORT, WRITTEN, 1000, priority=RequestPriority.BACKGROUND)
        async with aclosing(job) as reports:
            async for _report in reports:
                pass
        await asyncio.sleep(0.05)


async def evening(work: Callable[[Scene], Awaitable[None]], threads: int) -> Outcome:
    """The turns after `work` began."""
    script = velm(OPENING + BEFORE + AFTER)
    wishes = {"max_reply": REPLY, "temperature_override": 0.0, "threads": threads}
    async with begun(script, CONTEXT, OPENING, WATCHED, **wishes) as scene:
        assert isinstance(scene.model, Watched)
        for exchange in script.talk[OPENING : OPENING + BEFORE]:
            await scene.turn(exchange)
        busy = asyncio.ensure_future(work(scene))
        steps = []
        for exchange in script.talk[OPENING + BEFORE :]:
            await asyncio.sleep(READING)
            assert not busy.done() or busy.exception() is None, "the work failed"
            steps.append(await scene.turn(exchange))
        busy.cancel()
        with suppress(asyncio.CancelledError):
            await busy
        return Outcome(steps, sum(usage.evaluated_tokens + usage.reply_tokens for usage in scene.model.quiet))


async def measure(wanted: Namespace) -> Figures:
    calm, archived, written = [await evening(work, wanted.threads) for work in (nothing, archive, write)]
    return {
        "same_prompts": float(calm.prompts == archived.prompts == written.prompts),
        "evaluated_undisturbed": calm.evaluated,
        "evaluated_after_archive": archived.evaluated,
        "evaluated_after_research": written.evaluated,
        "quiet_tokens_archive": archived.quiet_tokens,
        "quiet_tokens_research": written.quiet_tokens,
        "ttft_s_undisturbed": calm.seconds,
        "ttft_s_after_archive": archived.seconds,
        "ttft_s_after_research": written.seconds,
        "ttft_ratio_archive": archived.seconds / calm.seconds,
        "ttft_ratio_research": written.seconds / calm.seconds,
    }


if __name__ == "__main__":
    run(__doc__, measure, ("--threads", {"type": int, "default": 0, "help": "of the model; its own choice if 0"}))
