"""Trash for everything the user deletes: listing, restoring, erasing, and purging after a number of days."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from lethe_app.domain.changes import FILE_KINDS, Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services import mood
from lethe_app.services.background import feedback
from lethe_app.services.background.task_api import STATE_SCOPE
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import owner_of_world
from lethe_app.services.library import Library
from lethe_app.services.memory import objections, proactive
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.personas import draft_chat, inner_life
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.web import research
from lethe_app.storage.backup import backup_folder, delete_backups, list_backups
from lethe_app.storage.database import Database
from lethe_app.storage.files import trashed_files
from lethe_app.storage.key_value import KEY_MOMENT_DAYS, NOTEBOOK_PROGRESS
from lethe_app.storage.row_mapping import utc_text
from lethe_app.storage.trash_listing import PersonaStateKeys, TrashListing

PURGE_INTERVAL = 6 * 3600.0
"""Seconds between two purges."""


def app_state_keys(persona_id: str) -> PersonaStateKeys:
    """Return where a persona's data is stored in the app state, for deletion with the persona."""
    return PersonaStateKeys(
        persona_scopes=(
            *(mood.MOODS, mood.HISTORY, mood.READINGS),
            KEY_MOMENT_DAYS,
            *(proactive.NOTES, feedback.SCOPE, NOTEBOOK_PROGRESS, inner_life.SCOPE, draft_chat.SCOPE),
        ),
        persona_scope_prefixes=(STATE_SCOPE,),
        owned_scopes=(objections.scope_of(persona_id),),
        value_scopes=(research.SCOPE,),
    )


class FileTrash:
    """Deleted files. The services that own them restore them."""

    def __init__(
        self,
        paths: Paths,
        database: Database,
        library: Library,
        notebooks: NotebookService,
        documents: DocumentService,
    ) -> None:
        self._folder, self._database, self._personas = paths.trash, database, paths.personas
        self._backed_up = paths.database
        self._library, self._notebooks, self._documents = library, notebooks, documents

    async def list_items(self) -> list[Trashed]:
        """Return the deleted files."""
        return await self._database.run_outside_transaction(lambda: trashed_files.list_files(self._folder))

    async def count_backups(self) -> int:
        """Return the number of backups, which may contain what is deleted. Raise StorageError."""
        return len(await asyncio.to_thread(list_backups, backup_folder(self._backed_up)))

    async def erase_backups(self) -> None:
        """Delete all backups. Raise StorageError."""
        await asyncio.to_thread(delete_backups, self._backed_up)

    async def load_preview(self, item: Trashed) -> str:
        """Return the beginning of what a file contains."""
        return await self._database.run_outside_transaction(lambda: trashed_files.load_preview(Path(item.id)))

    async def erase(self, items: Sequence[Trashed]) -> list[str]:
        """Delete files, and the pictures of personas, permanently, and the documents of the personas and worlds of which no
        file is left, in use (readable or not) or in the trash; return the owners of these documents.
        """
        await self._database.run_outside_transaction(lambda: self._erase_files([Path(item.id) for item in items]))
        left = {item.stem for item in await self.list_items()} | {error.path.stem for error in await self._library.errors()}
        personas = {item.stem for item in items if item.kind is TrashKind.PERSONA} - left - await self.persona_ids()
        worlds = {item.stem for item in items if item.kind is TrashKind.WORLD} - left
        if worlds:
            worlds -= (await self._library.worlds()).keys()
        for persona_id in personas:
            await self._notebooks.erase_all(persona_id)
        owners = [*personas, *map(owner_of_world, worlds)]
        for owner in owners:
            await self._documents.remove_all(owner)
        return owners

    def _erase_files(self, paths: Sequence[Path]) -> None:
        """Delete files, and the pictures and archives to which no other persona, deleted or not, refers. While the file of
        a persona cannot be read, no picture is deleted: it may be the one to which that file refers.
        """
        unreferenced, _ = trashed_files.read_attachments(paths)
        trashed_files.erase(paths)
        if unreferenced:
            remaining = [*self._personas.glob("*.json"), *(self._folder / "personas").glob("*.json")]
            referenced, are_all_readable = trashed_files.read_attachments(remaining)
            if are_all_readable:
                trashed_files.erase([self._personas / name for name in unreferenced - referenced])

    async def persona_ids(self) -> set[str]:
        """Return the file names of all readable personas, users included."""
        return {persona.unique_name for persona in [*await self._library.personas(), *await self._library.user_personas()]}


class Trash:
    """Trash of files and database records. What is in it is not shown, found or recalled."""

    def __init__(
        self,
        files: FileTrash,
        records: TrashListing,
        restorers: Mapping[TrashKind, Callable[[str], Awaitable[object]]],
        session_editing: SessionEditing,
        facts: FactService,
        notebooks: NotebookService,
        indexing: IndexingService,
        preferences: Preferences,
    ) -> None:
        """Create the trash. `restorers` restore an item by its id, by kind; each is of the service that owns the item."""
        self.changed: Listeners[None] = Listeners()
        self._files, self._records, self._restorers = files, records, restorers
        self._session_editing, self._facts = session_editing, facts
        self._notebooks, self._indexing, self._preferences = notebooks, indexing, preferences
        self.background = BackgroundLoop(self.purge_expired, PURGE_INTERVAL)
        self.count_backups, self.erase_backups = self._files.count_backups, self._files.erase_backups
        self.may_erase_by_age = self._records.may_erase_by_age
        self.scrub = self._records.scrub
        """Remove what was deleted permanently from the files of the database."""

    @property
    def retention_days(self) -> int:
        """Return the number of days after which items are purged; 0 for never."""
        return self._preferences.current.trash_days

    async def list_items(self) -> list[Trashed]:
        """Return all items, last deleted first."""
        files, persona_ids = await self._files.list_items(), await self._files.persona_ids()
        # A deleted persona's sessions are counted only if no existing persona has the same file name: erasing the item would
        # not touch them.
        session_counts = await self._records.session_counts()
        counted = [
            replace(item, count=0 if item.stem in persona_ids else session_counts.get(item.stem, 0))
            if item.kind is TrashKind.PERSONA
            else item
            for item in files
        ]
        return sorted([*await self._records.list_items(), *counted], key=lambda item: item.when, reverse=True)

    async def load_preview(self, item: Trashed) -> str:
        """Return the beginning of an item's text; empty if it is not there any more."""
        return await (self._files if item.kind in FILE_KINDS else self._records).load_preview(item)

    async def restore(self, item: Trashed) -> None:
        """Restore an item to its former place. Raise LetheError if that is no longer possible."""
        if item.kind not in self._restorers:
            raise LetheError(f"“{item.title}” cannot be read, so it cannot be restored.", f"The file is at {item.id}.")
        await self._restorers[item.kind](item.id)
        self.changed.notify(None)

    async def erase(self, items: Sequence[Trashed], *, with_backups: bool = False) -> None:
        """Delete items permanently. With the last file of a persona, its sessions, memories, facts, logs, notebooks and
        documents are deleted too; with that of a world its documents; `with_backups` all backups, which contain them.
        """
        await self._erase(items, is_emptied={item.key for item in await self.list_items()} <= {item.key for item in items})
        if with_backups:
            await self.erase_backups()
        self.changed.notify(None)

    async def _erase(self, items: Sequence[Trashed], *, is_emptied: bool = False) -> None:
        """Delete items permanently; `is_emptied` also what was derived from former texts of messages."""
        records = [item for item in items if item.kind not in FILE_KINDS]
        await self._revise_notebooks()
        if is_emptied:
            await self._records.erase_former()
        for session in await self._records.erase(records):
            await self._session_editing.follow_changed_lines(session, at_once=True)
        for persona_id in {item.persona_id for item in records if item.kind is TrashKind.CONVERSATION}:
            await self._facts.renew(persona_id)  # facts that the deleted ones had superseded are valid again
        for owner in await self._files.erase([item for item in items if item.kind in FILE_KINDS]):
            await self._records.erase_persona(owner, app_state_keys(owner))
        for persona_id in {item.persona_id for item in items if item.kind is TrashKind.NOTEBOOK}:
            await self._records.erase_copies(persona_id)
        await self._indexing.index_changes()
        await self.scrub()

    async def purge_expired(self) -> None:
        """Delete items permanently that have been in the trash for longer than `retention_days`, unless the clock may be
        wrong.
        """
        if not await self.may_erase_by_age() or not self.retention_days:
            return
        limit = now() - timedelta(days=self.retention_days)
        expired = [item for item in await self.list_items() if item.when < limit]
        if expired:
            await self._revise_notebooks()
            await self._records.purge(utc_text(limit))  # `erase` removes the traces of these as well
            await self._erase([item for item in expired if item.kind in FILE_KINDS])
            self.changed.notify(None)

    async def _revise_notebooks(self) -> None:
        """Remove what notebooks state of withdrawn facts, while the texts of these are still known."""
        for persona_id in await self._records.persona_ids():
            await self._notebooks.revise_lines(persona_id, await self._facts.load_history(persona_id))
