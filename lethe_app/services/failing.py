"""Switches off a plug-in's task that fails again and again, and says so."""

from __future__ import annotations

from lethe_app.agents.registry import Known
from lethe_app.domain.agents import Outcome, TaskRun
from lethe_app.services.preferences import Preferences
from lethe_app.storage.state import HouseState

SCOPE = "task failures"
TOO_OFTEN = 3


class Failing:
    """Ours may fail as often as they like: they rest longer and longer, and it is for us to mend them."""

    def __init__(self, state: HouseState, preferences: Preferences) -> None:
        self._state = state
        self._preferences = preferences

    async def note(self, known: Known, run: TaskRun) -> str:
        """A run has ended; the sentence to tell if its task is off from now on, else nothing."""
        if not known.plugin:
            return ""
        if run.outcome is not Outcome.FAILED:
            if run.outcome in {Outcome.MADE, Outcome.NOTHING}:
                await self._state.set(SCOPE, known.name, None)
            return ""
        before = await self._state.get(SCOPE, known.name)
        failures = (before if isinstance(before, int) else 0) + 1
        if failures < TOO_OFTEN:
            await self._state.set(SCOPE, known.name, failures)
            return ""
        await self._state.set(SCOPE, known.name, None)  # who switches it on again gives it another chance
        off = self._preferences.current.tasks_off
        if known.name not in off:
            await self._preferences.set(tasks_off=[*off, known.name])
        return f"“{known.task.title}” failed {TOO_OFTEN} times in a row and is off now. {run.trouble}".strip()
