"""Run background tasks of personas while the user is away: one at a time, visible, and cancelled when the user comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from lethe_app.agents.budget import Budget, DailyUsage
from lethe_app.agents.registry import RegisteredTask
from lethe_app.agents.runtime import MAX_RUN_SECONDS, DueTask, PauseReason, Runtime, execute_task, has_work
from lethe_app.agents.task import TaskRequirement, TaskResult
from lethe_app.domain.agent_runs import PlannedTask, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.errors import DatabaseLocked, DiskFull, LetheError, ReadOnly, StorageError
from lethe_app.services.background.activity_log import WORK_BY_NAME, ActivityEntry, ActivityLog, BackgroundWork
from lethe_app.services.background.task_api import ChangeUndo, StoredTaskView, TaskApi, TaskServices
from lethe_app.services.events import Listeners
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop, Idleness
from lethe_app.services.sessions.timeout import SessionTimeout
from lethe_app.storage.key_value import AppState

SCOPE, FAILURE_REASONS = "task failures", "task troubles"
"""Scopes of the app state: failures in a row by task, and the reason by disabled task."""
MAX_FAILURES = 3


DISK_ERRORS = (DatabaseLocked, DiskFull, ReadOnly)
"""Errors that are no failure of a task, even if they were raised in it."""


@dataclass(frozen=True)
class DisabledTask:
    """Task that was switched off because it failed."""

    task: str
    """Name of the task."""
    title: str
    plugin: str
    error: str
    """Reason of the failure, in one sentence."""


@dataclass(frozen=True)
class PluginFailures:
    """Failure counter of plug-in tasks. Built-in tasks are never switched off; their pauses grow with each failure instead."""

    app_state: AppState
    preferences: Preferences

    async def record_outcome(self, registered: RegisteredTask, run: TaskRun) -> str:
        """Count the outcome of a run. Return the sentence to show if its task is switched off now, else an empty text."""
        if not registered.plugin:
            return ""
        if run.outcome is not RunOutcome.FAILED:
            if run.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}:
                await self.app_state.set(SCOPE, registered.name, None)
            return ""
        stored = await self.app_state.get(SCOPE, registered.name)
        failures = (stored if isinstance(stored, int) else 0) + 1
        if failures < MAX_FAILURES:
            await self.app_state.set(SCOPE, registered.name, failures)
            return ""
        await self.app_state.set(SCOPE, registered.name, None)  # who switches it on again gives it another chance
        await self.app_state.set(FAILURE_REASONS, registered.name, run.trouble)
        disabled_names = self.preferences.current.tasks_off
        if registered.name not in disabled_names:
            await self.preferences.set(tasks_off=[*disabled_names, registered.name])
        return f"“{registered.task.title}” failed {MAX_FAILURES} times in a row and was switched off. {run.trouble}".strip()

    async def list_disabled(self, registered_tasks: Iterable[RegisteredTask]) -> list[DisabledTask]:
        """Return the tasks that are off because they failed, without those the user switched off or on again."""
        reasons, off = await self.app_state.values_of(FAILURE_REASONS), self.preferences.current.tasks_off
        return [
            DisabledTask(registered.name, registered.task.title, registered.plugin, str(reasons[registered.name]))
            for registered in registered_tasks
            if registered.name in off and registered.name in reasons
        ]

    async def enable_task(self, task: str) -> None:
        """Switch a task on again."""
        await self.app_state.set(FAILURE_REASONS, task, None)
        disabled_names = [name for name in self.preferences.current.tasks_off if name != task]
        await self.preferences.set(tasks_off=disabled_names)


CHECK_INTERVAL = 5.0
"""Seconds between two checks for due tasks."""
GRACE = 2.0
"""Seconds to wait for a task after its cancellation. Its context is then disabled, and the task is no longer waited for."""
NOTHING_TO_DO = "There was nothing to do."
UNMET_NEED_MESSAGES = {
    TaskRequirement.MODEL: "The task needs a model that has passed the quality test.",
    TaskRequirement.FACTS: "The task needs a model that is qualified for facts.",
    TaskRequirement.WEB: "The task needs internet search, which can be allowed in the settings.",
}


class BackgroundRunner:
    """Runner of background tasks. `changed` is emitted for every visible change; `notices` with a sentence that the user should
    read.
    """

    def __init__(
        self,
        runtime: Runtime,
        services: TaskServices,
        participants: ParticipantService,
        idleness: Idleness,
        session_timeout: SessionTimeout,
        plugin_failures: PluginFailures,
        change_undo: ChangeUndo,
        activity_log: ActivityLog,
    ) -> None:
        """Create the runner; `activity_log` shows other background work in the same list."""
        self.changed: Listeners[None] = Listeners()
        self.notices: Listeners[str] = Listeners()
        self.registry = runtime.registry
        self._runtime, self._services, self._participants, self._idleness = runtime, services, participants, idleness
        self._session_timeout, self._plugin_failures, self._change_undo = session_timeout, plugin_failures, change_undo
        self._activity_log = activity_log
        self._requested_tasks: list[tuple[str, str]] = []
        self._personas: list[Persona] = []
        self._are_personas_outdated = True
        self.background = BackgroundLoop(self.run_next_task, CHECK_INTERVAL)
        """A running task ends as if the user had come back when it is closed."""
        services.stored.preferences.changed.add(lambda _settings: self._reset_due_times())
        services.stored.library.changed.add(lambda _none: self._reset_due_times())
        services.stored.library.deleted.add(activity_log.cancel_persona_work)
        activity_log.changed.add(self.changed.notify)

    # User interface

    @property
    def running_task(self) -> ActivityEntry | None:
        """Return the run of the task in progress; None if there is none."""
        return next((entry for entry in self._activity_log.running_entries if entry.work.name not in WORK_BY_NAME), None)

    def title_of(self, task: str) -> str:
        """Return the display title of a task, or its name if it is not installed any more."""
        if task in WORK_BY_NAME:
            return WORK_BY_NAME[task].title
        registered = self.registry.get(task)
        return registered.task.title if registered is not None else task

    async def list_disabled(self) -> list[DisabledTask]:
        """Return the plug-in tasks that are off because they failed repeatedly."""
        return await self._plugin_failures.list_disabled(self.registry.list_tasks())

    async def enable_task(self, task: str) -> None:
        """Switch one of them on again."""
        await self._plugin_failures.enable_task(task)
        self.changed.notify(None)

    @property
    def pause_reason(self) -> PauseReason | None:
        """Return why no task is started at present; None if one may be."""
        return self._runtime.find_pause_reason(now(), self._idleness.idle_time)

    @property
    def budget(self) -> Budget:
        return self._runtime.budget.limit

    async def usage_today(self, persona_id: str) -> DailyUsage:
        """Return what one persona has used today."""
        return await self._runtime.budget.usage_today(persona_id, now())

    async def plan_tasks(self, persona: Persona) -> list[PlannedTask]:
        """Return the tasks of a persona with their next time and usual cost; if its background activity is off, those that
        would run.
        """
        return await self._runtime.plan_tasks(persona, now())

    def request_run(self, persona_id: str, task: str) -> None:
        """Run a task now, whether the user is away or not. Raise LetheError if it is unknown or a requirement is not met."""
        registered = self.registry.get(task)
        if registered is None:
            raise LetheError(f"There is no task “{task}”.")
        if (missing_requirement := self._runtime.missing_requirement(registered)) is not None:
            raise LetheError(f"“{registered.task.title}” cannot run now.", UNMET_NEED_MESSAGES[missing_requirement])
        if (persona_id, task) not in self._requested_tasks:
            self._requested_tasks.append((persona_id, task))
        self.background.wake()

    async def undo(self, run_id: UUID) -> None:
        """Undo a run. Raise StorageError or FileError."""
        if await self._change_undo.undo(run_id):
            self.changed.notify(None)

    # Loop

    async def run_next_task(self) -> None:
        """Run one task, if one was requested or is due. The rest follows at the next call."""
        await self._activity_log.close_lost_runs()
        if self._requested_tasks:
            await self._run_requested(*self._requested_tasks.pop(0))
            self.background.wake()
        elif self.pause_reason is None:
            await self._session_timeout.archive_timed_out()
            if self._are_personas_outdated:
                self._are_personas_outdated = False  # before they are read, because they may change meanwhile
                self._personas = await self._services.stored.library.personas()
            for due_task in await self._runtime.list_due(self._personas, now()):
                if await self._session_timeout.is_settled(due_task.persona.unique_name) and await self._run_due(due_task):
                    return

    async def _run_requested(self, persona_id: str, task: str) -> None:
        registered = self.registry.get(task)
        if registered is None:
            return
        due_task = DueTask((await self._participants.load_for_persona(persona_id)).persona, registered)
        if await self._has_work(due_task, is_requested=True):
            await self._execute_task(due_task, is_requested=True)

    async def _run_due(self, due_task: DueTask) -> bool:
        """Run the task if it finds something to do; return whether it did."""
        if not await self._has_work(due_task, is_requested=False):
            return False
        await self._execute_task(due_task, is_requested=False)
        self.background.wake()
        return True

    async def _has_work(self, due_task: DueTask, *, is_requested: bool) -> bool:
        """Return whether the task finds something to do. If not, and the user requested it, that is recorded; an error of
        the task is recorded as a failed run.
        """
        try:
            participants = await self._participants.load_for_persona(due_task.persona.unique_name)
            last_run = await self._runtime.last_run(due_task, now())
            view = StoredTaskView(self._services, due_task.registered.name, participants, last_run)
            if await has_work(due_task.registered.task, view):
                return True
            self._runtime.postpone(due_task, now())
            if is_requested:
                await self._record_skipped_run(due_task, RunOutcome.NOTHING, summary=NOTHING_TO_DO)
        except LetheError as error:
            await self._record_skipped_run(due_task, RunOutcome.FAILED, trouble=error.message)
        return False

    async def _record_skipped_run(self, due_task: DueTask, outcome: RunOutcome, summary: str = "", trouble: str = "") -> None:
        """Record a run that ended before it began."""
        entry = self._create_entry(due_task)
        await entry.close(outcome, trouble, TaskResult(summary))
        await self._finish_run(due_task.registered, entry.run)

    def _create_entry(self, due_task: DueTask, *, is_requested: bool = True, token_limit: int | None = None) -> ActivityEntry:
        task, persona = due_task.registered.task, due_task.persona
        work = BackgroundWork(task.name, task.title, cancelled_outcome=RunOutcome.GAVE_WAY, grace=GRACE)
        owner = (persona.unique_name, persona.name)
        return self._activity_log.create_entry(work, owner, is_requested=is_requested, token_limit=token_limit)

    async def _execute_task(self, due_task: DueTask, *, is_requested: bool) -> None:
        moment = now()
        participants = await self._participants.load_for_persona(due_task.persona.unique_name)
        token_limit, seconds = None, MAX_RUN_SECONDS
        if not is_requested:
            token_limit, seconds = await self._runtime.remaining_budget(due_task.persona.unique_name, moment)
        last_run = await self._runtime.last_run(due_task, moment)
        if not is_requested and self.pause_reason is not None:
            return  # the user came back while all this was looked up; from here on they are noticed
        entry = self._create_entry(due_task, is_requested=is_requested, token_limit=token_limit)
        context = TaskApi(self._services, participants, last_run, entry)
        errors_of_task: list[LetheError] = []

        async def execute(_entry: ActivityEntry) -> TaskResult:
            try:
                return await execute_task(due_task.registered.task, context, seconds)
            except LetheError as error:
                errors_of_task.append(error)
                raise

        unsubscribe = self._idleness.user_active.add(lambda _none: None if is_requested else entry.cancel(RunOutcome.GAVE_WAY))
        # A task that ignores its time limit is cancelled as the user would, and then no longer waited for.
        overdue = asyncio.get_running_loop().call_later(seconds + GRACE, entry.cancel, RunOutcome.GAVE_WAY)
        try:
            await self._activity_log.run_entry(entry, execute)
        except LetheError as error:
            if isinstance(error, DISK_ERRORS) or (isinstance(error, StorageError) and error not in errors_of_task):
                raise  # the disk is no failure of the task, and so the loop waits
        finally:
            overdue.cancel()
            unsubscribe()
            self._runtime.record_run(entry.run)
        await self._finish_run(due_task.registered, entry.run)

    async def _finish_run(self, registered: RegisteredTask, run: TaskRun) -> None:
        self._runtime.record_run(run)
        if notice := await self._plugin_failures.record_outcome(registered, run):
            self.notices.notify(notice)
        self.changed.notify(None)

    def _reset_due_times(self) -> None:
        self._are_personas_outdated = True
        self._runtime.reset_due_times()
