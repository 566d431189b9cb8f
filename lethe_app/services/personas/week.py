"""A persona's plans for the days of the week: told when the user comes back, and changed day by day."""

from __future__ import annotations

import asyncio

from lethe_app.domain.clock import now
from lethe_app.domain.persona import Weekday
from lethe_app.services.library import Library

LONGEST_PLAN = 600
"""Characters: the note at a return is to stay short."""


class Week:
    """One day at a time, so that an editor and a tool at work do not undo each other."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._one_at_a_time = asyncio.Lock()

    async def plans(self, persona_id: str) -> dict[Weekday, str]:
        """All seven days, empty where nothing is planned. Raises FileError."""
        persona = await self._library.persona(persona_id)
        return {day: persona.schedule.get(day, "") for day in Weekday}

    async def plan(self, persona_id: str, day: Weekday | None = None) -> str:
        """Of that day, or of today."""
        return (await self.plans(persona_id))[day or today()]

    async def set_plan(self, persona_id: str, day: Weekday, text: str) -> str:
        """Plan a day anew, or clear it; returns what was planned before."""
        async with self._one_at_a_time:
            persona = await self._library.persona(persona_id)
            before = persona.schedule.get(day, "")
            plan = text.strip()[:LONGEST_PLAN]
            if plan != before:
                kept = {key: value for key, value in (persona.schedule | {day: plan}).items() if value}
                await self._library.save_persona(persona.model_copy(update={"schedule": kept}))
            return before


def today() -> Weekday:
    """By the clock here."""
    return list(Weekday)[now().astimezone().weekday()]
