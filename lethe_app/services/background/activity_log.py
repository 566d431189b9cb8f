"""Log of background work, of tasks and of other work such as notebooks: what runs, with its cost and a way to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from uuid import UUID

from lethe_app.agents.budget import BudgetSpent, DailyBudget, midnight, sum_usage
from lethe_app.agents.task import NOTHING, TaskResult
from lethe_app.domain.agent_runs import ProducedRecord, RunOutcome, TaskRun
from lethe_app.domain.chat import ChatSession, PartState
from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.errors import LetheError, StorageError
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.structured_output import meter_tokens
from lethe_app.services.preferences import Preferences
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.sessions import SessionStore


@dataclass(frozen=True)
class BackgroundWork:
    """Kind of background work: one of those below, or a task, which plug-ins can add."""

    name: str
    """Permanent name under which runs are stored."""
    title: str
    counts: bool = True
    """True if its cost counts for the persona's daily budget."""
    is_shown: bool = True
    """True if it is listed while it runs; other work is shown elsewhere."""
    cancelled_outcome: RunOutcome = RunOutcome.LOST
    """Outcome that is recorded when it is cancelled."""
    grace: float | None = None
    """Seconds to wait for it after its cancellation; None waits until it has ended."""


ARCHIVE = BackgroundWork("archive", "Archiving", counts=False, is_shown=False, cancelled_outcome=RunOutcome.GAVE_WAY)
"""Archiving of sessions. It can be paused elsewhere and is resumed later."""
RESEARCH = BackgroundWork("deep_research", "Research")
NOTEBOOKS = BackgroundWork("notebooks", "Notebooks")
MOODS = BackgroundWork("moods", "Moods")
ENRICHMENT = BackgroundWork("enrichment", "Filing of memories")
"""Category, tags and keywords of what a tool saved."""
WORK_BY_NAME = {one.name: one for one in (ARCHIVE, RESEARCH, NOTEBOOKS, MOODS, ENRICHMENT)}
UPKEEP = frozenset(one.name for one in (ARCHIVE, NOTEBOOKS, MOODS, ENRICHMENT))
"""Names of the work that is done for every persona, also for those without background activity."""
NOT_COUNTED = frozenset(one.name for one in WORK_BY_NAME.values() if not one.counts)
DID_NOT_STOP = "The task did not stop when it was asked to."


class ActivityEntry:
    """Run in progress: its record and what is shown of it. The record is always on disk, so that an aborted program leaves a
    correct one.
    """

    def __init__(
        self,
        work: BackgroundWork,
        owner: tuple[str, str],
        task_runs: TaskRuns,
        on_change: Callable[[], None],
        *,
        is_requested: bool = False,
        token_limit: int | None = None,
    ) -> None:
        """Create a run that has not begun; `owner` is the persona's id and name. With `is_requested`, the user requested it: it
        is then not cancelled when the user comes back. Without `token_limit` it may use any number of tokens.
        """
        persona_id, self.persona = owner
        self.run = TaskRun(persona_id=persona_id, task=work.name, began=now())
        self.work, self.title, self.step, self.is_requested = work, work.title, "", is_requested
        self._task_runs, self._on_change, self._token_limit = task_runs, on_change, token_limit
        self._task: asyncio.Task[TaskResult] | None = None
        self._outcome_if_cancelled: RunOutcome | None = None
        self._has_ended = asyncio.Event()
        """Set when the action has ended, or is not waited for any longer."""

    # Record

    async def save(self) -> None:
        """Store the record as it is now."""
        await self._task_runs.save_run(self.run)

    def add_tokens(self, tokens: int) -> None:
        """Add tokens to the run's cost; they are stored with the next write."""
        self.run = self.run.model_copy(update={"tokens": self.run.tokens + tokens})

    @property
    def can_spend(self) -> bool:
        """Return whether the run may use more tokens."""
        return self._token_limit is None or self.run.tokens < self._token_limit

    async def add_result(self, result: ProducedRecord) -> None:
        """Record a result, once."""
        if result not in self.run.made:
            await self.set_results((*self.run.made, result))

    async def set_results(self, results: Iterable[ProducedRecord]) -> None:
        """Record these results, each once, in place of all recorded before."""
        self.run = self.run.model_copy(update={"made": tuple(dict.fromkeys(results))})
        await self.save()

    async def close(self, outcome: RunOutcome, trouble: str = "", result: TaskResult = NOTHING) -> TaskRun:
        """Record the end of the run, even if the caller is cancelled, and return its record."""
        all_results = tuple(dict.fromkeys((*self.run.made, *result.made)))
        values = {"outcome": outcome, "ended": now(), "summary": result.summary, "trouble": trouble, "made": all_results}
        self.run = self.run.model_copy(update=values)
        await asyncio.shield(self.save())
        return self.run

    # Course

    def report_progress(self, step: str) -> None:
        """Show a few words about the current step."""
        if step != self.step:
            self.step = step
            self._on_change()

    def cancel(self, outcome: RunOutcome = RunOutcome.STOPPED) -> None:
        """Cancel the action; `outcome` is recorded unless it ends in another way."""
        self._outcome_if_cancelled = outcome
        if self._task is not None:
            self._task.cancel()
            if self.work.grace is not None:
                asyncio.get_running_loop().call_later(self.work.grace, self._has_ended.set)

    async def run_action(self, action: Callable[[ActivityEntry], Awaitable[TaskResult]]) -> TaskRun:
        """Run the action and record its beginning and end. Raise what the action raises, and CancelledError only if the
        caller is cancelled, not after `cancel`.
        """

        async def run_metered() -> TaskResult:
            await self.save()
            with meter_tokens(self.add_tokens):
                return await action(self)

        def on_end(ended: asyncio.Task[TaskResult]) -> None:
            self._has_ended.set()
            if not ended.cancelled():
                ended.exception()  # retrieved, or asyncio would log that of an action that is not waited for any longer

        # A task of its own, so that the action can be cancelled without its caller.
        task = self._task = asyncio.get_running_loop().create_task(run_metered())
        task.add_done_callback(on_end)
        if self._outcome_if_cancelled is not None:  # by somebody who was told that it is about to begin
            self.cancel(self._outcome_if_cancelled)
        try:
            await self._has_ended.wait()
        except asyncio.CancelledError:
            if self._outcome_if_cancelled is None:
                self.cancel(self.work.cancelled_outcome)
            await self._has_ended.wait()
            with suppress(Exception):
                await self._record_end(task)
            raise
        return await self._record_end(task)

    async def _record_end(self, task: asyncio.Task[TaskResult]) -> TaskRun:
        if not task.done() or task.cancelled():
            outcome = self._outcome_if_cancelled or self.work.cancelled_outcome
            return await self.close(outcome, "" if task.done() else DID_NOT_STOP)
        try:
            result = task.result()
        except Exception as error:
            outcome = RunOutcome.GAVE_WAY if isinstance(error, BudgetSpent) else RunOutcome.FAILED
            message = error.message if isinstance(error, LetheError) else f"The task failed: {type(error).__name__}."
            await self.close(outcome, message)
            raise
        return await self.close(result.outcome, result=result)


class ActivityLog:
    """Log of all background work. `changed` is emitted for every visible change.

    Its cost counts for a persona's daily budget. Work that the user did not request checks `has_budget_left` before each step.
    Work that the user requested is not refused when the budget is used up: it is recorded, shown and counted, and reduces what
    is left for tasks.
    """

    def __init__(self, task_runs: TaskRuns, budget: DailyBudget) -> None:
        self.changed: Listeners[None] = Listeners()
        self._task_runs, self._budget = task_runs, budget
        self._running: dict[UUID, ActivityEntry] = {}
        self._has_closed_lost_runs = False

    @property
    def running_entries(self) -> list[ActivityEntry]:
        """Return the visible work in progress, in the order in which it began."""
        return [entry for entry in self._running.values() if entry.work.is_shown]

    async def list_runs(self, limit: int = 100) -> list[TaskRun]:
        """Return the runs of tasks and of other background work, newest first."""
        await self.close_lost_runs()
        return await self._task_runs.newest_runs(limit)

    async def close_lost_runs(self) -> None:
        """Mark runs as lost that the last end of the program interrupted. This happens once, before anything else."""
        if not self._has_closed_lost_runs:
            self._has_closed_lost_runs = True
            await self._task_runs.mark_lost_runs(frozenset(self._running))

    def stop(self, run_id: UUID | None = None) -> None:
        """Cancel one run, or all that are shown, at the user's request; their results so far are kept."""
        for entry in self.running_entries:
            if run_id in {None, entry.run.id}:
                entry.cancel()

    def cancel_persona_work(self, persona_id: str) -> None:
        """Cancel the work for a persona that was deleted."""
        for entry in list(self._running.values()):
            if entry.run.persona_id == persona_id:
                entry.cancel()

    async def has_budget_left(self, persona_id: str) -> bool:
        """Return whether the persona has budget left today for work that the user did not request."""
        return await self._budget.can_start_run(persona_id, now())

    def create_entry(
        self, work: BackgroundWork, owner: tuple[str, str], *, is_requested: bool = False, token_limit: int | None = None
    ) -> ActivityEntry:
        """Return a run that has not begun, with the parameters of `ActivityEntry`."""
        on_change = partial(self.changed.notify, None)
        return ActivityEntry(work, owner, self._task_runs, on_change, is_requested=is_requested, token_limit=token_limit)

    async def run_entry(self, entry: ActivityEntry, action: Callable[[ActivityEntry], Awaitable[TaskResult]]) -> TaskRun:
        """Show the run while its action runs, and return its record. Raise what the action raises."""
        self._running[entry.run.id] = entry
        self.changed.notify(None)
        try:
            return await entry.run_action(action)
        finally:
            del self._running[entry.run.id]
            self.changed.notify(None)


ArchiveAction = Callable[[], Awaitable[bool]]
"""Action that makes all parts of one session's archive record by a model; returns whether it could complete them."""


RECENT = timedelta(days=1)
"""Conversations that ended within this time are archived without a limit: they are what one talks about next."""


class ArchiveBudget:
    """Runs and records the model's work on conversations; on older ones only as long as the time of the day lasts."""

    def __init__(
        self,
        activity_log: ActivityLog,
        session_store: SessionStore,
        archive_jobs: ArchiveJobs,
        task_runs: TaskRuns,
        preferences: Preferences,
    ) -> None:
        self._activity_log, self._session_store, self._archive_jobs = activity_log, session_store, archive_jobs
        self._task_runs, self._preferences = task_runs, preferences
        self.lifted_on: date | None = None
        """Local day on which there is no limit, at the user's wish."""

    def lift_for_today(self) -> None:
        """Let older conversations be archived without a limit until midnight."""
        self.lifted_on = now().astimezone().date()

    async def run_recorded(self, session_id: UUID, action: ArchiveAction, is_limited: bool) -> bool | None:
        """Run the action, record it as one run, and return its result, or None if it has to wait for another day. Raise what
        it raises.

        Without `is_limited` it never waits.
        """
        try:
            session = await self._session_store.session(session_id)
            if is_limited and await self._must_wait(session):
                return None
        except StorageError:  # it was deleted; the action reports that itself
            return await action()
        is_complete = False

        async def run_action(_entry: ActivityEntry) -> TaskResult:
            nonlocal is_complete
            parts_before = await self._parts_by_model(session_id)
            is_complete = await action()
            new_parts = await self._parts_by_model(session_id) - parts_before
            quoted_name = await self._quoted_name(session_id)
            if not new_parts:
                return TaskResult(f"{quoted_name} keeps its rule-based summary.", outcome=RunOutcome.NOTHING)
            return TaskResult(f"{quoted_name} was summarised by the model. This does not count towards the daily limit.")

        entry = self._activity_log.create_entry(ARCHIVE, (session.persona_id, session.persona_id))
        await self._activity_log.run_entry(entry, run_action)
        return is_complete

    async def _quoted_name(self, session_id: UUID) -> str:
        with suppress(StorageError):
            if name := (await self._session_store.session(session_id)).name:
                return f"“{name}”"
        return "A conversation"

    async def _parts_by_model(self, session_id: UUID) -> set[str]:
        part_records = (await self._archive_jobs.parts_of(session_id)).items()
        return {
            part.value for part, record in part_records if record.state is PartState.DONE and record.made_by is MadeBy.MODEL
        }

    async def _must_wait(self, session: ChatSession) -> bool:
        limit, moment = self._preferences.current.old_session_minutes, now().astimezone()
        newest = await self._session_store.newest_messages(session.guid, 1)
        if not limit or self.lifted_on == moment.date() or all(moment - message.time < RECENT for message in newest):
            return False
        runs = await self._task_runs.runs_since(session.persona_id, midnight(moment))
        used = sum_usage([run for run in runs if run.task == ARCHIVE.name], moment)
        return used.time >= timedelta(minutes=limit)
