"""Select the next due task of a persona, and run it so that every run is recorded, whatever happens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from lethe_app.agents.budget import AHEAD, BudgetSpent, DailyBudget
from lethe_app.agents.registry import RegisteredTask, Registry
from lethe_app.agents.run_recorder import RunRecorder
from lethe_app.agents.schedule import due, end_of, is_quiet_hour, pace_of
from lethe_app.agents.task import AgentTask, Need, Result, Sight, TaskContext
from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.storage.agents.task_runs import TaskRuns

LOOK_AGAIN = timedelta(minutes=5)
"""Pause after a task found nothing to do."""
NEWEST = 20
"""Number of newest runs from which the next due time is computed; more failures in a row make no difference."""
LONGEST = 3600.0
"""Maximum duration of a run in seconds, however much of the day's budget is left."""
LONGEST_LOOK = 60.0
"""Maximum duration of `observe` in seconds."""
STEP = timedelta(minutes=1)
"""If the clock goes back by more than this, it was corrected, and due times are computed again."""
TOO_LONG_A_LOOK = "The check for new work took too long."
LOG = logging.getLogger(__name__)


class Hindrance(StrEnum):
    """Reason why no task is started at present, for any persona."""

    OFF = "off"
    HERE = "here"
    """The user has not been idle long enough."""
    QUIET = "quiet"
    """It is within the quiet hours."""
    BATTERY = "battery"


@dataclass(frozen=True)
class Due:
    """Task of a persona that is due."""

    persona: Persona
    known: RegisteredTask

    @property
    def key(self) -> tuple[str, str]:
        return self.persona.unique_name, self.known.name


def hindrance(settings: Settings, moment: datetime, idle: timedelta | None, on_battery: Callable[[], bool]) -> Hindrance | None:
    """Return what prevents starting a task. `idle` is how long the user has been away, None if unknown."""
    if not settings.agents:
        return Hindrance.OFF
    if idle is None or idle < timedelta(minutes=settings.agent_idle_minutes):
        return Hindrance.HERE
    if is_quiet_hour(moment, settings.agent_quiet_from, settings.agent_quiet_until):
        return Hindrance.QUIET
    return Hindrance.BATTERY if not settings.agent_on_battery and on_battery() else None


class Runtime:
    """Schedule tasks. It caches when each task is due next, so that an idle hour costs next to nothing."""

    def __init__(
        self,
        registry: Registry,
        runs: TaskRuns,
        settings: Callable[[], Settings],
        provides: Callable[[Need], bool],
        budget: DailyBudget,
    ) -> None:
        """Create the runtime. `provides` returns whether a requirement is met."""
        self.registry = registry
        self._runs = runs
        self._settings = settings
        self._provides = provides
        self.budget = budget
        self._not_before: dict[tuple[str, str], datetime] = {}
        self._served: dict[tuple[str, str], datetime] = {}
        """Time of the last run of each task, by persona id and task name."""
        self._latest: datetime | None = None

    def look_anew(self) -> None:
        """Discard the cached due times, because something changed that affects them."""
        self._not_before.clear()

    async def due(self, personas: Iterable[Persona], moment: datetime) -> list[Due]:
        """Return the tasks that are due, in turn: first the persona that waited longest, and within it the task that waited
        longest.
        """
        settings, ready = self._settings(), []
        if self._latest is not None and moment < self._latest - STEP:
            self.look_anew()  # what was reckoned by a clock that was wrong might be due in years
        self._latest = moment
        for persona in personas:
            waiting = [Due(persona, known) for known in self.registry.tasks_of(persona, settings.tasks_off)]
            waiting = [one for one in waiting if self.lacks(one.known) is None and await self._is_time(one, settings, moment)]
            if waiting and await self.budget.is_left(persona.unique_name, moment):
                ready += waiting
        return in_turn(ready, self._served)

    def lacks(self, known: RegisteredTask) -> Need | None:
        """Return the first requirement of a task that is not met; None if all are."""
        return next((need for need in sorted(known.task.needs) if not self._provides(need)), None)

    def saw_nothing(self, one: Due, moment: datetime) -> None:
        """Do not observe this task again for `LOOK_AGAIN`."""
        self._not_before[one.key] = moment + LOOK_AGAIN

    async def last_run(self, one: Due, moment: datetime) -> TaskRun | None:
        """Return the newest completed run (MADE or NOTHING)."""
        runs = await self._runs.runs_of(*one.key, limit=NEWEST, before=moment + AHEAD)
        return next((run for run in runs if run.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}), None)

    async def ledger(self, one: Due, moment: datetime, *, is_asked: bool) -> RunRecorder:
        """Return the recorder of a run that is about to begin. A run that the user requested has no token limit."""
        self._served[one.key] = moment
        run = TaskRun(persona_id=one.persona.unique_name, task=one.known.name, began=moment)
        limit = self.budget.limit
        if is_asked or not limit.tokens:
            return RunRecorder(self._runs, run)
        left = limit.tokens - (await self.budget.spent_today(one.persona.unique_name, moment)).tokens
        return RunRecorder(self._runs, run, lambda tokens: tokens < left)

    async def time_left(self, one: Due, moment: datetime) -> float:
        """Return the number of seconds that a run may take."""
        limit = self.budget.limit
        if not limit.minutes:
            return LONGEST
        used = (await self.budget.spent_today(one.persona.unique_name, moment)).time
        return min(max(limit.minutes * 60 - used.total_seconds(), 0.0), LONGEST)

    def has_ended(self, run: TaskRun) -> None:
        """Discard the cached due time of the run's task."""
        self._not_before.pop((run.persona_id, run.task), None)

    async def _is_time(self, one: Due, settings: Settings, moment: datetime) -> bool:
        if one.key not in self._not_before:
            runs = await self._runs.runs_of(*one.key, limit=NEWEST, before=moment + AHEAD)
            if runs:
                self._served.setdefault(one.key, end_of(runs[0]))
            task = one.known.task
            wanted = due(runs, pace_of(task.name, task.every, settings.agent_hours), moment)
            self._not_before[one.key] = wanted or moment
        return self._not_before[one.key] <= moment


def in_turn(waiting: Sequence[Due], served: dict[tuple[str, str], datetime]) -> list[Due]:
    """Sort due tasks: the persona and the task that were served longest ago first; those never served before all others."""
    of_persona: dict[str, float] = {}
    for (persona, _task), moment in served.items():
        of_persona[persona] = max(of_persona.get(persona, 0.0), moment.timestamp())
    of_task = {key: moment.timestamp() for key, moment in served.items()}
    return sorted(waiting, key=lambda one: (of_persona.get(one.key[0], 0.0), of_task.get(one.key, 0.0)))


async def sees_something(task: AgentTask, sight: Sight) -> bool:
    """Return whether the task's `observe` found something to do. Raise LetheError if it fails, whatever it raises."""
    try:
        async with asyncio.timeout(LONGEST_LOOK) as limit:
            return bool(await task.observe(sight))
    except LetheError:
        raise
    except BaseException as error:
        if _is_for_us(error):
            raise
        is_late = isinstance(error, TimeoutError) and limit.expired()
        raise LetheError(TOO_LONG_A_LOOK if is_late else _broken(task, error)) from error


async def attempt(
    task: AgentTask, scene: TaskContext, ledger: RunRecorder, seconds: float, cut_off: Callable[[], RunOutcome]
) -> TaskRun:
    """Execute one run and record its beginning and its end. If it is cancelled, `cut_off` returns the outcome."""
    try:
        await ledger.open()
        async with asyncio.timeout(seconds) as limit:
            result: object = await task.execute(scene)
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_for_us(error):
            return await ledger.close(cut_off())
        if _is_for_us(error):
            raise
        is_late = isinstance(error, TimeoutError) and limit.expired()
        outcome, trouble = _too_long(seconds) if is_late else _went_wrong(task, error)
        return await ledger.close(outcome, trouble=trouble)
    if not isinstance(result, Result):
        return await ledger.close(RunOutcome.FAILED, trouble="The task ended without a result.")
    return await ledger.close(result.outcome, result.summary, made=result.made)


def _too_long(seconds: float) -> tuple[RunOutcome, str]:
    if seconds >= LONGEST:
        return RunOutcome.FAILED, "The task took longer than an hour."
    return RunOutcome.GAVE_WAY, "The daily time limit is used up; the task continues another day."


def _is_for_us(error: BaseException) -> bool:
    """Return whether an error must end the runtime too. If a task raises SystemExit, or CancelledError without having been
    cancelled, only the task has failed.
    """
    current = asyncio.current_task()
    is_ended = current is not None and current.cancelling() > 0
    return is_ended if isinstance(error, asyncio.CancelledError) else isinstance(error, KeyboardInterrupt | GeneratorExit)


def _went_wrong(task: AgentTask, error: BaseException) -> tuple[RunOutcome, str]:
    if isinstance(error, BudgetSpent):
        return RunOutcome.GAVE_WAY, error.message
    return RunOutcome.FAILED, error.message if isinstance(error, LetheError) else _broken(task, error)


def _broken(task: AgentTask, error: BaseException) -> str:
    """Return one sentence about an error in a task's own code, and log where it happened for the author."""
    _tell_fault(task, error)
    said = " ".join(str(error).split())[:200]
    return f"The task failed: {type(error).__name__}{f' ({said})' if said else ''}."


def _tell_fault(task: AgentTask, error: BaseException) -> None:
    """Log the position of the error, without its message, which may contain words of a conversation."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "nowhere"
    LOG.warning("the task “%s” broke down with %s at %s", task.name, type(error).__name__, where)
