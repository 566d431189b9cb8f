"""Recorder of one run: stores it before it begins, after each result, and at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from lethe_app.domain.agent_runs import ProducedRecord, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.storage.agents.task_runs import TaskRuns


class RunRecorder:
    """Recorder of a run. Its state is always on disk, so that an aborted program leaves a correct record."""

    def __init__(self, runs: TaskRuns, run: TaskRun, may_spend: Callable[[int], bool] = lambda _tokens: True) -> None:
        """Create a recorder; `may_spend` is called with the run's tokens so far and returns whether more may be used."""
        self.run = run
        self._runs = runs
        self._may_spend = may_spend

    async def save(self) -> None:
        """Store the run as begun."""
        await self._runs.save_run(self.run)

    def add_tokens(self, tokens: int) -> None:
        """Add tokens to the run's cost; they are stored with the next write."""
        self.run = self.run.model_copy(update={"tokens": self.run.tokens + tokens})

    @property
    def can_spend(self) -> bool:
        """Return whether the run may use more tokens."""
        return self._may_spend(self.run.tokens)

    async def add_result(self, result: ProducedRecord) -> None:
        """Record a result, once."""
        if result not in self.run.made:
            await self.set_results((*self.run.made, result))

    async def replace_result(self, old: ProducedRecord, new: ProducedRecord) -> None:
        """Replace a recorded result by another."""
        await self.set_results(new if result == old else result for result in self.run.made)

    async def set_results(self, results: Iterable[ProducedRecord]) -> None:
        """Record these results, each once, in place of all recorded before."""
        self.run = self.run.model_copy(update={"made": tuple(dict.fromkeys(results))})
        await self._runs.save_run(self.run)

    async def close(
        self, outcome: RunOutcome, summary: str = "", trouble: str = "", made: tuple[ProducedRecord, ...] = ()
    ) -> TaskRun:
        """Record the end of the run, even if the caller is cancelled. A run that is closed already keeps its outcome."""
        if self.run.outcome is not None:
            return self.run
        all_results = tuple(dict.fromkeys((*self.run.made, *made)))
        values = {"outcome": outcome, "ended": now(), "summary": summary, "trouble": trouble, "made": all_results}
        self.run = self.run.model_copy(update=values)
        await asyncio.shield(self._runs.save_run(self.run))
        return self.run
