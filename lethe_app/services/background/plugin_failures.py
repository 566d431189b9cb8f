"""Switches off a plug-in's task that fails again and again, and says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lethe_app.agents.registry import RegisteredTask
from lethe_app.domain.agent_runs import RunOutcome, TaskRun
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState

SCOPE, TROUBLES = "task failures", "task troubles"
"""How often each failed in a row, and of those that are off for it, why."""
TOO_OFTEN = 3


@dataclass(frozen=True)
class Disabled:
    """A task that is off because it failed."""

    task: str
    """Its name."""
    title: str
    plugin: str
    trouble: str
    """Why it failed, in a sentence."""


class Failing:
    """Ours may fail as often as they like: they rest longer and longer, and it is for us to mend them."""

    def __init__(self, state: AppState, preferences: Preferences) -> None:
        self._state = state
        self._preferences = preferences

    async def note(self, known: RegisteredTask, run: TaskRun) -> str:
        """A run has ended; the sentence to tell if its task is off from now on, else nothing."""
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
        return f"“{known.task.title}” failed {TOO_OFTEN} times in a row and is off now. {run.trouble}".strip()

    async def disabled(self, known: Iterable[RegisteredTask]) -> list[Disabled]:
        """Those of them that are off because they failed; what the user switched off, or on again, is not among them."""
        troubles, off = await self._state.all(TROUBLES), self._preferences.current.tasks_off
        return [
            Disabled(one.name, one.task.title, one.plugin, str(troubles[one.name]))
            for one in known
            if one.name in off and one.name in troubles
        ]

    async def allow(self, task: str) -> None:
        """Give it another chance."""
        await self._state.set(TROUBLES, task, None)
        off = [name for name in self._preferences.current.tasks_off if name != task]
        await self._preferences.set(tasks_off=off)
