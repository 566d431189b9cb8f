"""Erasing of single days, of one persona or of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date

from lethe_app.services.maintenance.erasure import Erasure
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import SessionEditing, SessionsChanged
from lethe_app.storage.chats.days import DayStore
from lethe_app.storage.message_erasure import DayErasure


class Days:
    """The days on which there were messages. Each can be erased for good, with everything that was derived from it."""

    def __init__(
        self,
        days: DayStore,
        day_erasure: DayErasure,
        erasure: Erasure,
        notebooks: NotebookService,
        archive_queue: ArchiveQueue,
        session_editing: SessionEditing,
    ) -> None:
        self._days, self._day_erasure, self._erasure = days, day_erasure, erasure
        self._notebooks, self._archive_queue, self._session_editing = notebooks, archive_queue, session_editing

    async def count_messages(self, persona_id: str = "") -> dict[date, int]:
        """Return the days with messages of one persona or of all, newest first, with the number of messages."""
        counts: Counter[date] = Counter()
        for name in await self._persona_ids(persona_id):
            counts.update(await self._days.count_messages(name))
        return dict(sorted(counts.items(), reverse=True))

    async def erase(self, day: date, persona_id: str = "") -> int:
        """Erase a day of one persona or of all: its messages with their traces in summaries, facts, memories, notebooks, the
        index, recorded replies and saved model states; return the number of messages.

        What the user wrote besides messages remains. Raise StorageError.
        """
        names, count = await self._persona_ids(persona_id), 0
        for name in names:
            await self._session_editing.stop_replies(await self._days.sessions_of(name, day))
            erased = await self._day_erasure.erase_day(name, day)
            count += erased.messages
            # First of all, so that nobody reads on in what is gone.
            self._session_editing.sessions_changed.notify(
                SessionsChanged(name, erased.changed_sessions, erased.erased_sessions)
            )
            await self._notebooks.delete_day(name, day)
            for guid in erased.changed_sessions:
                await self._session_editing.remake_parts(guid)  # of what is left
            await self._archive_queue.renew(name)
        await self._erasure.finish(names)
        return count

    async def _persona_ids(self, persona_id: str) -> Sequence[str]:
        return [persona_id] if persona_id else await self._erasure.persona_ids()
