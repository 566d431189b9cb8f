"""Selection of due tasks, and execution of their code, which may be that of a plug-in and fail in any way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import TypeVar

from lethe_app.agents.budget import CLOCK_TOLERANCE, BudgetSpent, DailyBudget
from lethe_app.agents.registry import RegisteredTask, Registry
from lethe_app.agents.schedule import end_of, interval_of, is_quiet_hour, next_due_time
from lethe_app.agents.task import AgentTask, TaskContext, TaskRequirement, TaskResult, TaskView
from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import PlannedTask, RunOutcome, TaskRun
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.storage.agents.task_runs import TaskRuns

RECHECK_INTERVAL = timedelta(minutes=5)
"""Pause after a task found nothing to do."""
MAX_RUNS_READ = 20
"""Number of newest runs from which the next due time is computed; more failures in a row make no difference."""
MAX_RUN_SECONDS = 3600.0
"""Maximum duration of a run in seconds, however much of the day's budget is left."""
MAX_OBSERVE_SECONDS = 60.0
"""Maximum duration of `observe` in seconds."""
CLOCK_CORRECTION = timedelta(minutes=1)
"""If the clock goes back by more than this, it was corrected, and due times are computed again."""
OBSERVE_TIMED_OUT = "The check for new work took too long."
OUT_OF_TIME = "The daily time limit is used up; the task continues another day."
T = TypeVar("T")
LOG = logging.getLogger(__name__)


class PauseReason(StrEnum):
    """Reason why no task is started at present, for any persona."""

    OFF = "off"
    HERE = "here"
    """The user has not been idle long enough."""
    QUIET = "quiet"
    """It is within the quiet hours."""
    BATTERY = "battery"


@dataclass(frozen=True)
class DueTask:
    """Task of a persona that is due."""

    persona: Persona
    registered: RegisteredTask

    @property
    def key(self) -> tuple[str, str]:
        return self.persona.unique_name, self.registered.name


class Runtime:
    """Schedule tasks. It caches when each task is due next, so that an idle hour costs next to nothing."""

    def __init__(
        self,
        registry: Registry,
        runs: TaskRuns,
        settings: Callable[[], Settings],
        is_requirement_met: Callable[[TaskRequirement], bool],
        budget: DailyBudget,
        is_on_battery: Callable[[], bool],
    ) -> None:
        """Create the runtime. `is_requirement_met` checks a requirement, `is_on_battery` the computer's power supply."""
        self.registry = registry
        self._runs = runs
        self._settings = settings
        self._is_requirement_met = is_requirement_met
        self.budget = budget
        self._on_battery = is_on_battery
        self._not_before: dict[tuple[str, str], datetime] = {}
        self._last_run_times: dict[tuple[str, str], datetime] = {}
        """Time of the last run of each task, by persona id and task name."""
        self._latest_moment: datetime | None = None

    def find_pause_reason(self, moment: datetime, idle: timedelta | None) -> PauseReason | None:
        """Return what prevents starting a task. `idle` is how long the user has been away, None if unknown."""
        settings = self._settings()
        if not settings.agents:
            return PauseReason.OFF
        if idle is None or idle < timedelta(minutes=settings.agent_idle_minutes):
            return PauseReason.HERE
        if is_quiet_hour(moment, settings.agent_quiet_from, settings.agent_quiet_until):
            return PauseReason.QUIET
        return PauseReason.BATTERY if not settings.agent_on_battery and self._on_battery() else None

    def reset_due_times(self) -> None:
        """Discard the cached due times, because something changed that affects them."""
        self._not_before.clear()

    async def list_due(self, personas: Iterable[Persona], moment: datetime) -> list[DueTask]:
        """Return the tasks that are due, in turn: first the persona that waited longest, and within it the task that waited
        longest.
        """
        settings, due_tasks = self._settings(), []
        if self._latest_moment is not None and moment < self._latest_moment - CLOCK_CORRECTION:
            self.reset_due_times()  # due times computed from a wrong clock may lie years ahead
        self._latest_moment = moment
        for persona in personas:
            candidates = [DueTask(persona, registered) for registered in self.registry.tasks_of(persona, settings.tasks_off)]
            candidates = [
                candidate
                for candidate in candidates
                if self.missing_requirement(candidate.registered) is None and await self._is_due(candidate, settings, moment)
            ]
            if candidates and await self.budget.can_start_run(persona.unique_name, moment):
                due_tasks += candidates
        return sort_by_last_run(due_tasks, self._last_run_times)

    async def plan_tasks(self, persona: Persona, moment: datetime) -> list[PlannedTask]:
        """Return the tasks of a persona, those due first; if its background activity is off, those that would run."""
        settings, enabled = self._settings(), persona.model_copy(update={"agent_mode": True})
        tasks = [DueTask(persona, registered) for registered in self.registry.tasks_of(enabled, settings.tasks_off)]
        planned = [await self._plan_task(task, settings, moment) for task in tasks]
        return sorted(planned, key=lambda one: (bool(one.missing), one.due or moment))

    async def _plan_task(self, due_task: DueTask, settings: Settings, moment: datetime) -> PlannedTask:
        task = due_task.registered.task
        runs = await self._newest_runs(due_task, moment)
        due = next_due_time(runs, interval_of(task.name, task.every, settings.agent_hours), moment)
        made = [run for run in runs if run.outcome is RunOutcome.MADE]
        return PlannedTask(
            task.name,
            task.title,
            task.help,
            due if due is not None and due > moment else None,
            self.missing_requirement(due_task.registered) or "",
            sum(run.tokens for run in made) // max(len(made), 1),
            sum((end_of(run) - run.began for run in made), timedelta()) / max(len(made), 1),
        )

    def missing_requirement(self, registered: RegisteredTask) -> TaskRequirement | None:
        """Return the first requirement of a task that is not met; None if all are."""
        return next((need for need in sorted(registered.task.needs) if not self._is_requirement_met(need)), None)

    def postpone(self, due_task: DueTask, moment: datetime) -> None:
        """Do not observe this task again for `RECHECK_INTERVAL`."""
        self._not_before[due_task.key] = moment + RECHECK_INTERVAL

    async def last_run(self, due_task: DueTask, moment: datetime) -> TaskRun | None:
        """Return the newest completed run (MADE or NOTHING)."""
        runs = await self._newest_runs(due_task, moment)
        return next((run for run in runs if run.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}), None)

    async def remaining_budget(self, persona_id: str, moment: datetime) -> tuple[int | None, float]:
        """Return how many tokens (None: any number) and how many seconds a run of a persona may use."""
        limit, used = self.budget.limit, await self.budget.usage_today(persona_id, moment)
        seconds = limit.minutes * 60 - used.time.total_seconds() if limit.minutes else MAX_RUN_SECONDS
        return limit.tokens - used.tokens if limit.tokens else None, min(max(seconds, 0.0), MAX_RUN_SECONDS)

    def record_run(self, run: TaskRun) -> None:
        """Take note of a run, and discard the cached due time of its task."""
        self._last_run_times[run.persona_id, run.task] = run.began
        self._not_before.pop((run.persona_id, run.task), None)

    async def _newest_runs(self, due_task: DueTask, moment: datetime) -> list[TaskRun]:
        return await self._runs.runs_of(*due_task.key, limit=MAX_RUNS_READ, before=moment + CLOCK_TOLERANCE)

    async def _is_due(self, due_task: DueTask, settings: Settings, moment: datetime) -> bool:
        if due_task.key not in self._not_before:
            runs = await self._newest_runs(due_task, moment)
            if runs:
                self._last_run_times.setdefault(due_task.key, end_of(runs[0]))
            task = due_task.registered.task
            due_at = next_due_time(runs, interval_of(task.name, task.every, settings.agent_hours), moment)
            self._not_before[due_task.key] = due_at or moment
        return self._not_before[due_task.key] <= moment


def sort_by_last_run(due_tasks: Sequence[DueTask], last_run_times: dict[tuple[str, str], datetime]) -> list[DueTask]:
    """Sort due tasks: the persona and the task that were served longest ago first; those never served before all others."""
    persona_times: dict[str, float] = {}
    for (persona, _task), moment in last_run_times.items():
        persona_times[persona] = max(persona_times.get(persona, 0.0), moment.timestamp())
    task_times = {key: moment.timestamp() for key, moment in last_run_times.items()}
    return sorted(due_tasks, key=lambda due_task: (persona_times.get(due_task.key[0], 0.0), task_times.get(due_task.key, 0.0)))


async def has_work(task: AgentTask, view: TaskView) -> bool:
    """Return whether the task's `observe` found something to do. Raise LetheError if it fails, whatever it raises."""
    return bool(await _run_guarded(task, partial(task.observe, view), MAX_OBSERVE_SECONDS, LetheError(OBSERVE_TIMED_OUT)))


async def execute_task(task: AgentTask, context: TaskContext, seconds: float) -> TaskResult:
    """Execute a task. Raise LetheError if it fails, whatever it raises, and BudgetSpent when `seconds`, the rest of the day's
    budget, are over.
    """
    is_limited = seconds < MAX_RUN_SECONDS
    error = BudgetSpent(OUT_OF_TIME) if is_limited else LetheError("The task took longer than an hour.")
    result: object = await _run_guarded(task, partial(task.execute, context), seconds, error)
    if not isinstance(result, TaskResult):
        raise LetheError("The task ended without a result.")
    return result


async def _run_guarded(task: AgentTask, work: Callable[[], Awaitable[T]], seconds: float, timeout_error: LetheError) -> T:
    """Return the result of code of a task. Raise LetheError if it fails, and `timeout_error` after `seconds`."""
    try:
        async with asyncio.timeout(seconds) as timeout:
            return await work()
    except LetheError:
        raise
    except BaseException as error:
        if _must_propagate(error):
            raise
        if isinstance(error, TimeoutError) and timeout.expired():
            raise timeout_error from error
        raise LetheError(_describe_failure(task, error)) from error


def _must_propagate(error: BaseException) -> bool:
    """Return whether an error must end the runtime too. If a task raises SystemExit, or CancelledError without having been
    cancelled, only the task has failed.
    """
    current = asyncio.current_task()
    is_cancelled = current is not None and current.cancelling() > 0
    return is_cancelled if isinstance(error, asyncio.CancelledError) else isinstance(error, KeyboardInterrupt | GeneratorExit)


def _describe_failure(task: AgentTask, error: BaseException) -> str:
    """Return one sentence about an error in a task's own code. For the author, log the position of the error, without its
    message, which may contain words of a conversation.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    position = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "nowhere"
    LOG.warning("The task “%s” failed with %s at %s", task.name, type(error).__name__, position)
    detail = " ".join(str(error).split())[:200]
    return f"The task failed: {type(error).__name__}{f' ({detail})' if detail else ''}."
