"""What a persona may spend in a day while the user is away, and what of it is left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from lethe_app.agents.schedule import end_of
from lethe_app.domain.agent_runs import TaskRun
from lethe_app.errors import LetheError


class BudgetSpent(LetheError):
    """Nothing is left for today."""


@dataclass(frozen=True)
class Spent:
    """Of one persona, on one day."""

    tokens: int = 0
    time: timedelta = timedelta()


@dataclass(frozen=True)
class Budget:
    """What a day may cost; 0 is no limit."""

    tokens: int = 0
    minutes: int = 0

    def is_left(self, spent: Spent) -> bool:
        """May one more thing be begun?"""
        tokens_left = not self.tokens or spent.tokens < self.tokens
        return tokens_left and (not self.minutes or spent.time < timedelta(minutes=self.minutes))


def spent(runs: Iterable[TaskRun], moment: datetime) -> Spent:
    """What these runs cost together; one that is under way has lasted until `moment`."""
    known = list(runs)
    lasted = ((run.ended or moment) - run.began if run.outcome is None else end_of(run) - run.began for run in known)
    return Spent(sum(run.tokens for run in known), sum((max(each, timedelta()) for each in lasted), timedelta()))


def midnight(moment: datetime) -> datetime:
    """When the day of a moment began, in that moment's own zone."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
