"""Decides which task of which persona comes next, and runs it so that whatever happens there is a record of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from lethe_app.agents.budget import Budget, BudgetSpent, Spent, midnight, spent
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
"""After a task saw nothing to do."""
NEWEST = 20
"""Runs from which the next one is told; more failures in a row than these change nothing any more."""
LONGEST = 3600.0
"""Seconds a run may take, however much of the day is left."""
LONGEST_LOOK = 60.0
"""Seconds a task may take to see whether there is something to do."""
AHEAD = timedelta(days=1)
"""Runs that began later than so far in the future are from a time in which the clock was wrong; they say nothing."""
STEP = timedelta(minutes=1)
"""A clock that goes back by more was put right."""
TOO_LONG_A_LOOK = "It took too long to see whether there is something to do."
LOG = logging.getLogger(__name__)


class Hindrance(StrEnum):
    """Why nothing is begun now, for any persona."""

    OFF = "off"
    HERE = "here"
    """The user is not away."""
    QUIET = "quiet"
    """It is the time of day in which nothing is to be done."""
    BATTERY = "battery"


@dataclass(frozen=True)
class Due:
    """A task whose time has come."""

    persona: Persona
    known: RegisteredTask

    @property
    def key(self) -> tuple[str, str]:
        return self.persona.unique_name, self.known.name


def hindrance(settings: Settings, moment: datetime, idle: timedelta | None, on_battery: Callable[[], bool]) -> Hindrance | None:
    """What speaks against beginning anything; `idle` is how long the user has been away, None while nobody can tell."""
    if not settings.agents:
        return Hindrance.OFF
    if idle is None or idle < timedelta(minutes=settings.agent_idle_minutes):
        return Hindrance.HERE
    if is_quiet_hour(moment, settings.agent_quiet_from, settings.agent_quiet_until):
        return Hindrance.QUIET
    return Hindrance.BATTERY if not settings.agent_on_battery and on_battery() else None


class Runtime:
    """Knows when each task may be looked at again, so that an idle hour costs next to nothing."""

    def __init__(
        self,
        registry: Registry,
        runs: TaskRuns,
        settings: Callable[[], Settings],
        provides: Callable[[Need], bool],
        not_counted: Collection[str] = (),
    ) -> None:
        """`provides`: is there what a task needs? Runs under the names `not_counted` cost nothing of the day."""
        self.registry = registry
        self._runs = runs
        self._settings = settings
        self._provides = provides
        self._not_counted = not_counted
        self._not_before: dict[tuple[str, str], datetime] = {}
        self._served: dict[tuple[str, str], datetime] = {}
        """When each task was last begun for each persona."""
        self._latest: datetime | None = None

    def look_anew(self) -> None:
        """Something changed that bears on what is due."""
        self._not_before.clear()

    async def due(self, personas: Iterable[Persona], moment: datetime) -> list[Due]:
        """What may be looked at now, in turn: the persona who waited longest first, and of hers the task that did."""
        settings, ready = self._settings(), []
        if self._latest is not None and moment < self._latest - STEP:
            self.look_anew()  # what was reckoned by a clock that was wrong might be due in years
        self._latest = moment
        for persona in personas:
            waiting = [Due(persona, known) for known in self.registry.tasks_of(persona, settings.tasks_off)]
            waiting = [one for one in waiting if self.lacks(one.known) is None and await self._is_time(one, settings, moment)]
            if waiting and self.budget.is_left(await self.spent_today(persona.unique_name, moment)):
                ready += waiting
        return in_turn(ready, self._served)

    def lacks(self, known: RegisteredTask) -> Need | None:
        """The first thing a task needs and there is not."""
        return next((need for need in sorted(known.task.needs) if not self._provides(need)), None)

    def saw_nothing(self, one: Due, moment: datetime) -> None:
        """Leave it alone for a while."""
        self._not_before[one.key] = moment + LOOK_AGAIN

    @property
    def budget(self) -> Budget:
        """Of each persona for each day."""
        settings = self._settings()
        return Budget(settings.agent_day_tokens, settings.agent_day_minutes)

    async def spent_today(self, persona_id: str, moment: datetime) -> Spent:
        """By the local calendar."""
        began = midnight(moment)
        runs = [run for run in await self._runs.since(persona_id, began) if run.task not in self._not_counted]
        return spent([run for run in runs if run.began < began + AHEAD], moment)

    async def last_run(self, one: Due, moment: datetime) -> TaskRun | None:
        """The newest that came to its end."""
        runs = await self._runs.runs_of(*one.key, limit=NEWEST, before=moment + AHEAD)
        return next((run for run in runs if run.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}), None)

    async def ledger(self, one: Due, moment: datetime, *, is_asked: bool) -> RunRecorder:
        """For a run that is about to begin. What the user asked for may cost what it costs."""
        self._served[one.key] = moment
        run = TaskRun(persona_id=one.persona.unique_name, task=one.known.name, began=moment)
        if is_asked or not self.budget.tokens:
            return RunRecorder(self._runs, run)
        left = self.budget.tokens - (await self.spent_today(one.persona.unique_name, moment)).tokens
        return RunRecorder(self._runs, run, lambda tokens: tokens < left)

    async def time_left(self, one: Due, moment: datetime) -> float:
        """Seconds that a run may take."""
        if not self.budget.minutes:
            return LONGEST
        used = (await self.spent_today(one.persona.unique_name, moment)).time
        return min(max(self.budget.minutes * 60 - used.total_seconds(), 0.0), LONGEST)

    def has_ended(self, run: TaskRun) -> None:
        """Reckon anew when its task comes next."""
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
    """Who was served longest ago comes first; who never was, before all others."""
    of_persona: dict[str, float] = {}
    for (persona, _task), moment in served.items():
        of_persona[persona] = max(of_persona.get(persona, 0.0), moment.timestamp())
    of_task = {key: moment.timestamp() for key, moment in served.items()}
    return sorted(waiting, key=lambda one: (of_persona.get(one.key[0], 0.0), of_task.get(one.key, 0.0)))


async def sees_something(task: AgentTask, sight: Sight) -> bool:
    """Does it see something to do? Raises LetheError where that cannot be told, whatever the code of others does."""
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
    """One run, from its record to its record. It may be cancelled: then `cut_off` tells what that was."""
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
        return await ledger.close(RunOutcome.FAILED, trouble="It ended without a result, as no task may.")
    return await ledger.close(result.outcome, result.summary, made=result.made)


def _too_long(seconds: float) -> tuple[RunOutcome, str]:
    if seconds >= LONGEST:
        return RunOutcome.FAILED, "It took longer than an hour."
    return RunOutcome.GAVE_WAY, "The time for today is used up; it goes on another day."


def _is_for_us(error: BaseException) -> bool:
    """Does it end us, too? Where a task raises SystemExit, or a CancelledError that nobody wanted, only the task has failed."""
    current = asyncio.current_task()
    is_ended = current is not None and current.cancelling() > 0
    return is_ended if isinstance(error, asyncio.CancelledError) else isinstance(error, KeyboardInterrupt | GeneratorExit)


def _went_wrong(task: AgentTask, error: BaseException) -> tuple[RunOutcome, str]:
    if isinstance(error, BudgetSpent):
        return RunOutcome.GAVE_WAY, error.message
    return RunOutcome.FAILED, error.message if isinstance(error, LetheError) else _broken(task, error)


def _broken(task: AgentTask, error: BaseException) -> str:
    """One sentence about a fault in a task's own code; whoever wrote it is told where it happened."""
    _tell_fault(task, error)
    said = " ".join(str(error).split())[:200]
    return f"It broke down: {type(error).__name__}{f' ({said})' if said else ''}."


def _tell_fault(task: AgentTask, error: BaseException) -> None:
    """Where it happened, and nothing of what anybody said."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "nowhere"
    LOG.warning("the task “%s” broke down with %s at %s", task.name, type(error).__name__, where)
