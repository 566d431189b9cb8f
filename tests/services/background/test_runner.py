"""What happens while the user is away, on the scripted engine and a clock of our own: when, how often, and how it ends."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from lethe_app.agents import runtime
from lethe_app.agents.runtime import PauseReason
from lethe_app.agents.task import NOTHING, TaskContext, TaskRequirement, TaskResult
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.background import runner
from lethe_app.services.background.activity_log import DID_NOT_STOP
from tests.conftest import Silence
from tests.services.past_sessions import trusted
from tests.services.tasks import (
    Clock,
    Scripted,
    ask_for_a_title,
    employ,
    for_ever,
    kept_runs,
    leave,
    leave_and_run,
    newest,
    nothing,
)
from tests.services.turns import MIRA, change_persona, until

TITLE = {"title": "The green boat"}


async def underway(services: AppServices) -> asyncio.Task[None]:
    """The look in which something is being done now."""
    looking = asyncio.create_task(services.background_runner.run_next_task())

    async def runs() -> bool:
        return services.background_runner.running_task is not None and bool(await kept_runs(services))

    await until(runs)
    return looking


# when


async def test_a_user_of_whom_nobody_tells_counts_as_here(services: AppServices, clock: Clock):
    task = await employ(services, Scripted(nothing))
    clock.go_on(days=3)

    await services.background_runner.run_next_task()

    assert not task.began


async def test_words_in_the_writing_field_keep_everything_waiting(services: AppServices, clock: Clock):
    task = await employ(services, Scripted(nothing))
    services.idleness.start_watching()
    services.idleness.set_composing(has_text=True)
    clock.go_on(hours=3)

    await services.background_runner.run_next_task()
    services.idleness.set_composing(has_text=False)
    clock.go_on(minutes=16)
    was_done = task.began
    await services.background_runner.run_next_task()

    assert (was_done, task.began) == (0, 1)


async def test_a_draft_left_for_the_night_keeps_nothing_waiting(services: AppServices, clock: Clock):
    task = await employ(services, Scripted(nothing))
    services.idleness.start_watching()
    services.idleness.set_composing(has_text=True)
    clock.go_on(hours=6)

    await services.background_runner.run_next_task()

    assert task.began == 1


async def test_what_found_nothing_is_not_tried_again_before_its_time(services: AppServices, clock: Clock):
    task = await employ(services, Scripted(nothing))
    leave(services, clock)

    for _look in range(11):
        await services.background_runner.run_next_task()
        clock.go_on(minutes=30)
    before = task.began
    clock.go_on(hours=1)
    await services.background_runner.run_next_task()

    assert (before, task.began) == (1, 2)


async def test_a_task_that_sees_nothing_leaves_no_record_and_is_asked_again_later(services: AppServices, clock: Clock):
    task = Scripted(nothing)
    task.sees = False
    await employ(services, task)
    await leave_and_run(services, clock)

    task.sees = True
    await services.background_runner.run_next_task()
    at_once = task.began
    clock.go_on(minutes=6)
    await services.background_runner.run_next_task()

    assert (at_once, task.began) == (0, 1)
    assert len(await kept_runs(services)) == 1


@pytest.mark.parametrize(
    ("settings", "away", "why"),
    [
        ({}, 14, PauseReason.HERE),
        ({"agents": False}, 20, PauseReason.OFF),
        ({"agent_quiet_from": "11:00", "agent_quiet_until": "14:00"}, 20, PauseReason.QUIET),
    ],
)
async def test_nothing_is_done_while_the_user_is_here_or_forbids_it(
    services: AppServices, clock: Clock, settings: dict[str, object], away: int, why: PauseReason
):
    task = await employ(services, Scripted(nothing))
    await services.preferences.set(**settings)

    await leave_and_run(services, clock, timedelta(minutes=away))

    assert services.background_runner.pause_reason is why
    assert not task.began


async def test_on_a_battery_nothing_is_begun_unless_it_is_allowed(
    services: AppServices, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    task = await employ(services, Scripted(nothing))
    monkeypatch.setattr(psutil, "sensors_battery", lambda: SimpleNamespace(power_plugged=False), raising=False)
    await leave_and_run(services, clock)
    before = task.began

    await services.preferences.set(agent_on_battery=True)
    await services.background_runner.run_next_task()

    assert (before, task.began) == (0, 1)


async def test_a_task_that_is_off_or_of_a_persona_that_is_not_busy_is_not_done(services: AppServices, clock: Clock):
    task = await employ(services, Scripted(nothing))
    leave(services, clock)

    await services.preferences.set(tasks_off=["something"])
    await services.background_runner.run_next_task()
    await services.preferences.set(tasks_off=[])
    await change_persona(services, MIRA, agent_mode=False)
    await services.background_runner.run_next_task()

    assert not task.began


async def test_without_a_model_that_may_be_trusted_it_waits(services: AppServices, clock: Clock, echo_model, tmp_path: Path):
    task = await employ(services, Scripted(nothing, "something", TaskRequirement.MODEL))
    leave(services, clock)
    await services.models.load(echo_model("Hello."))
    await services.background_runner.run_next_task()
    before = task.began

    await trusted(services, tmp_path / "echo.json")
    await services.background_runner.run_next_task()

    assert (before, task.began) == (0, 1)


async def test_a_persona_that_changes_while_all_are_read_is_read_again(
    services: AppServices, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    task, read = Scripted(nothing), services.library.personas

    async def change_meanwhile() -> list[Persona]:
        found = await read()
        monkeypatch.setattr(services.library, "personas", read)
        await employ(services, task)
        return found

    monkeypatch.setattr(services.library, "personas", change_meanwhile)
    await leave_and_run(services, clock)
    await services.background_runner.run_next_task()

    assert task.ended == 1


async def test_two_personas_take_turns(services: AppServices, clock: Clock):
    order: list[str] = []

    async def note(scene: TaskContext) -> TaskResult:
        order.append(scene.persona.name)
        return NOTHING

    first, second = Scripted(note, "first"), Scripted(note, "second")
    await employ(services, first, second)
    mira = await services.library.persona(MIRA)
    await services.library.save_persona(mira.model_copy(update={"unique_name": "", "name": "Anna"}))
    leave(services, clock)

    for _look in range(4):
        await services.background_runner.run_next_task()
        clock.go_on(seconds=5)

    assert sorted(order[:2]) == ["Anna", "Mira"]
    assert sorted(order[2:]) == ["Anna", "Mira"]


# what it costs


async def test_tokens_are_counted_with_the_run(services: AppServices, clock: Clock, tmp_path: Path):
    await employ(services, Scripted(ask_for_a_title, "something", TaskRequirement.MODEL))
    await trusted(services, tmp_path / "echo.json", answers=[{}, TITLE])  # the first answer is useless, and costs all the same

    await leave_and_run(services, clock)

    run = await newest(services)
    assert run.summary == "It is called The green boat."
    assert run.tokens > 100
    assert (await services.background_runner.usage_today(MIRA)).tokens == run.tokens


async def test_when_the_tokens_of_the_day_are_used_up_it_goes_on_tomorrow(services: AppServices, clock: Clock, tmp_path: Path):
    async def twice(scene: TaskContext) -> TaskResult:
        await ask_for_a_title(scene)
        return await ask_for_a_title(scene)

    task = await employ(services, Scripted(twice, "something", TaskRequirement.MODEL))
    await trusted(services, tmp_path / "echo.json", answers=[TITLE] * 8)
    await services.preferences.set(agent_day_tokens=10)
    leave(services, clock)

    await services.background_runner.run_next_task()
    run = await newest(services)
    clock.go_on(hours=2)
    await services.background_runner.run_next_task()
    that_day = task.began
    clock.go_on(hours=20)
    await services.background_runner.run_next_task()

    assert run.outcome is RunOutcome.GAVE_WAY
    assert "used up" in run.trouble
    assert (that_day, task.began) == (1, 2)


# how it ends


async def test_a_user_who_comes_back_while_it_is_looked_for_something_to_do_is_noticed(services: AppServices, clock: Clock):
    class Slow(Scripted):
        async def observe(self, view: object) -> bool:
            services.idleness.record_action()
            return True

    task = Slow(nothing)
    await employ(services, task)
    await leave_and_run(services, clock)

    assert not task.began
    assert not await kept_runs(services)


async def test_the_user_may_stop_it(services: AppServices, clock: Clock):
    task = await employ(services, Scripted(for_ever))
    leave(services, clock)
    looking = await underway(services)
    assert (services.background_runner.running_task.persona, services.background_runner.running_task.step) == (
        "Mira",
        "Waiting for the tide",
    )

    services.activity_log.stop()
    await looking
    clock.go_on(hours=1)
    await services.background_runner.run_next_task()

    assert (await newest(services)).outcome is RunOutcome.STOPPED
    assert task.began == 1


async def test_closing_the_services_ends_it_and_leaves_a_record(services: AppServices, clock: Clock):
    await employ(services, Scripted(for_ever))
    leave(services, clock)
    services.background_runner.background.start()
    await until(lambda: kept_runs(services))
    await services.background_runner.background.close()

    assert (await newest(services)).outcome is RunOutcome.GAVE_WAY


async def test_a_failure_is_told_in_one_sentence_and_tried_again_after_a_while(services: AppServices, clock: Clock):
    async def fail(_scene: TaskContext) -> TaskResult:
        raise LetheError("The well is dry.")

    task = await employ(services, Scripted(fail))
    leave(services, clock)

    await services.background_runner.run_next_task()
    clock.go_on(minutes=9)
    await services.background_runner.run_next_task()
    before = task.began
    clock.go_on(minutes=2)
    await services.background_runner.run_next_task()
    clock.go_on(minutes=11)
    await services.background_runner.run_next_task()

    assert (await newest(services)).trouble == "The well is dry."
    assert (before, task.began) == (1, 2), "the second rest is longer than the first"


async def test_a_fault_in_its_code_harms_nobody_and_is_logged_without_what_was_said(
    services: AppServices, clock: Clock, quiet_log: Silence
):
    async def break_down(_scene: TaskContext) -> TaskResult:
        raise KeyError("what Tomas said")

    await employ(services, Scripted(break_down))
    await leave_and_run(services, clock)

    assert "KeyError" in (await newest(services)).trouble
    (record,) = quiet_log.records
    assert "KeyError" in record.getMessage()
    assert "Tomas" not in record.getMessage()
    quiet_log.records.clear()


async def test_a_task_that_returns_nonsense_has_failed(services: AppServices, clock: Clock):
    async def nonsense(_scene: TaskContext) -> TaskResult:
        return "done"  # type: ignore[return-value] - that is the point

    await employ(services, Scripted(nonsense))
    await leave_and_run(services, clock)

    assert (await newest(services)).outcome is RunOutcome.FAILED


@pytest.mark.parametrize("is_overdue", [False, True], ids=["the user comes back", "its time is over"])
async def test_a_task_that_will_not_end_is_left_alone_with_empty_hands(
    services: AppServices, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, is_overdue: bool
):
    monkeypatch.setattr(runner, "GRACE", 0.05)
    if is_overdue:
        monkeypatch.setattr(runtime, "MAX_RUN_SECONDS", 0.2)
    refused: list[str] = []
    may_end = asyncio.Event()

    async def stubborn(scene: TaskContext) -> TaskResult:
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                continue
        try:
            await scene.leave_note("I am still here.")
        except LetheError as error:
            refused.append(error.message)
        return TaskResult("Did it all the same.")

    await employ(services, Scripted(stubborn))
    leave(services, clock)
    looking = await underway(services)
    if not is_overdue:
        services.idleness.record_action()
    try:
        await asyncio.wait_for(asyncio.shield(looking), 5)
    finally:
        may_end.set()
    await asyncio.sleep(0.05)

    (run,) = await kept_runs(services)
    assert (run.outcome, run.trouble) == (RunOutcome.GAVE_WAY, DID_NOT_STOP)
    assert refused == ["This run has already ended."]


async def test_a_task_stopped_before_its_first_step_was_stopped_by_the_user(services: AppServices, clock: Clock):
    begun: list[bool] = []

    async def begin(_scene: TaskContext) -> TaskResult:
        begun.append(True)
        return TaskResult("Did it all the same.")

    def stop_at_once(_none: None) -> None:
        if services.background_runner.running_task is not None:
            services.activity_log.stop()

    await employ(services, Scripted(begin))
    services.background_runner.changed.add(stop_at_once)
    await leave_and_run(services, clock)

    (run,) = await kept_runs(services)
    assert (run.outcome, run.trouble, begun) == (RunOutcome.STOPPED, "", [])


async def test_a_plugin_that_fails_three_times_in_a_row_is_switched_off_and_told(services: AppServices, clock: Clock):
    async def fail(_scene: TaskContext) -> TaskResult:
        raise LetheError("The well is dry.")

    reported: list[str] = []
    services.background_runner.notices.add(reported.append)
    task = Scripted(fail)
    await employ(services, task, plugin="lethe-wells")
    leave(services, clock)

    for _look in range(6):
        await services.background_runner.run_next_task()
        clock.go_on(hours=2)

    assert task.began == 3
    assert services.preferences.current.tasks_off == ["something"]
    assert reported == ["“A little something” failed 3 times in a row and was switched off. The well is dry."]


# by the user's wish


async def test_the_user_may_have_it_done_now_and_touching_a_key_does_not_end_it(services: AppServices, clock: Clock):
    go = asyncio.Event()

    async def wait(_scene: TaskContext) -> TaskResult:
        await go.wait()
        return TaskResult("Done.")

    await employ(services, Scripted(wait))
    services.idleness.start_watching()
    services.background_runner.request_run(MIRA, "something")
    looking = await underway(services)

    services.idleness.record_action()
    go.set()
    await looking

    assert (await newest(services)).outcome is RunOutcome.MADE


async def test_asked_for_with_nothing_to_do_it_says_so(services: AppServices, clock: Clock):
    task = Scripted(nothing)
    task.sees = False
    await employ(services, task)

    services.background_runner.request_run(MIRA, "something")
    await services.background_runner.run_next_task()

    run = await newest(services)
    assert (run.outcome, run.summary) == (RunOutcome.NOTHING, "There was nothing to do.")


async def test_what_cannot_be_done_now_is_refused_with_the_reason(services: AppServices):
    await employ(services, Scripted(nothing, "something", TaskRequirement.MODEL))

    with pytest.raises(LetheError, match="cannot run now"):
        services.background_runner.request_run(MIRA, "something")
    with pytest.raises(LetheError, match="no task"):
        services.background_runner.request_run(MIRA, "nothing like it")
