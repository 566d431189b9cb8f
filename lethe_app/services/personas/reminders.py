"""Reminders: memories that are reported when they are due and enter the conversation at the user's next message."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from uuid import UUID

from lethe_app.brain.proactive.reminder_requests import find_reminder_requests
from lethe_app.dates.future import FutureDate, parse_future_date
from lethe_app.domain.chat import Message
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.errors import LetheError
from lethe_app.services.events import Listeners
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.memories import MemoryStore

log = logging.getLogger(__name__)

OVERDUE_LIFETIME = timedelta(days=30)
"""Time after its due date for which a reminder is still brought up at the user's next message."""
CHECK_INTERVAL = 30.0
"""Seconds between two checks for due reminders."""
MAX_NAME_CHARACTERS = 60
MAX_REPORTED = 500
"""Number of ids of reported reminders that are kept; the oldest are dropped first."""
SCOPE, REPORTED_KEY = "reminders", "notified"


class Reminders:
    """Create reminders and watch for due ones. `due` is notified once per reminder, with the id of its persona, across
    restarts too.
    """

    def __init__(
        self,
        memory: MemoryService,
        memory_cache: MemoryCache,
        memory_store: MemoryStore,
        app_state: AppState,
        preferences: Preferences,
    ) -> None:
        self.due: Listeners[list[tuple[str, MemoryUnit]]] = Listeners()
        self.requested: Listeners[MemoryUnit] = Listeners()
        """Notified with each reminder that was set because a message asked for it."""
        self._memory = memory
        self._memory_cache = memory_cache
        self._memory_store = memory_store
        self._app_state = app_state
        self._preferences = preferences
        self._waiting: list[tuple[str, MemoryUnit]] | None = None
        """Waiting reminders read last; None after memories have changed."""
        self._unsubscribe = memory_cache.changed.add(self._on_memories_changed)
        self.background = BackgroundLoop(self.notify_due, CHECK_INTERVAL)

    async def close(self) -> None:
        self._unsubscribe()
        await self.background.close()

    async def create_reminder(
        self, persona_id: str, text: str, when: datetime | date, *, made_by: str = "", sources: Sequence[str] = ()
    ) -> MemoryUnit:
        """Store a reminder for a day or a moment and return its memory. Raise LetheError for a blank text or a time in the
        past.

        `made_by` and `sources` are the memory's fields; empty for a reminder that the user wrote.
        """
        memory = build_reminder(text, when).model_copy(update={"made_by": made_by, "sources": list(sources)})
        await self._memory.memorize(persona_id, memory, check=False)
        return memory

    async def set_requested(self, persona_id: str, message: Message, *, is_edited: bool) -> None:
        """Set the reminders that a message of the user asks for, and notify `requested` of each new one. What is waiting
        already is not set twice, and what the same message asked for before it was edited is replaced. With memory switched
        off nothing is set.

        An error does not prevent the reply: no reminder is set, and a warning is logged.
        """
        if not self._preferences.current.memory_enabled:
            return
        source = f"message:{message.id}"
        try:
            requested = [
                build_reminder(request.text, request.when)
                for request in find_reminder_requests(message.content, now().astimezone())
            ]
            if not requested and not is_edited:
                return
            new = {(reminder.content, reminder.added): reminder for reminder in requested}
            for earlier in await self.reminders_of(persona_id):
                is_requested = new.pop((earlier.content, earlier.added), None) is not None  # by this or another message
                if source in earlier.sources and not is_requested:
                    await self._memory.forget_memory(earlier.guid)
            for reminder in new.values():
                stored = reminder.model_copy(update={"sources": [source]})
                await self._memory.memorize(persona_id, stored, check=False)
                self.requested.notify(stored)
        except LetheError as error:
            log.warning("No reminder could be set: %s", error)

    async def reminders_of(self, persona_id: str) -> list[MemoryUnit]:
        """Return the persona's waiting reminders, next one first."""
        memories = await self._memory_cache.memories_of(persona_id)
        return sorted((memory for memory in memories if is_waiting(memory)), key=lambda memory: (memory.added, memory.guid))

    def parse_date(self, text: str) -> FutureDate | None:
        """Parse a date such as “tomorrow at 9” or “24 December”, relative to now in the local time zone; None if it is not
        understood.
        """
        return parse_future_date(text, now().astimezone())

    async def notify_due(self) -> None:
        """Notify `due` of the reminders that have become due since the last check."""
        if self._waiting is None:
            self._waiting = await self._memory_store.pending_reminders()
        stored = await self._app_state.get(SCOPE, REPORTED_KEY)
        reported = [UUID(str(guid)) for guid in stored] if isinstance(stored, list) else []
        unreported = [
            (owner, memory)
            for owner, memory in self._waiting
            if memory.enabled and memory.is_due(now()) and memory.guid not in reported
        ]
        if unreported:
            # The ids are stored before `due` is notified, so that no reminder is reported twice, whatever happens
            # afterwards.
            guids = [str(guid) for guid in (*reported, *(memory.guid for _owner, memory in unreported))]
            await self._app_state.set(SCOPE, REPORTED_KEY, guids[-MAX_REPORTED:])
            self.due.notify(unreported)

    def _on_memories_changed(self, _persona_id: str) -> None:
        self._waiting = None
        self.background.wake()


def build_reminder(text: str, when: datetime | date) -> MemoryUnit:
    """Create the memory of a reminder, which is not recalled before it is due. Raise LetheError for a blank text or a past
    time.
    """
    content = text.strip()
    if not content:
        raise LetheError("A reminder needs text.", "Enter what you want to be reminded of.")
    begins = when if isinstance(when, datetime) else at_midnight(when)
    latest = begins if isinstance(when, datetime) else begins + timedelta(days=1)
    if latest <= now():
        raise LetheError("That time is in the past.", "Choose a time in the future.")
    first_line = content.splitlines()[0]
    return MemoryUnit(
        category=MemoryType.REMINDER,
        insertion=MemoryInsertion.USER_RETURN,
        name=first_line if len(first_line) <= MAX_NAME_CHARACTERS else f"{first_line[: MAX_NAME_CHARACTERS - 1]}…",
        content=content,
        added=begins,
        end_time=begins + timedelta(days=1) + OVERDUE_LIFETIME,
    )


def at_midnight(day: date) -> datetime:
    """Return the first moment of a day in the local time zone."""
    return datetime.combine(day, time()).astimezone()


def is_waiting(memory: MemoryUnit) -> bool:
    """Return whether the memory is a reminder that has not entered a conversation yet."""
    return memory.category is MemoryType.REMINDER and memory.insertion is not MemoryInsertion.NONE
