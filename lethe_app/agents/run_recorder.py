"""Recorder of one run: stores it before it begins, after each result, and at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from lethe_app.domain.agent_runs import Made, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.storage.agents.task_runs import TaskRuns


class RunRecorder:
    """Recorder of a run. Its state is always on disk, so that an aborted program leaves a correct record."""

    def __init__(self, runs: TaskRuns, run: TaskRun, may_spend: Callable[[int], bool] = lambda _tokens: True) -> None:
        """Create a recorder; `may_spend` is called with the run's tokens so far and returns whether more may be used."""
        self.run = run
        self._runs = runs
        self._may_spend = may_spend

    async def open(self) -> None:
        """Store the run as begun."""
        await self._runs.save_run(self.run)

    def spend(self, tokens: int) -> None:
        """Add tokens to the run's cost; they are stored with the next write."""
        self.run = self.run.model_copy(update={"tokens": self.run.tokens + tokens})

    @property
    def has_means(self) -> bool:
        """Return whether the run may use more tokens."""
        return self._may_spend(self.run.tokens)

    async def note(self, made: Made) -> None:
        """Record a result, once."""
        if made not in self.run.made:
            self.run = self.run.model_copy(update={"made": (*self.run.made, made)})
            await self._runs.save_run(self.run)

    async def strike(self, made: Collection[Made]) -> None:
        """Remove results that were recorded in advance but not made."""
        left = tuple(one for one in self.run.made if one not in made)
        if left != self.run.made:
            self.run = self.run.model_copy(update={"made": left})
            await self._runs.save_run(self.run)

    async def amend(self, old: Made, new: Made) -> None:
        """Replace a recorded result by another."""
        made = tuple(new if one == old else one for one in self.run.made)
        self.run = self.run.model_copy(update={"made": tuple(dict.fromkeys(made))})
        await self._runs.save_run(self.run)

    async def close(self, outcome: RunOutcome, summary: str = "", trouble: str = "", made: tuple[Made, ...] = ()) -> TaskRun:
        """Record the end of the run, even if the caller is cancelled. A run that is closed already keeps its outcome."""
        if self.run.outcome is not None:
            return self.run
        everything = tuple(dict.fromkeys((*self.run.made, *made)))
        values = {"outcome": outcome, "ended": now(), "summary": summary, "trouble": trouble, "made": everything}
        self.run = self.run.model_copy(update=values)
        await asyncio.shield(self._runs.save_run(self.run))
        return self.run
