"""Trash for everything the user deletes: listing, restoring, erasing, and purging after a number of days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from lethe_app.domain.changes import FILE_KINDS, Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import owner_of_world
from lethe_app.services.maintenance.file_trash import FileTrash
from lethe_app.services.maintenance.record_trash import RecordTrash
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop

PURGE_INTERVAL = 6 * 3600.0
"""Seconds between two purges."""


class Trash:
    """Trash of files and database records. What is in it is not shown, found or recalled."""

    def __init__(
        self,
        files: FileTrash,
        records: RecordTrash,
        documents: DocumentService,
        indexing: IndexingService,
        preferences: Preferences,
    ) -> None:
        self.changed: Listeners[None] = Listeners()
        self.records = records
        self._files, self._documents, self._indexing, self._preferences = files, documents, indexing, preferences
        self.background = BackgroundLoop(self.purge_expired, PURGE_INTERVAL)

    @property
    def retention_days(self) -> int:
        """Return the number of days after which items are purged; 0 for never."""
        return self._preferences.current.trash_days

    async def list_items(self) -> list[Trashed]:
        """Return all items, last deleted first."""
        files, persona_ids = await self._files.list_items(), await self._files.persona_ids()
        # A deleted persona's sessions are counted only if no existing persona has the same file name: erasing the item would
        # not touch them.
        session_counts = await self.records.session_counts()
        counted = [
            replace(item, count=0 if item.stem in persona_ids else session_counts.get(item.stem, 0))
            if item.kind is TrashKind.PERSONA
            else item
            for item in files
        ]
        return sorted([*await self.records.list_items(), *counted], key=lambda item: item.when, reverse=True)

    async def load_preview(self, item: Trashed) -> str:
        """Return the beginning of an item's text; empty if it is not there any more."""
        return await (self._files if item.kind in FILE_KINDS else self.records).load_preview(item)

    async def restore(self, item: Trashed) -> None:
        """Restore an item to its former place. Raise LetheError if that is no longer possible."""
        await (self._files if item.kind in FILE_KINDS else self.records).restore(item)
        self.changed.notify(None)

    async def erase(self, items: Sequence[Trashed]) -> None:
        """Delete items permanently. With the last file of a persona, its sessions, memories, facts, logs, notebooks and
        documents are deleted too; with that of a world its documents.
        """
        records = [item for item in items if item.kind not in FILE_KINDS]
        await self.records.erase(records)
        for persona_id in await self._files.erase([item for item in items if item.kind in FILE_KINDS]):
            await self.records.erase_persona(persona_id)
            await self._documents.remove_all(persona_id)
        for name in await self._files.list_lost_worlds(items):
            await self._documents.remove_all(owner_of_world(name))
        await self._remove_traces()
        self.changed.notify(None)

    async def _remove_traces(self) -> None:
        """Remove what was deleted permanently from the index, and from the files of the database."""
        await self._indexing.index_changes()
        await self.records.scrub()

    async def purge_expired(self) -> None:
        """Delete items permanently that have been in the trash for longer than `retention_days`."""
        if not self.retention_days:
            return
        limit = now() - timedelta(days=self.retention_days)
        expired = [item for item in await self.list_items() if item.when < limit]
        if expired:
            await self.records.purge(limit)  # `erase` removes the traces of these as well
            await self.erase([item for item in expired if item.kind in FILE_KINDS])
