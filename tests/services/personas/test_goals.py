"""What she wants follows from the last conversation, in the order in which it matters; roleplay is left out where it should."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

from lethe_app.agents.goals import CustomGoal, GoalDesigner, SessionGoals, may_use_roleplay
from lethe_app.agents.task import AgentTask
from lethe_app.composition.app_services import AppServices
from lethe_app.config.options import RoleplayGoals
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from tests.services.past_sessions import NUTS, chats_of, hold, trusted
from tests.services.tasks import Clock, employ, leave_and_run, newest
from tests.services.turns import MIRA

AIMS = {"own": ["Learn all signals.", "Paint the hull."], "wishes": ["May Tomas see Ines."]}


def plan(title: str) -> dict[str, object]:
    return {
        "title": title,
        "details": f"To reach what is meant by {title}.",
        "reason": "It matters to both of them.",
        "steps": ["Ask about it", "Try it together."],
    }


async def past(services: AppServices, clock: Clock, **fields: object) -> None:
    session = await hold(services, *NUTS, at=clock.shown)
    reported = {"name": "Peanuts and Porto", "content": "They spoke of Ines."}
    plans = ["Tomas wants to visit Ines in May."]
    await chats_of(services).change_session(session.guid, archived=True, future_goals=plans, **reported, **fields)
    clock.go_on(hours=1)


async def begin(services: AppServices, script: Path, clock: Clock, task: AgentTask, *answers: object) -> None:
    await employ(services, task)
    await trusted(services, script, answers=list(answers))
    await leave_and_run(services, clock)


async def goals(services: AppServices) -> list[MemoryUnit]:
    found = [one for one in await services.memory.memories(MIRA) if one.category is MemoryType.GOAL]
    return sorted(found, key=lambda one: (-one.priority, one.name))


async def test_own_goals_wishes_and_plans_become_goals_in_the_order_in_which_they_matter(
    services: AppServices, tmp_path: Path, clock: Clock
):
    await past(services, clock)

    answers = [AIMS, plan("Signals"), plan("The hull"), plan("Ines"), plan("Visiting Porto")]
    await begin(services, tmp_path / "model.json", clock, GoalDesigner(), *answers)

    found = await goals(services)
    assert [(one.name, one.priority) for one in found] == [("Signals", 3), ("The hull", 2), ("Ines", 1), ("Visiting Porto", 0)]
    assert {(one.insertion, one.made_by) for one in found} == {(MemoryInsertion.NATURAL, "goals")}
    assert found[0].content == "To reach what is meant by Signals.\nPlan: Ask about it. Try it together."
    assert found[0].reason == "It matters to both of them."
    assert found[0].end_time == found[0].added + timedelta(days=30)


async def test_one_conversation_gives_rise_to_goals_once(services: AppServices, tmp_path: Path, clock: Clock):
    await past(services, clock)
    answers = [AIMS, plan("Signals"), plan("The hull"), plan("Ines"), plan("Visiting Porto")]
    await begin(services, tmp_path / "model.json", clock, GoalDesigner(), *answers, *answers)
    for _day in range(4):
        clock.go_on(days=1, hours=1)
        await services.background_runner.run_next_task()

    assert len(await services.activity_log.list_runs()) == 1


async def test_a_conversation_that_was_roleplay_gives_rise_to_none_unless_the_user_wants_it(
    services: AppServices, tmp_path: Path, clock: Clock
):
    await past(services, clock, is_roleplay=True)
    await begin(services, tmp_path / "model.json", clock, GoalDesigner(), {"own": [], "wishes": []}, plan("Visiting Porto"))
    assert await services.activity_log.list_runs() == []

    await services.preferences.set(goals_from_roleplay=RoleplayGoals.ALWAYS)
    clock.go_on(hours=1)
    await services.background_runner.run_next_task()

    assert [one.name for one in await goals(services)] == ["Visiting Porto"]


def test_never_is_never_and_always_is_always():
    chance = random.Random(7)

    assert not any(may_use_roleplay(RoleplayGoals.NEVER, chance) for _ in range(50))
    assert all(may_use_roleplay(RoleplayGoals.ALWAYS, chance) for _ in range(50))
    assert {may_use_roleplay(RoleplayGoals.RANDOM, chance) for _ in range(50)} == {True, False}


async def test_plans_of_the_last_conversation_come_first(services: AppServices, tmp_path: Path, clock: Clock):
    await past(services, clock)

    await begin(services, tmp_path / "model.json", clock, SessionGoals(), plan("Visiting Porto"))

    assert [(one.name, one.priority, one.made_by) for one in await goals(services)] == [("Visiting Porto", 5, "session_goals")]
    assert (await newest(services)).summary == "Set a goal: Visiting Porto."


async def test_the_user_may_ask_for_a_goal(services: AppServices, tmp_path: Path, clock: Clock):
    task = CustomGoal(services.goals.load_request)
    await begin(services, tmp_path / "model.json", clock, task, plan("Write a letter"))
    assert await services.activity_log.list_runs() == []

    await services.goals.save_request(MIRA, "Something with letters.", "Nothing in the morning.")
    clock.go_on(hours=1)
    await services.background_runner.run_next_task()

    assert [(one.name, one.priority) for one in await goals(services)] == [("Write a letter", 5)]


async def test_goals_that_are_cut_off_leave_nothing_half_done(services: AppServices, tmp_path: Path, clock: Clock):
    await past(services, clock)
    await begin(services, tmp_path / "model.json", clock, GoalDesigner(), AIMS, plan("Signals"), "no", "no", "no")

    assert (await newest(services)).outcome is RunOutcome.FAILED
    assert await goals(services) == []
