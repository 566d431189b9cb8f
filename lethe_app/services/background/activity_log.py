"""Log of background work that is not a task, such as notebooks: shown in the same list, with its cost and a stop button."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from uuid import UUID

from lethe_app.agents.budget import DailyBudget, midnight, sum_usage
from lethe_app.agents.run_recorder import RunRecorder
from lethe_app.agents.task import TaskResult
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
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
    """Kind of background work that is built into the program, unlike tasks, which plug-ins can add."""

    name: str
    """Permanent name under which runs are stored."""
    title: str
    counts: bool = True
    """True if its cost counts for the persona's daily budget."""
    is_shown: bool = True
    """True if it is listed while it runs; other work is shown elsewhere."""
    cancelled_outcome: RunOutcome = RunOutcome.LOST
    """Outcome that is recorded when it is cancelled."""


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


@dataclass(frozen=True)
class RunningTask:
    """Run in progress."""

    run: TaskRun
    title: str
    persona: str
    """Name of the persona."""
    step: str = ""
    """Current step."""
    is_requested: bool = False
    """True if the user requested it: it is then not cancelled when the user comes back."""


class ActivityEntry:
    """Piece of background work in progress."""

    def __init__(
        self, work: BackgroundWork, running_task: RunningTask, recorder: RunRecorder, on_change: Callable[[], None]
    ) -> None:
        self.work, self.running_task = work, running_task
        self.recorder, self._on_change = recorder, on_change
        self._task: asyncio.Task[TaskResult] | None = None
        self.is_stopped = False

    @property
    def run_id(self) -> UUID:
        return self.recorder.run.id

    @property
    def tokens(self) -> int:
        """Return the tokens evaluated and generated so far."""
        return self.recorder.run.tokens

    def report_progress(self, step: str) -> None:
        """Show a few words about the current step."""
        if step != self.running_task.step:
            self.running_task = replace(self.running_task, step=step)
            self._on_change()

    def stop(self) -> None:
        """Cancel the work, at the user's request."""
        if self._task is not None:
            self.is_stopped = True
            self._task.cancel()

    async def run_action(self, action: Callable[[ActivityEntry], Awaitable[TaskResult]]) -> TaskRun:
        """Run the action and record its beginning and end. Raise what the action raises, and CancelledError only if the
        caller is cancelled, not after `stop`.
        """

        async def run_metered() -> TaskResult:
            with meter_tokens(self.recorder.add_tokens):
                return await action(self)

        await self.recorder.save()
        # A task of its own, so that `stop` can cancel the action without cancelling the caller.
        self._task = asyncio.get_running_loop().create_task(run_metered())
        try:
            result = await self._task
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            run = await self.recorder.close(RunOutcome.STOPPED if self.is_stopped else self.work.cancelled_outcome)
            if not self.is_stopped:
                raise
            return run
        except Exception as error:
            message = error.message if isinstance(error, LetheError) else f"The task failed: {type(error).__name__}."
            await self.recorder.close(RunOutcome.FAILED, trouble=message)
            raise
        return await self.recorder.close(result.outcome, result.summary, made=result.made)


class ActivityLog:
    """Log of all background work that is not a task. `changed` is emitted for every visible change.

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
    def running_tasks(self) -> list[RunningTask]:
        """Return the visible work in progress, in the order in which it began."""
        return [entry.running_task for entry in self._running.values() if entry.work.is_shown]

    async def list_runs(self, limit: int = 100) -> list[TaskRun]:
        """Return the runs of tasks and of other background work, newest first."""
        await self.close_lost_runs()
        return await self._task_runs.newest_runs(limit)

    async def close_lost_runs(self) -> None:
        """Mark runs as lost that the last end of the program interrupted. This happens once, before anything else."""
        if not self._has_closed_lost_runs:
            self._has_closed_lost_runs = True
            await self._task_runs.mark_lost_runs(frozenset(self._running))

    def stop(self, run_id: UUID) -> None:
        """Cancel one of them at the user's request; its results so far are kept."""
        if run_id in self._running:
            self._running[run_id].stop()

    def cancel_persona_work(self, persona_id: str) -> None:
        """Cancel the work for a persona that was deleted."""
        for entry in list(self._running.values()):
            if entry.running_task.run.persona_id == persona_id:
                entry.stop()

    async def has_budget_left(self, persona_id: str) -> bool:
        """Return whether the persona has budget left today for work that the user did not request."""
        return await self._budget.can_start_run(persona_id, now())

    async def run_action(
        self,
        work: BackgroundWork,
        owner: tuple[str, str],
        action: Callable[[ActivityEntry], Awaitable[TaskResult]],
        *,
        is_requested: bool = False,
    ) -> TaskRun:
        """Run the action and return its record; `owner` is the persona's id and name. Raise what the action raises."""
        persona_id, persona_name = owner
        recorder = RunRecorder(self._task_runs, TaskRun(persona_id=persona_id, task=work.name, began=now()))
        running_task = RunningTask(recorder.run, work.title, persona_name, is_requested=is_requested)
        entry = ActivityEntry(work, running_task, recorder, lambda: self.changed.notify(None))
        self._running[entry.run_id] = entry
        self.changed.notify(None)
        try:
            return await entry.run_action(action)
        finally:
            del self._running[entry.run_id]
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
        outcomes: list[bool] = []
        owner = (session.persona_id, session.persona_id)
        await self._activity_log.run_action(ARCHIVE, owner, partial(self._run_action, session_id, action, outcomes))
        return outcomes == [True]

    async def _run_action(
        self, session_id: UUID, action: ArchiveAction, outcomes: list[bool], _entry: ActivityEntry
    ) -> TaskResult:
        parts_before = await self._parts_by_model(session_id)
        outcomes.append(await action())
        new_parts = await self._parts_by_model(session_id) - parts_before
        quoted_name = await self._quoted_name(session_id)
        if not new_parts:
            return TaskResult(f"{quoted_name} keeps its rule-based summary.", outcome=RunOutcome.NOTHING)
        return TaskResult(f"{quoted_name} was summarised by the model. This does not count towards the daily limit.")

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
