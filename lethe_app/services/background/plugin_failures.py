"""Switch off a plug-in's task that fails repeatedly, and notify the user."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lethe_app.agents.registry import RegisteredTask
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState

SCOPE, TROUBLES = "task failures", "task troubles"
"""Scopes of the app state: failures in a row by task, and the reason by disabled task."""
TOO_OFTEN = 3


@dataclass(frozen=True)
class Disabled:
    """Task that was switched off because it failed."""

    task: str
    """Name of the task."""
    title: str
    plugin: str
    trouble: str
    """Reason of the failure, in one sentence."""


class Failing:
    """Failure counter of plug-in tasks. Built-in tasks are never switched off; their pauses grow with each failure instead."""

    def __init__(self, state: AppState, preferences: Preferences) -> None:
        self._state = state
        self._preferences = preferences

    async def note(self, known: RegisteredTask, run: TaskRun) -> str:
        """Count the outcome of a run. Return the sentence to show if its task is switched off now, else an empty text."""
        if not known.plugin:
            return ""
        if run.outcome is not RunOutcome.FAILED:
            if run.outcome in {RunOutcome.MADE, RunOutcome.NOTHING}:
                await self._state.set(SCOPE, known.name, None)
            return ""
        before = await self._state.get(SCOPE, known.name)
        failures = (before if isinstance(before, int) else 0) + 1
        if failures < TOO_OFTEN:
            await self._state.set(SCOPE, known.name, failures)
            return ""
        await self._state.set(SCOPE, known.name, None)  # who switches it on again gives it another chance
        await self._state.set(TROUBLES, known.name, run.trouble)
        off = self._preferences.current.tasks_off
        if known.name not in off:
            await self._preferences.set(tasks_off=[*off, known.name])
        return f"“{known.task.title}” failed {TOO_OFTEN} times in a row and was switched off. {run.trouble}".strip()

    async def disabled(self, known: Iterable[RegisteredTask]) -> list[Disabled]:
        """Return the tasks that are off because they failed, without those the user switched off or on again."""
        troubles, off = await self._state.all(TROUBLES), self._preferences.current.tasks_off
        return [
            Disabled(one.name, one.task.title, one.plugin, str(troubles[one.name]))
            for one in known
            if one.name in off and one.name in troubles
        ]

    async def allow(self, task: str) -> None:
        """Switch a task on again."""
        await self._state.set(TROUBLES, task, None)
        off = [name for name in self._preferences.current.tasks_off if name != task]
        await self._preferences.set(tasks_off=off)
