"""Goals, journal, self-description and week of a persona, as the persona's page shows and edits them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from lethe_app.agents.goals import GoalRequest
from lethe_app.brain.recall.decay import days_to_live, is_prunable
from lethe_app.brain.recall.proactive_rules import WAITING_INSERTIONS
from lethe_app.dates.arithmetic import days_since
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.persona import Weekday
from lethe_app.errors import LetheError
from lethe_app.services.events import Listeners
from lethe_app.services.library import Library
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.preferences import Preferences
from lethe_app.storage.key_value import AppState

SCOPE = "goal wishes"


class GoalService:
    """Store of goal requests. `changed` is notified with the persona's id."""

    def __init__(self, app_state: AppState) -> None:
        self.changed: Listeners[str] = Listeners()
        self._app_state = app_state

    async def load_request(self, persona_id: str) -> GoalRequest:
        """Return the persona's goal request; an empty one if none is stored."""
        stored = await self._app_state.get(SCOPE, persona_id)
        if not isinstance(stored, dict):
            return GoalRequest()
        return GoalRequest(str(stored.get("request", "")), str(stored.get("notice", "")))

    async def save_request(self, persona_id: str, request: str, notice: str = "") -> None:
        """Replace the persona's goal request; two blank texts delete it."""
        is_empty = not request.strip() and not notice.strip()
        await self._app_state.set(SCOPE, persona_id, None if is_empty else {"request": request, "notice": notice})
        self.changed.notify(persona_id)


MAX_PLAN_CHARACTERS = 600
"""Maximum characters of one day's plan, which keeps the note at the user's return short."""


class Week:
    """Read and edit the weekly plans. Days are saved one at a time, so that the editor and a tool do not overwrite each
    other.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = asyncio.Lock()

    async def load_plans(self, persona_id: str) -> dict[Weekday, str]:
        """Return the plans of all seven days, empty where nothing is planned. Raise FileError."""
        persona = await self._library.persona(persona_id)
        return {day: persona.schedule.get(day, "") for day in Weekday}

    async def load_plan(self, persona_id: str, day: Weekday | None = None) -> str:
        """Return the plan of a day, today's by default."""
        return (await self.load_plans(persona_id))[day or today()]

    async def save_plan(self, persona_id: str, day: Weekday, text: str) -> str:
        """Replace a day's plan, or clear it with an empty text, and return the previous one."""
        async with self._lock:
            persona = await self._library.persona(persona_id)
            previous = persona.schedule.get(day, "")
            plan = text.strip()[:MAX_PLAN_CHARACTERS]
            if plan != previous:
                schedule = {key: value for key, value in (persona.schedule | {day: plan}).items() if value}
                await self._library.save_persona(persona.model_copy(update={"schedule": schedule}))
            return previous


def today() -> Weekday:
    """Return the current weekday in the local time zone."""
    return list(Weekday)[now().astimezone().weekday()]


MAX_NAME_CHARACTERS = 80


@dataclass(frozen=True)
class ActiveGoal:
    """Goal with its remaining time."""

    memory: MemoryUnit
    days_left: int | None
    """Days until the goal expires if nothing recalls it; None if it never expires."""


class InnerLife:
    """Read and edit a persona's goals, journal and self-description. `changed` is notified with the persona's id."""

    def __init__(self, library: Library, memory_cache: MemoryCache, preferences: Preferences) -> None:
        self.changed: Listeners[str] = memory_cache.changed
        self._library = library
        self._memory_cache = memory_cache
        self._preferences = preferences
        self._lock = asyncio.Lock()

    async def list_journal(self, persona_id: str) -> list[MemoryUnit]:
        """Return all journal entries, newest first."""
        return [memory for memory in await self._memory_cache.memories_of(persona_id) if memory.category is MemoryType.JOURNAL]

    async def list_goals(self, persona_id: str) -> list[ActiveGoal]:
        """Return the enabled goals, highest priority first."""
        active_goals = [
            goal
            for goal in await self._memory_cache.memories_of(persona_id)
            if goal.category is MemoryType.GOAL and goal.enabled
        ]
        present = now()
        ranked = sorted(active_goals, key=lambda goal: (-goal.priority, -goal.added.timestamp(), goal.guid))
        return [ActiveGoal(goal, self._days_left(goal, present)) for goal in ranked]

    async def load_thoughts(self, persona_id: str) -> str:
        """Return what the persona has written about itself and the user (`self_edit_field`). Raise FileError."""
        return (await self._library.persona(persona_id)).self_edit_field

    async def save_thoughts(self, persona_id: str, text: str) -> None:
        """Replace what the persona has written about itself and the user. Raise FileError, StorageError."""
        async with self._lock:
            persona = await self._library.persona(persona_id)
            if persona.self_edit_field != text:
                await self._library.save_persona(persona.model_copy(update={"self_edit_field": text}))

    async def set_moods_enabled(self, persona_id: str, *, enabled: bool) -> None:
        """Enable or disable moods for the persona."""
        async with self._lock:
            persona = await self._library.persona(persona_id)
            if persona.mood != enabled:
                await self._library.save_persona(persona.model_copy(update={"mood": enabled}))

    def _days_left(self, memory: MemoryUnit, present: datetime) -> int | None:
        if not is_prunable(memory):
            return None
        settings = self._preferences.current
        remaining_days = [-days_since(memory.end_time, present)] if memory.end_time is not None else []
        if memory.insertion in WAITING_INSERTIONS:
            remaining_days.append(settings.eureka_cut_off_days - days_since(memory.added, present))
        elif memory.insertion is MemoryInsertion.TRIGGER:
            last = memory.last_trigger if memory.trigger_count else memory.added
            remaining_days.append(days_to_live(memory, settings) - days_since(last, present))
        return max(0, ceil(min(remaining_days))) if remaining_days else None


def build_journal_entry(title: str, text: str) -> MemoryUnit:
    """Create a journal entry of the user; its empty `MemoryUnit.made_by` keeps background tasks from changing it. Raise
    LetheError for a blank text.
    """
    if not text.strip():
        raise LetheError("A journal entry needs text.")
    name = " ".join((title.strip() or text).split())
    return MemoryUnit(category=MemoryType.JOURNAL, name=name[:MAX_NAME_CHARACTERS], content=text.strip())
