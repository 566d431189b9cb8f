"""Trash for everything the user deletes: listing, restoring, erasing, and purging after a number of days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from lethe_app.domain.changes import FILE_KINDS, Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services import mood
from lethe_app.services.background import feedback, key_moments
from lethe_app.services.background.task_api import STATE_SCOPE
from lethe_app.services.documents.service import DocumentService
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import owner_of_world
from lethe_app.services.library import Library
from lethe_app.services.memory import objections, proactive
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.notebooks import writer as notebook_writer
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.personas import draft_chat, inner_life
from lethe_app.services.personas.presets import PresetService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.web import gate, research
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.files import trashed_files
from lethe_app.storage.row_mapping import utc_text
from lethe_app.storage.trash_listing import PersonaStateKeys, TrashListing


class RecordTrash:
    """Deleted records of the database. The services that own them restore them."""

    def __init__(
        self,
        database: Database,
        session_store: SessionStore,
        sessions: SessionService,
        session_editing: SessionEditing,
        memory: MemoryService,
        facts: FactService,
    ) -> None:
        self._listing, self._session_store = TrashListing(database), session_store
        self._sessions, self._session_editing, self._memory, self._facts = sessions, session_editing, memory, facts
        self.list_items = self._listing.list_items
        """Return the deleted records."""
        self.load_preview = self._listing.load_preview
        """Return the beginning of the text of a record."""
        self.session_counts = self._listing.session_counts
        """Return the number of sessions by persona, those in the trash excluded."""
        self.persona_ids = self._listing.persona_ids
        """Return the ids of all personas of whom anything is stored, also of those whose files are gone."""
        self.scrub = self._listing.scrub
        """Remove what was deleted permanently from the files of the database."""

    async def restore(self, item: Trashed) -> None:
        """Restore a record. Raise StorageError if it is not stored any more."""
        guid = UUID(item.id)
        match item.kind:
            case TrashKind.CONVERSATION:
                await self._sessions.restore(guid)
            case TrashKind.MEMORY:
                await self._memory.restore(guid)
            case TrashKind.FACT:
                await self._facts.restore(guid)
            case _:
                await self.restore_message(guid)

    async def restore_message(self, guid: UUID) -> None:
        """Restore a message with the hidden messages that were deleted with it. Raise LetheError if it is not stored any
        more.
        """
        await self._session_store.restore_message(*map(UUID, await self._listing.ids_with_hidden_notes(str(guid))))
        await self._session_editing.invalidate([(await self._session_store.message(guid)).session_id])

    async def erase(self, items: Sequence[Trashed]) -> None:
        """Delete records permanently."""
        for session in await self._listing.erase(items):
            await self._session_editing.remake_parts(session)
        for persona_id in {item.persona_id for item in items if item.kind is TrashKind.CONVERSATION}:
            await self._facts.renew(persona_id)  # facts that the deleted ones had superseded are valid again

    async def erase_persona(self, persona_id: str) -> None:
        """Delete everything permanently that is stored for a persona."""
        await self._listing.erase_persona(persona_id, app_state_keys(persona_id))

    async def erase_web_log(self) -> None:
        """Delete the log of web requests, which contains what was searched for."""
        await self._listing.erase_app_state(gate.SCOPE)

    async def purge(self, limit: datetime) -> None:
        """Delete records permanently that were deleted before `limit`."""
        await self._listing.purge(utc_text(limit))


def app_state_keys(persona_id: str) -> PersonaStateKeys:
    """Return where a persona's data is stored in the app state, for deletion with the persona."""
    return PersonaStateKeys(
        persona_scopes=(
            *(mood.MOODS, mood.HISTORY, mood.READINGS),
            key_moments.SCOPE,
            *(proactive.NOTES, feedback.SCOPE, notebook_writer.SCOPE, inner_life.SCOPE, draft_chat.SCOPE),
        ),
        persona_scope_prefixes=(STATE_SCOPE,),
        owned_scopes=(objections.scope_of(persona_id),),
        value_scopes=(research.SCOPE,),
    )


class FileTrash:
    """Deleted files. The services that own them restore them."""

    def __init__(
        self, paths: Paths, database: Database, library: Library, presets: PresetService, notebooks: NotebookService
    ) -> None:
        self._folder, self._database, self._personas = paths.trash, database, paths.personas
        self._library, self._presets, self._notebooks = library, presets, notebooks

    async def list_items(self) -> list[Trashed]:
        """Return the deleted files."""
        return await self._database.run_outside_transaction(lambda: trashed_files.list_files(self._folder))

    async def load_preview(self, item: Trashed) -> str:
        """Return the beginning of what a file contains."""
        return await self._database.run_outside_transaction(lambda: trashed_files.load_preview(Path(item.id)))

    async def restore(self, item: Trashed) -> None:
        """Restore a file to its former place. Raise LetheError if it cannot be read."""
        path = Path(item.id)
        match item.kind:
            case TrashKind.PERSONA | TrashKind.USER_PERSONA:
                await self._library.restore_persona(path)
            case TrashKind.WORLD:
                await self._library.restore_world(path)
                self._library.changed.notify(None)
            case TrashKind.PRESET:
                await self._restore_preset(path)
            case TrashKind.NOTEBOOK:
                await self._notebooks.restore(path)
            case _:
                raise LetheError(f"“{item.title}” cannot be read, so it cannot be restored.", f"The file is at {path}.")

    async def _restore_preset(self, path: Path) -> None:
        kind = await self._database.run_outside_transaction(lambda: trashed_files.preset_kind(path))
        if kind is SamplerPreset:
            await self._presets.restore(SamplerPreset, path)
        elif kind is InstructPreset:
            await self._presets.restore(InstructPreset, path)
        else:
            await self._presets.restore(SystemPreset, path)

    async def erase(self, items: Sequence[Trashed]) -> list[str]:
        """Delete files, and the pictures of personas, permanently; return the ids of the personas of which no file is left."""
        await self._database.run_outside_transaction(lambda: self._erase_files([Path(item.id) for item in items]))
        erased_ids = {item.stem for item in items if item.kind is TrashKind.PERSONA}
        lost_ids = [persona_id for persona_id in erased_ids if not await self._has_file(persona_id)]
        for persona_id in lost_ids:
            await self._notebooks.erase_all(persona_id)
        return lost_ids

    async def list_lost_worlds(self, erased: Sequence[Trashed]) -> list[str]:
        """Return the file names of the worlds among the erased items of which no file is left."""
        names = {item.stem for item in erased if item.kind is TrashKind.WORLD}
        if not names:
            return []
        broken = {problem.path.stem for problem in await self._library.errors()}
        return sorted(names - (await self._library.worlds()).keys() - {item.stem for item in await self.list_items()} - broken)

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

    async def _has_file(self, persona_id: str) -> bool:
        """Return whether a file of this persona is left, in use (readable or not) or in the trash."""
        broken = {problem.path.stem for problem in await self._library.errors()}
        return persona_id in await self.persona_ids() | {item.stem for item in await self.list_items()} | broken


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
