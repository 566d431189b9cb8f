"""The record of one run while it lasts: kept before it begins, after everything it makes, and at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from lethe_app.domain.agent_runs import Made, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.storage.agents.task_runs import TaskRuns


class RunRecorder:
    """What is in it is on the disk, so that a program that ends here leaves a true account."""

    def __init__(self, runs: TaskRuns, run: TaskRun, may_spend: Callable[[int], bool] = lambda _tokens: True) -> None:
        """`may_spend` is asked with the tokens of this run so far."""
        self.run = run
        self._runs = runs
        self._may_spend = may_spend

    async def open(self) -> None:
        """The run begins."""
        await self._runs.save_run(self.run)

    def spend(self, tokens: int) -> None:
        """It cost so many more; kept with the next thing that is kept."""
        self.run = self.run.model_copy(update={"tokens": self.run.tokens + tokens})

    @property
    def has_means(self) -> bool:
        """May it spend more?"""
        return self._may_spend(self.run.tokens)

    async def note(self, made: Made) -> None:
        """It made something; noted once."""
        if made not in self.run.made:
            self.run = self.run.model_copy(update={"made": (*self.run.made, made)})
            await self._runs.save_run(self.run)

    async def strike(self, made: Collection[Made]) -> None:
        """It was to make this, and has not."""
        left = tuple(one for one in self.run.made if one not in made)
        if left != self.run.made:
            self.run = self.run.model_copy(update={"made": left})
            await self._runs.save_run(self.run)

    async def amend(self, old: Made, new: Made) -> None:
        """What was noted became another thing."""
        made = tuple(new if one == old else one for one in self.run.made)
        self.run = self.run.model_copy(update={"made": tuple(dict.fromkeys(made))})
        await self._runs.save_run(self.run)

    async def close(self, outcome: RunOutcome, summary: str = "", trouble: str = "", made: tuple[Made, ...] = ()) -> TaskRun:
        """The run has ended; even if it is cut off, this is kept. What ended once does not end otherwise later."""
        if self.run.outcome is not None:
            return self.run
        everything = tuple(dict.fromkeys((*self.run.made, *made)))
        values = {"outcome": outcome, "ended": now(), "summary": summary, "trouble": trouble, "made": everything}
        self.run = self.run.model_copy(update=values)
        await asyncio.shield(self._runs.save_run(self.run))
        return self.run
