"""Trash for everything the user deletes: listing, restoring, erasing, and purging after a number of days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from lethe_app.domain.changes import FILES, Trashed, TrashKind
from lethe_app.domain.clock import now
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services import mood
from lethe_app.services.background import feedback
from lethe_app.services.background.task_api import STATE_SCOPE
from lethe_app.services.events import Listeners
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.library import Library
from lethe_app.services.memory import objections, proactive
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.notebooks import writer
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.personas import draft_chat, goals
from lethe_app.services.personas.presets import PresetService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.web import research
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.files import trashed_files
from lethe_app.storage.row_mapping import utc
from lethe_app.storage.trash_listing import PersonaStateKeys, TrashListing

LOOK_AGAIN = 6 * 3600.0
"""Seconds between two purges."""


class Trash:
    """Trash of files and database records. What is in it is not shown, found or recalled."""

    def __init__(
        self,
        paths: Paths,
        database: Database,
        chats: SessionStore,
        library: Library,
        presets: PresetService,
        sessions: SessionService,
        session_editing: SessionEditing,
        brain: MemoryService,
        fact_service: FactService,
        indexing: IndexingService,
        preferences: Preferences,
        notebooks: NotebookService,
    ) -> None:
        self.changed: Listeners[None] = Listeners()
        self._folder, self._database, self._listing = paths.trash, database, TrashListing(database)
        self._chats, self._library, self._presets = chats, library, presets
        self._sessions, self._session_editing, self._brain, self._fact_service = sessions, session_editing, brain, fact_service
        self._indexing, self._preferences, self._notebooks = indexing, preferences, notebooks
        self._background = BackgroundLoop(self._purge, LOOK_AGAIN)

    def start(self, delay: float = 0.0) -> None:
        """Begin to purge expired items in the background, after `delay` seconds."""
        self._background.start(delay)

    async def close(self) -> None:
        await self._background.close()

    @property
    def retention_days(self) -> int:
        """Return the number of days after which items are purged; 0 for never."""
        return self._preferences.current.trash_days

    async def list_items(self) -> list[Trashed]:
        """Return all items, last deleted first."""
        files = await self._database.run_outside_transaction(lambda: trashed_files.list_files(self._folder))
        living_ids = {
            persona.unique_name for persona in [*await self._library.personas(), *await self._library.user_personas()]
        }
        # A deleted persona's sessions are counted only if no living persona has the same file name: erasing the item would
        # not touch them.
        session_counts = await self._listing.session_counts()
        counted = [
            Trashed(**{**vars(one), "count": session_counts.get(one.stem, 0)}) if one.kind is TrashKind.PERSONA else one
            for one in files
        ]
        shown_files = [
            one if one.stem not in living_ids or not one.count else Trashed(**{**vars(one), "count": 0}) for one in counted
        ]
        return sorted([*await self._listing.list_items(), *shown_files], key=lambda one: one.when, reverse=True)

    async def restore(self, item: Trashed) -> None:
        """Restore an item to its former place. Raise LetheError if that is no longer possible."""
        if item.kind in FILES:
            await self._restore_file(item)
        else:
            await self._restore_row(item)
        self.changed.tell(None)

    async def restore_message(self, guid: UUID) -> None:
        """Restore a message with the hidden messages that were deleted with it. Raise LetheError if it is not stored any
        more.
        """
        await self._chats.restore_message(*map(UUID, await self._listing.ids_with_hidden_notes(str(guid))))
        await self._session_editing.retold([(await self._chats.message(guid)).session_id])

    async def erase(self, items: Sequence[Trashed]) -> None:
        """Delete items permanently. With the last file of a persona, its sessions, memories, facts, logs and notebooks are
        deleted too.
        """
        files = [item for item in items if item.kind in FILES]
        await self._listing.erase([item for item in items if item.kind not in FILES])
        await self._database.run_outside_transaction(lambda: trashed_files.erase([Path(item.id) for item in files]))
        for stem in {item.stem for item in files if item.kind is TrashKind.PERSONA}:
            if await self._is_persona_gone(stem):
                await self._listing.erase_persona(stem, app_state_keys(stem))
                await self._notebooks.erase_all(stem)
        for persona_id in {item.persona_id for item in items if item.kind is TrashKind.CONVERSATION}:
            await self._fact_service.renew(persona_id)  # what was learnt there had taken the place of what holds again now
        await self._indexing.follow()
        self.changed.tell(None)

    async def _is_persona_gone(self, stem: str) -> bool:
        """Return whether no file of this persona is left, neither in use (readable or not) nor in the trash."""
        personas = [*await self._library.personas(), *await self._library.user_personas()]
        files = await self._database.run_outside_transaction(lambda: trashed_files.list_files(self._folder))
        broken = {problem.path.stem for problem in await self._library.problems()}
        return stem not in {persona.unique_name for persona in personas} | {trashed.stem for trashed in files} | broken

    async def _restore_row(self, item: Trashed) -> None:
        guid = UUID(item.id)
        match item.kind:
            case TrashKind.CONVERSATION:
                await self._sessions.restore(guid)
            case TrashKind.MEMORY:
                await self._brain.restore(guid)
            case TrashKind.FACT:
                await self._fact_service.restore(guid)
            case _:
                await self.restore_message(guid)

    async def _restore_file(self, item: Trashed) -> None:
        path = Path(item.id)
        match item.kind:
            case TrashKind.PERSONA | TrashKind.USER_PERSONA:
                await self._library.restore_persona(path)
            case TrashKind.WORLD:
                await self._library.restore_world(path)
                self._library.changed.tell(None)
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

    async def _purge(self) -> None:
        """Delete items permanently that have been in the trash for longer than `days`."""
        if not self.retention_days:
            return
        limit = now() - timedelta(days=self.retention_days)
        old = [item for item in await self.list_items() if item.when < limit]
        if old:
            await self._listing.purge(utc(limit))
            await self.erase([item for item in old if item.kind in FILES])


def app_state_keys(persona_id: str) -> PersonaStateKeys:
    """Return where a persona's data is stored in the app state, for deletion with the persona."""
    return PersonaStateKeys(
        by_persona=(
            *(mood.MOODS, mood.HISTORY, mood.READINGS),
            *(proactive.NOTES, feedback.SCOPE, writer.SCOPE, goals.SCOPE, draft_chat.SCOPE),
        ),
        by_prefix=(STATE_SCOPE,),
        whole_scopes=(objections.scope_of(persona_id),),
        by_value=(research.SCOPE,),
    )
