"""Tasks that misbehave and clocks that are put right: whatever happens, it goes on the next time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from lethe_app.agents import runtime
from lethe_app.agents.task import TaskContext, TaskResult, TaskView
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.errors import StorageError
from lethe_app.services.background import runner
from lethe_app.services.scheduling.loop import BackgroundLoop
from tests.conftest import Silence
from tests.services.tasks import Clock, Scripted, employ, kept_runs, leave, leave_and_run, newest, nothing
from tests.services.turns import until


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner looks for the next task at once, not every five seconds."""
    monkeypatch.setattr(runner, "CHECK_INTERVAL", 0.05)


class Panic(BaseException):
    """As libraries of other languages raise it."""


def of_itself() -> Exception:
    return asyncio.CancelledError()  # type: ignore[return-value] - no Exception, which is the point


TROUBLES = [SystemExit("good night"), of_itself(), Panic("deep below")]
NAMES = ["SystemExit", "CancelledError", "Panic"]


# code of others


class Broken(Scripted):
    """Raises this when it looks for work, or when it works."""

    def __init__(self, trouble: BaseException, *, sees: bool) -> None:
        super().__init__(self.break_down)
        self.trouble, self.sees = trouble, sees

    async def break_down(self, _scene: TaskContext) -> TaskResult:
        raise self.trouble

    async def observe(self, view: TaskView) -> bool:
        if not self.sees:
            raise self.trouble
        return True


@pytest.mark.parametrize("sees", [True, False], ids=["at work", "when it looks"])
@pytest.mark.parametrize("trouble", TROUBLES, ids=NAMES)
async def test_whatever_a_task_raises_only_the_task_has_failed(
    services: AppServices, clock: Clock, quiet_log: Silence, trouble: BaseException, *, sees: bool
):
    await employ(services, Broken(trouble, sees=sees), plugin="lethe-wells")
    leave(services, clock)
    services.background_runner.background.start()
    await until(lambda: _has_ended(services))

    run = await newest(services)
    assert run.outcome is RunOutcome.FAILED
    assert type(trouble).__name__ in run.trouble
    assert await _still_looks(services, clock)
    quiet_log.records.clear()


async def test_a_task_that_never_ends_looking_holds_nobody_up(
    services: AppServices, clock: Clock, quiet_log: Silence, monkeypatch: pytest.MonkeyPatch
):
    class Dreamer(Scripted):
        async def observe(self, view: TaskView) -> bool:
            return await asyncio.Event().wait()

    monkeypatch.setattr(runtime, "MAX_OBSERVE_SECONDS", 0.05)
    await employ(services, Dreamer(nothing), plugin="lethe-wells")
    await leave_and_run(services, clock)

    run = await newest(services)
    assert (run.outcome, run.trouble) == (RunOutcome.FAILED, runtime.OBSERVE_TIMED_OUT)
    quiet_log.records.clear()


async def test_a_full_disk_is_no_failure_of_the_task_and_is_not_tried_at_once_again(
    services: AppServices, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    async def fail(_run: TaskRun) -> None:
        raise StorageError("The disk is full.")

    await employ(services, Scripted(nothing), plugin="lethe-wells")
    leave(services, clock)
    monkeypatch.setattr(services.task_runs, "save_run", fail)
    for _look in range(runner.MAX_FAILURES):
        with pytest.raises(StorageError, match="full"):  # and so the loop waits
            await services.background_runner.run_next_task()

    assert services.preferences.current.tasks_off == []


async def test_a_run_that_could_not_be_stored_at_first_is_no_failure_of_the_task(
    services: AppServices, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    save, failures = services.task_runs.save_run, 0

    async def fail_at_first(run: TaskRun) -> None:
        nonlocal failures
        if run.outcome is None:
            failures += 1
            raise StorageError("The disk is full.")
        await save(run)

    await employ(services, Scripted(nothing), plugin="lethe-wells")
    leave(services, clock)
    monkeypatch.setattr(services.task_runs, "save_run", fail_at_first)
    for _look in range(runner.MAX_FAILURES):
        with pytest.raises(StorageError, match="full"):
            await services.background_runner.run_next_task()
        clock.go_on(days=1)

    assert failures == runner.MAX_FAILURES
    assert services.preferences.current.tasks_off == []


async def test_a_plug_in_whose_records_cannot_be_stored_again_and_again_is_switched_off(services: AppServices, clock: Clock):
    async def restore_what_is_gone(_context: object) -> TaskResult:
        raise StorageError("This memory is no longer in the Trash.")

    await employ(services, Scripted(restore_what_is_gone), plugin="lethe-wells")
    leave(services, clock)
    for _look in range(runner.MAX_FAILURES):
        await services.background_runner.run_next_task()
        clock.go_on(days=1)

    assert services.preferences.current.tasks_off == ["something"]


async def test_a_fault_of_ours_is_logged_and_does_not_end_the_work_behind_for_good(quiet_log: Silence):
    worked = 0

    async def work() -> None:
        nonlocal worked
        worked += 1
        if worked == 1:
            raise KeyError("what Tomas said")

    behind = BackgroundLoop(work, 0.01)
    behind.start()
    await until(lambda: worked >= 3)
    await behind.close()

    (record,) = quiet_log.records
    assert "KeyError" in record.getMessage()
    assert "Tomas" not in record.getMessage()
    quiet_log.records.clear()


@pytest.mark.parametrize("steps", range(5))
async def test_a_loop_that_is_woken_as_it_is_closed_ends(steps: int):
    async def work() -> None:
        pass

    behind = BackgroundLoop(work, 60)
    behind.start()
    await asyncio.sleep(0.01)
    behind.wake()
    for _step in range(steps):
        await asyncio.sleep(0)

    async with asyncio.timeout(5):
        await behind.close()


async def _has_ended(services: AppServices) -> bool:
    return any(run.outcome is not None for run in await kept_runs(services))


async def _still_looks(services: AppServices, clock: Clock) -> bool:
    """Is something else done afterwards by the same loop?"""
    other = Scripted(nothing, "another")
    await employ(services, other)
    clock.go_on(hours=1)
    await until(lambda: other.ended == 1)
    return True


# clocks


async def test_after_a_clock_went_ahead_by_years_and_was_put_right_everything_is_done_at_its_pace(
    services: AppServices, clock: Clock
):
    task = await employ(services, Scripted(nothing))
    leave(services, clock, timedelta(days=1500))
    await services.background_runner.run_next_task()

    clock.go_on(days=-1500)
    services.idleness.record_action()
    for _hour in range(13):
        clock.go_on(hours=1)
        await services.background_runner.run_next_task()

    assert task.began == 1 + 3, "at once, and then every six hours"


async def test_what_was_spent_at_a_date_that_has_not_come_is_not_spent_today(services: AppServices, clock: Clock):
    await services.preferences.set(agent_day_tokens=100)
    task = await employ(services, Scripted(nothing))
    leave(services, clock, timedelta(days=400))
    await services.background_runner.run_next_task()
    run = await newest(services)
    await services.task_runs.save_run(run.model_copy(update={"tokens": 1000}))

    clock.go_on(days=-399)
    await services.background_runner.run_next_task()

    assert task.began == 2


async def test_a_clock_that_is_put_back_by_a_little_repeats_nothing(services: AppServices, clock: Clock):
    task = await employ(services, Scripted(nothing))
    await leave_and_run(services, clock)

    clock.go_on(minutes=-10)
    await services.preferences.set(agent_on_battery=True)  # after a change of settings all is reckoned anew
    await services.background_runner.run_next_task()

    assert task.began == 1
