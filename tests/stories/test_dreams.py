"""Dreams, as the user lives them: what was tidied can be had back, a crash costs nothing, and what they asked for is heeded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lethe_app.agents.dream import Dream
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ChangeState, RecordedChange, ReplyRating, RunOutcome
from lethe_app.domain.changes import AVOID, INFER, ChangedRecords
from lethe_app.domain.recall import RecallWay
from tests.services.past_sessions import hold, opened
from tests.services.tasks import Clock, employ, leave, newest
from tests.services.turns import MIRA, add_memory, prompt_of, say
from tests.stories.conftest import kill_program


async def sleep_on_it(services: AppServices, clock: Clock) -> list[RecordedChange]:
    """The user goes away for a night, and Mira dreams."""
    known = services.background_runner.registry.get("dream")
    assert known is not None
    assert isinstance(known.task, Dream)
    await services.preferences.set(user_persona="tomas")
    await employ(services, known.task)
    clock.go_on(days=1)
    leave(services, clock)
    await services.background_runner.run_next_task()
    return await services.dreams.changes_of(MIRA)


async def test_a_dream_merges_duplicates_and_can_be_undone(home: Path, clock: Clock):
    async with opened(home) as services:
        await services.preferences.set(dreams_apply=True)
        for _time in range(3):
            await add_memory(services, "The ferry leaves at nine.", made_by="journal", trigger_count=2)
            clock.go_on(hours=1)
        mine = await add_memory(services, "The ferry leaves at nine.")
        before = {one.guid: one for one in await services.memory.memories(MIRA)}

        await sleep_on_it(services, clock)
        tidied = await services.memory.memories(MIRA)
        assert sorted((one.made_by, one.trigger_count) for one in tidied) == [("", 0), ("dream", 6)]
        assert mine in tidied

        run = await newest(services)
        assert run.outcome is RunOutcome.MADE
        await services.background_runner.undo(run.id)

    async with opened(home) as services:
        assert {one.guid: one for one in await services.memory.memories(MIRA)} == before
        found = await services.memory_lookup.search(MIRA, "When does the ferry leave?", 10)
        assert {one.memory for one in found} == set(before)


KILLED = """
import asyncio, sys
from pathlib import Path
from lethe_app.app import build
from lethe_app.domain.clock import use_clock
from lethe_app.paths import Paths
from tests.services.turns import MIRA
from tests.services.tasks import Clock, employ, leave

async def main():
    clock = Clock()
    with use_clock(clock):
        house = await build(Paths.standard(Path(sys.argv[1])), engine="echo")
        await employ(house, house.background_runner.registry.get("dream").task)
        carry_out, done = house.dreams.apply_change, 0

        async def and_stop(change):
            nonlocal done
            made = await carry_out(change)
            done += 1
            if done == 2:
                print("in the middle", flush=True)
                await asyncio.Event().wait()
            return made

        house.dreams.apply_change = and_stop
        clock.go_on(days=1)
        leave(house, clock)
        await house.background_runner.run_next_task()

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
async def test_a_kill_in_the_middle_of_a_dream_loses_nothing(home: Path, clock: Clock):
    said = [f"The ferry number {number} leaves at nine." for number in range(4)]
    async with opened(home) as services:
        await services.preferences.set(dreams_apply=True, user_persona="tomas")
        for words in said * 2:
            await add_memory(services, words, made_by="journal", trigger_count=1)

    await kill_program(KILLED, home, "in the middle")

    async with opened(home) as services:
        held = await services.memory.memories(MIRA)
        assert {one.content for one in held} == set(said)
        assert sum(one.trigger_count for one in held) == 8
        assert [one.state for one in await services.dreams.changes_of(MIRA)] == [ChangeState.APPLIED] * 2
        await services.memory_lookup.search(MIRA, "ferry")

        await sleep_on_it(services, clock)  # what was cut off is noted as lost, and waits a little
        await sleep_on_it(services, clock)
        assert sorted(one.content for one in await services.memory.memories(MIRA)) == said


CASUAL = ("I'd prefer shorter answers.", "Maybe a bit shorter next time.", "Could you keep it short?")


async def test_three_casual_remarks_make_a_preference_and_two_do_not(home: Path, clock: Clock):
    async with opened(home) as services:
        await services.preferences.set(dreams_apply=True)
        for said in CASUAL[:2]:
            await hold(services, "How is the weather?", "Let me tell you about clouds, all of them.", said)
            clock.go_on(days=1)
        assert await sleep_on_it(services, clock) == []

        third = await hold(services, "And the tide?", "The tide, my dear captain, is a long story.", CASUAL[2])
        (change,) = await sleep_on_it(services, clock)

        assert change.what == INFER
        (requested,) = await services.memory.memories(MIRA)
        assert (requested.filed_under, requested.tags, requested.made_by) == (
            "user-preferences/inferred",
            ["inferred"],
            "dream",
        )
        assert len(requested.sources) == 3
        said = [one for one in await services.sessions.page(third.guid, 0, 9) if one.content == CASUAL[2]]
        assert f"message:{said[0].id}" in requested.sources


async def test_what_must_not_happen_again_stands_in_every_prompt(home: Path, clock: Clock, echo_model: Callable[..., Path]):
    async with opened(home) as services:
        await services.preferences.set(dreams_apply=True)
        await hold(services, "Hello.", "Good evening, Tommy.", "I told you not to call me Tommy!")
        (change,) = await sleep_on_it(services, clock)
        assert change.what == AVOID
        (constraint,) = ChangedRecords.after(change).memories

        await services.models.load(echo_model("It is calm.", "Quite."))
        conversation = await hold(services)
        outcome = await say(services, conversation, "How is the sea tonight?")

        assert [one.way for one in outcome.memory.recalled if one.memory == constraint.guid] == [RecallWay.CONSTANT]
        prompt = await prompt_of(services, conversation, outcome)
        assert "Don't call Tomas Tommy" in prompt
        assert prompt.index("Don't call Tomas Tommy") > prompt.index("navigator of the Petrel")

        await services.dreams.revert_change(change.id)
        again = await say(services, conversation, "And the wind?")
        assert "Don't call Tomas Tommy" not in await prompt_of(services, conversation, again)


async def test_a_thumb_is_there_again_tomorrow_and_a_second_one_takes_it_back(home: Path, clock: Clock):
    async with opened(home) as services:
        conversation = await hold(services, "Hello.", "Good evening.")
        reply = (await services.sessions.page(conversation.guid, 0, 9))[-1]
        assert await services.feedback.rate_reply(reply.id, ReplyRating.BAD) is ReplyRating.BAD

    async with opened(home) as services:
        assert await services.feedback.ratings_of([reply.id]) == {reply.id: {0: ReplyRating.BAD}}
        assert await services.feedback.rate_reply(reply.id, ReplyRating.GOOD) is ReplyRating.GOOD
        assert await services.feedback.rate_reply(reply.id, ReplyRating.GOOD) is None
        assert await services.feedback.ratings_of([reply.id]) == {}
