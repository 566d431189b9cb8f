"""Switch off a plug-in's task that fails repeatedly, and notify the user."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lethe_app.agents.registry import RegisteredTask
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState

SCOPE, FAILURE_REASONS = "task failures", "task troubles"
"""Scopes of the app state: failures in a row by task, and the reason by disabled task."""
MAX_FAILURES = 3


@dataclass(frozen=True)
class DisabledTask:
    """Task that was switched off because it failed."""

    task: str
    """Name of the task."""
    title: str
    plugin: str
    error: str
    """Reason of the failure, in one sentence."""


class PluginFailures:
    """Failure counter of plug-in tasks. Built-in tasks are never switched off; their pauses grow with each failure instead."""

    def __init__(self, app_state: AppState, preferences: Preferences) -> None:
        self._app_state = app_state
        self._preferences = preferences

    async def record_outcome(self, registered: RegisteredTask, run: TaskRun) -> str:
        """Count the outcome of a run. Return the sentence to show if its task is switched off now, else an empty text."""
        if not registered.plugin:
            return ""
        if run.outcome is not RunOutcome.FAILED:
            if run.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}:
                await self._app_state.set(SCOPE, registered.name, None)
            return ""
        stored = await self._app_state.get(SCOPE, registered.name)
        failures = (stored if isinstance(stored, int) else 0) + 1
        if failures < MAX_FAILURES:
            await self._app_state.set(SCOPE, registered.name, failures)
            return ""
        await self._app_state.set(SCOPE, registered.name, None)  # who switches it on again gives it another chance
        await self._app_state.set(FAILURE_REASONS, registered.name, run.trouble)
        disabled_names = self._preferences.current.tasks_off
        if registered.name not in disabled_names:
            await self._preferences.set(tasks_off=[*disabled_names, registered.name])
        return f"“{registered.task.title}” failed {MAX_FAILURES} times in a row and was switched off. {run.trouble}".strip()

    async def list_disabled(self, registered_tasks: Iterable[RegisteredTask]) -> list[DisabledTask]:
        """Return the tasks that are off because they failed, without those the user switched off or on again."""
        reasons, off = await self._app_state.values_of(FAILURE_REASONS), self._preferences.current.tasks_off
        return [
            DisabledTask(registered.name, registered.task.title, registered.plugin, str(reasons[registered.name]))
            for registered in registered_tasks
            if registered.name in off and registered.name in reasons
        ]

    async def enable_task(self, task: str) -> None:
        """Switch a task on again."""
        await self._app_state.set(FAILURE_REASONS, task, None)
        disabled_names = [name for name in self._preferences.current.tasks_off if name != task]
        await self._preferences.set(tasks_off=disabled_names)
