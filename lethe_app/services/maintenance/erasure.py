"""Erasing of everything that personas remember, for good: one persona's, or everybody's."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from lethe_app.services.documents.service import DocumentService
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.library import Library
from lethe_app.services.maintenance.trash import app_state_keys
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.prompting.cache_state import CacheState
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.sessions.editing import SessionEditing, SessionsChanged
from lethe_app.services.web import gate
from lethe_app.storage.backup import delete_backups
from lethe_app.storage.chats.days import DayStore
from lethe_app.storage.trash_listing import TrashListing


class Erasure:
    """Erases conversations, memories, facts, notebooks, documents, moods and plans, feedback and the activity log, in the trash
    or not, with their traces in the index, in recorded replies and in saved model states. Personas, worlds, presets and
    settings remain.
    """

    def __init__(
        self,
        records: TrashListing,
        notebooks: NotebookService,
        documents: DocumentService,
        memory: MemoryService,
        library: Library,
        indexing: IndexingService,
        cache_state: CacheState,
        sessions_changed: Listeners[str],
    ) -> None:
        self._records, self._notebooks, self._documents = records, notebooks, documents
        self._memory, self._library, self._indexing = memory, library, indexing
        self._cache_state, self._sessions_changed = cache_state, sessions_changed

    async def erase_all(self) -> None:
        """Erase what everybody remembers, also personas that were deleted. Raise StorageError."""
        await self.erase(await self.persona_ids())
        await self._records.erase_app_state(gate.SCOPE)  # which contains what was searched for

    async def persona_ids(self) -> list[str]:
        """Return the ids of all personas, also of those that were deleted."""
        names = {persona.unique_name for persona in await self._library.personas()}
        return sorted(names | (await self._records.persona_ids()))

    async def erase(self, persona_ids: Sequence[str]) -> None:
        """Erase what these personas remember. Raise StorageError."""
        for persona_id in persona_ids:
            await self._records.erase_persona(persona_id, app_state_keys(persona_id))
            await self._notebooks.erase_all(persona_id)
            await self._documents.remove_all(persona_id)
        await self.finish(persona_ids)

    async def finish(self, persona_ids: Sequence[str]) -> None:
        """Remove what was erased of these personas from caches, the index, saved model states and the files of the database."""
        self._memory.drop_caches()
        await self._cache_state.clear()
        await self._indexing.index_all_pending()
        await self._records.scrub()
        for persona_id in persona_ids:
            self._sessions_changed.notify(persona_id)


async def erase_backups(database: Path) -> int:
    """Delete all backups of the database and return their number. Raise StorageError."""
    return await asyncio.to_thread(delete_backups, database)


class Days:
    """The days on which there were messages. Each can be erased for good, with everything that was derived from it."""

    def __init__(
        self,
        days: DayStore,
        erasure: Erasure,
        notebooks: NotebookService,
        archive_queue: ArchiveQueue,
        session_editing: SessionEditing,
        facts: FactService,
    ) -> None:
        self._days, self._erasure, self._facts = days, erasure, facts
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
            await self._days.delete_day(name, day)
            await self._notebooks.revise_lines(name, await self._facts.load_history(name))
            erased = await self._days.erase_day(name, day)
            count += erased.messages
            # First of all, so that nobody reads on in what is gone.
            self._session_editing.sessions_changed.notify(
                SessionsChanged(name, erased.changed_sessions, erased.erased_sessions)
            )
            await self._notebooks.delete_day(name, day)
            for guid in erased.changed_sessions:
                await self._archive_queue.follow_changed_lines(guid, at_once=True)
            await self._archive_queue.renew(name)
        await self._erasure.finish(names)
        return count

    async def _persona_ids(self, persona_id: str) -> Sequence[str]:
        return [persona_id] if persona_id else await self._erasure.persona_ids()
