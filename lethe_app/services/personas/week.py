"""A persona's plans for the days of the week, which the persona mentions when the user returns."""

from __future__ import annotations

import asyncio

from lethe_app.domain.clock import now
from lethe_app.domain.persona import Weekday
from lethe_app.services.library import Library

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
