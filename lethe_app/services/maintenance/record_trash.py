"""Trash of database records: sessions, messages, memories and facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from lethe_app.domain.changes import Trashed, TrashKind
from lethe_app.services import mood
from lethe_app.services.background import feedback, key_moments
from lethe_app.services.background.task_api import STATE_SCOPE
from lethe_app.services.memory import objections, proactive
from lethe_app.services.memory.facts import FactService
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.notebooks import reading_progress
from lethe_app.services.personas import draft_chat, goals
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.web import gate, research
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
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

    async def list_items(self) -> list[Trashed]:
        """Return the deleted records."""
        return await self._listing.list_items()

    async def load_preview(self, item: Trashed) -> str:
        """Return the beginning of the text of a record."""
        return await self._listing.load_preview(item)

    async def session_counts(self) -> dict[str, int]:
        """Return the number of sessions by persona, those in the trash excluded."""
        return await self._listing.session_counts()

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

    async def persona_ids(self) -> set[str]:
        """Return the ids of all personas of whom anything is stored, also of those whose files are gone."""
        return await self._listing.persona_ids()

    async def erase_web_log(self) -> None:
        """Delete the log of web requests, which contains what was searched for."""
        await self._listing.erase_app_state(gate.SCOPE)

    async def scrub(self) -> None:
        """Remove what was deleted permanently from the files of the database."""
        await self._listing.scrub()

    async def purge(self, limit: datetime) -> None:
        """Delete records permanently that were deleted before `limit`."""
        await self._listing.purge(utc_text(limit))


def app_state_keys(persona_id: str) -> PersonaStateKeys:
    """Return where a persona's data is stored in the app state, for deletion with the persona."""
    return PersonaStateKeys(
        persona_scopes=(
            *(mood.MOODS, mood.HISTORY, mood.READINGS),
            key_moments.SCOPE,
            *(proactive.NOTES, feedback.SCOPE, reading_progress.SCOPE, goals.SCOPE, draft_chat.SCOPE),
        ),
        persona_scope_prefixes=(STATE_SCOPE,),
        owned_scopes=(objections.scope_of(persona_id),),
        value_scopes=(research.SCOPE,),
    )
