"""Daily budget of a persona for background tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from lethe_app.agents.schedule import end_of
from lethe_app.config.settings import Settings
from lethe_app.domain.agent_runs import TaskRun
from lethe_app.errors import LetheError
from lethe_app.storage.agents.task_runs import TaskRuns

CLOCK_TOLERANCE = timedelta(days=1)
"""Runs that began later than this in the future were recorded while the system clock was wrong; they are ignored."""


class BudgetSpent(LetheError):
    """Raised when the budget of the day is used up."""


@dataclass(frozen=True)
class DailyUsage:
    """Usage of one persona on one day."""

    tokens: int = 0
    time: timedelta = timedelta()


@dataclass(frozen=True)
class Budget:
    """Daily limit; 0 is no limit."""

    tokens: int = 0
    minutes: int = 0

    def can_start_run(self, usage: DailyUsage) -> bool:
        """Return whether another run may begin."""
        tokens_left = not self.tokens or usage.tokens < self.tokens
        return tokens_left and (not self.minutes or usage.time < timedelta(minutes=self.minutes))


def sum_usage(runs: Iterable[TaskRun], moment: datetime) -> DailyUsage:
    """Return the total cost of these runs; a run in progress has lasted until `moment`."""
    run_list = list(runs)
    durations = ((run.ended or moment) - run.began if run.outcome is None else end_of(run) - run.began for run in run_list)
    return DailyUsage(
        sum(run.tokens for run in run_list), sum((max(duration, timedelta()) for duration in durations), timedelta())
    )


def midnight(moment: datetime) -> datetime:
    """Return the beginning of the day of `moment`, in its own time zone."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


class DailyBudget:
    """Cost of a persona's runs today, compared with the limits in the settings."""

    def __init__(self, runs: TaskRuns, settings: Callable[[], Settings], exempt_tasks: Collection[str]) -> None:
        """Create the budget; runs of the tasks `exempt_tasks` cost nothing."""
        self._runs = runs
        self._settings = settings
        self._exempt_tasks = exempt_tasks

    @property
    def limit(self) -> Budget:
        """Limit of each persona for each day."""
        settings = self._settings()
        return Budget(settings.agent_day_tokens, settings.agent_day_minutes)

    async def usage_today(self, persona_id: str, moment: datetime) -> DailyUsage:
        """Return what a persona's runs have cost on the local calendar day of `moment`."""
        day_start = midnight(moment)
        runs = [run for run in await self._runs.runs_since(persona_id, day_start) if run.task not in self._exempt_tasks]
        return sum_usage([run for run in runs if run.began < day_start + CLOCK_TOLERANCE], moment)

    async def can_start_run(self, persona_id: str, moment: datetime) -> bool:
        """Return whether another run may be started today."""
        return self.limit.can_start_run(await self.usage_today(persona_id, moment))
