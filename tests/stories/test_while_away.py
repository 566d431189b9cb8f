"""What a persona does while nobody writes, as the user lives it: they come back and wait for nothing, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.agents.self_reflection import SelfReflection
from lethe_app.agents.task import TaskContext, TaskResult
from lethe_app.brain.llm_schemas.archive import TitleAnswer
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.memory import MemoryUnit
from lethe_app.services.events import ReplyText
from tests.services.past_sessions import NUTS, chats_of, copy_home, hold, opened, trusted
from tests.services.tasks import Clock, Scripted, employ, leave, newest
from tests.services.turns import MIRA, change_persona, collect_turn, until
from tests.stories.conftest import kill_program

THOUGHTS = {"paragraphs": ["Tomas misses his sister Ines. I would like to meet her one day."]}


@asynccontextmanager
async def busy(home: Path, tmp_path: Path, **script: object) -> AsyncIterator[AppServices]:
    """Mira has something to think about, a model she may use for it, and the user has gone."""
    async with opened(home) as services:
        await services.preferences.set(user_persona="tomas")
        session = await hold(services, *NUTS)
        reported = {"name": "Peanuts and Porto", "content": "They spoke of Ines."}
        await chats_of(services).change_session(session.guid, archived=True, **reported)
        await employ(services, SelfReflection())
        await change_persona(services, MIRA, self_edit_tokens=200)
        await trusted(services, tmp_path / "model.json", **script)
        yield services


async def test_the_user_comes_back_in_the_middle_and_is_answered_first(home: Path, tmp_path: Path, clock: Clock):
    slow = json.dumps(THOUGHTS) + " " * 50 + "x " * 100
    async with busy(home, tmp_path, answers=[slow, THOUGHTS], replies=["Welcome back, Tomas."], delay=0.02) as services:
        conversation = await hold(services)
        leave(services, clock)
        order: list[str] = []
        services.background_runner.changed.add(
            lambda _none: order.append("ended") if services.background_runner.running_task is None else None
        )
        looking = asyncio.create_task(services.background_runner.run_next_task())
        await until(
            lambda: (
                services.background_runner.running_task is not None
                and "Thinking" in services.background_runner.running_task.step
            )
        )
        await asyncio.sleep(0.3)  # the model is in the middle of a word
        services.idleness.record_action()  # the first key
        async with aclosing(services.chat.send(conversation.guid, "I am back.")) as events:
            async for event in events:
                if isinstance(event, ReplyText) and "reply" not in order:
                    order.append("reply")
        await looking
        run = await newest(services)

        assert order.index("ended") < order.index("reply")
        assert run.outcome is RunOutcome.GAVE_WAY
        assert (await services.library.persona(MIRA)).self_edit_field == ""

        leave(services, clock)
        await services.background_runner.run_next_task()
        assert (await services.library.persona(MIRA)).self_edit_field == THOUGHTS["paragraphs"][0]


async def test_whoever_sends_something_without_a_key_is_back_too(home: Path, tmp_path: Path, clock: Clock):
    async def ask(scene: TaskContext) -> TaskResult:
        await scene.ask("title", TitleAnswer, conversation="Tomas: Hello.")
        return TaskResult("Asked.")

    async with busy(home, tmp_path, answers=["x " * 2000], replies=["Welcome back."], delay=0.02) as services:
        await employ(services, Scripted(ask))
        conversation = await hold(services)
        leave(services, clock)
        looking = asyncio.create_task(services.background_runner.run_next_task())
        await until(lambda: services.background_runner.running_task is not None)
        outcome = await collect_turn(services.chat.send(conversation.guid, "I am back."))
        await looking

        assert outcome.reply.content == "Welcome back."
        assert (await newest(services)).outcome is RunOutcome.GAVE_WAY


async def test_what_was_thought_of_once_is_not_thought_of_again_though_days_pass(home: Path, tmp_path: Path, clock: Clock):
    async with busy(home, tmp_path, answers=[THOUGHTS] * 20) as services:
        leave(services, clock)

        for _hour in range(24 * 10):
            await services.background_runner.run_next_task()
            clock.go_on(hours=1)

        assert len(await services.activity_log.list_runs()) == 1


async def test_the_next_start_tells_what_was_cut_off_and_does_it_again(home: Path, tmp_path: Path, clock: Clock):
    async def half(scene: TaskContext) -> TaskResult:
        await scene.memorize(MemoryUnit(name="The tide", content="The tide turns at six."))
        await asyncio.Event().wait()
        return TaskResult()

    async with busy(home, tmp_path) as services:
        await employ(services, Scripted(half))
        leave(services, clock)
        looking = asyncio.create_task(services.background_runner.run_next_task())
        await until(lambda: services.memory.memories(MIRA))
        copy = await copy_home(services, tmp_path / "as it was")
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)

    async with opened(copy) as services:
        await services.background_runner.run_next_task()
        (run,) = await services.activity_log.list_runs()
        assert run.outcome is RunOutcome.LOST
        assert [one.title for one in run.made] == ["The tide"]
        assert [one.content for one in await services.memory.memories(MIRA)] == ["The tide turns at six."]

        await services.background_runner.undo(run.id)
        assert not await services.memory.memories(MIRA)


KILLED = """
import asyncio, sys
from pathlib import Path
from lethe_app.agents.registry import RegisteredTask
from lethe_app.agents.task import TaskResult
from lethe_app.app import build
from lethe_app.domain.clock import now, use_clock
from lethe_app.domain.memory import MemoryUnit
from lethe_app.paths import Paths
from tests.services.tasks import Clock, Scripted, employ, leave

async def half(scene):
    await scene.memorize(MemoryUnit(name="The tide", content="The tide turns at six."))
    print("half done", flush=True)
    await asyncio.Event().wait()
    return TaskResult()

async def main():
    clock = Clock()
    with use_clock(clock):
        house = await build(Paths.standard(Path(sys.argv[1])), engine="echo")
        await employ(house, Scripted(half))
        leave(house, clock)
        await house.background_runner.run_next_task()

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
async def test_a_kill_in_the_middle_loses_nothing(home: Path):
    await kill_program(KILLED, home, "half done")

    async with opened(home) as services:
        await services.background_runner.run_next_task()
        (run,) = await services.activity_log.list_runs()
        kept = [one.content for one in await services.memory.memories(MIRA)]

    assert run.outcome is RunOutcome.LOST
    assert run.ended is not None
    assert [one.title for one in run.made] == ["The tide"]
    assert kept == ["The tide turns at six."]


async def test_quiet_hours_are_kept_every_night(home: Path, tmp_path: Path, clock: Clock):
    done: list[int] = []

    async def note(scene: TaskContext) -> TaskResult:
        done.append(scene.moment.hour)
        return TaskResult("Looked at the clock.")

    class Hourly(Scripted):
        every = timedelta(minutes=30)

    async with busy(home, tmp_path) as services:
        await employ(services, Hourly(note))
        await services.preferences.set(agent_quiet_from="22:00", agent_quiet_until="07:00")
        leave(services, clock)

        for _hour in range(24 * 3):
            await services.background_runner.run_next_task()
            clock.go_on(hours=1)

    assert set(done) == set(range(7, 22))
