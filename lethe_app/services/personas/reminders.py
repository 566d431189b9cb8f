"""Reminders by date: kept until their day comes, told on the desktop if the program is open, and at the next message."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from uuid import UUID

from lethe_app.brain.dates.future import When, read
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.errors import LetheError
from lethe_app.services.events import Listeners
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.service import Brain
from lethe_app.services.scheduling.loop import Background
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.memories import ReminderRows

KEPT = timedelta(days=30)
"""After its day it still comes up at the user's next message; one that nobody came back for in a month is let go."""
LOOK_AGAIN = 30.0
LONGEST_NAME = 60
MOST_TOLD = 500
SCOPE, TOLD = "reminders", "told on the desktop"


class Reminders:
    """`due` is told the reminders whose time has come, each with the persona whose it is: once, whatever happens."""

    def __init__(self, brain: Brain, holdings: MemoryCache, rows: ReminderRows, app_state: AppState) -> None:
        self.due: Listeners[list[tuple[str, MemoryUnit]]] = Listeners()
        self._brain = brain
        self._holdings = holdings
        self._rows = rows
        self._app_state = app_state
        self._known: list[tuple[str, MemoryUnit]] | None = None
        """What was read last; None once memories have changed."""
        self._forget = holdings.changed.add(self._changed)
        self._background = Background(self.look, LOOK_AGAIN)

    def start(self, pause: float = 0.0) -> None:
        """Watch the clock."""
        self._background.start(pause)

    async def close(self) -> None:
        self._forget()
        await self._background.close()

    async def remind(
        self, persona_id: str, text: str, when: datetime | date, *, made_by: str = "", sources: Sequence[str] = ()
    ) -> MemoryUnit:
        """Have her mention something on that day, or from that moment on. Raises LetheError without words or in the past.

        `made_by` and `sources` as a memory has them: empty for what the user writes down themselves.
        """
        memory = reminder(text, when).model_copy(update={"made_by": made_by, "sources": list(sources)})
        await self._brain.memorize(persona_id, memory, check=False)
        return memory

    async def reminders_of(self, persona_id: str) -> list[MemoryUnit]:
        """Those that were not told yet, the next one first."""
        held = await self._holdings.memories_of(persona_id)
        return sorted((one for one in held if is_waiting(one)), key=lambda one: (one.added, one.guid))

    def understood(self, words: str) -> When | None:
        """The day, and perhaps the hour, that words such as “tomorrow at 9” or “24 December” mean today."""
        return read(words, now().astimezone())

    async def look(self) -> None:
        """Tell what has become due since the last look."""
        if self._known is None:
            self._known = await self._rows.waiting()
        here = [(persona_id, one) for persona_id, one in self._known if one.enabled and one.is_due(now())]
        told = await self._told()
        new = [(persona_id, one) for persona_id, one in here if one.guid not in told]
        if new:
            await self._app_state.set(
                SCOPE, TOLD, [str(guid) for guid in (*told, *(one.guid for _id, one in new))][-MOST_TOLD:]
            )
            self.due.tell(new)

    def _changed(self, _persona_id: str) -> None:
        self._known = None
        self._background.wake()

    async def _told(self) -> Sequence[UUID]:
        stored = await self._app_state.get(SCOPE, TOLD)
        return [UUID(str(one)) for one in stored] if isinstance(stored, list) else []


def reminder(text: str, when: datetime | date) -> MemoryUnit:
    """The memory that is silent until then and comes up at the next message. Raises LetheError."""
    words = text.strip()
    if not words:
        raise LetheError("A reminder needs a few words.", "Say what you want to be reminded of.")
    begins = when if isinstance(when, datetime) else at_midnight(when)
    last = begins if isinstance(when, datetime) else begins + timedelta(days=1)
    if last <= now():
        raise LetheError("That time is over.", "Choose one that is still to come.")
    first_line = words.splitlines()[0]
    return MemoryUnit(
        category=MemoryType.REMINDER,
        insertion=MemoryInsertion.USER_RETURN,
        name=first_line if len(first_line) <= LONGEST_NAME else f"{first_line[: LONGEST_NAME - 1]}…",
        content=words,
        added=begins,
        end_time=begins + timedelta(days=1) + KEPT,
    )


def at_midnight(day: date) -> datetime:
    """The first moment of a day, by the clock here."""
    return datetime.combine(day, time()).astimezone()


def is_waiting(memory: MemoryUnit) -> bool:
    """Is it a reminder that is still to be told?"""
    return memory.category is MemoryType.REMINDER and memory.insertion is not MemoryInsertion.NONE
