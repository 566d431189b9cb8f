"""Deletion of what the user does not want kept: old conversations, dictated messages, and the texts recalled for replies."""

from __future__ import annotations

from collections.abc import Set
from datetime import timedelta
from uuid import UUID

from lethe_app.config.settings import Settings
from lethe_app.domain.changes import TrashKind
from lethe_app.domain.clock import now
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.sessions.archive_queue import ArchiveProgress, ArchiveQueue
from lethe_app.services.sessions.service import SessionService
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.memory.turn_memories import TurnMemories

CHECK_INTERVAL = 6 * 3600.0
"""Seconds between two checks."""


class Retention:
    """Background service that deletes what the user does not want kept: old conversations, if a number of days is set, dictated
    messages and recalled texts, if they are not to be stored.
    """

    def __init__(
        self,
        session_store: SessionStore,
        sessions: SessionService,
        trash: Trash,
        turn_memories: TurnMemories,
        preferences: Preferences,
        archive_queue: ArchiveQueue,
    ) -> None:
        self._session_store, self._sessions, self._trash = session_store, sessions, trash
        self._turn_memories, self._preferences = turn_memories, preferences
        self.background = BackgroundLoop(self.delete_unwanted, CHECK_INTERVAL)
        self._kept = _kept_data(preferences.current)
        self._unsubscribe = [
            preferences.changed.add(self._on_settings_changed),
            archive_queue.changed.add(self._on_archive_progress),
        ]

    async def close(self) -> None:
        """Stop."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self.background.close()

    async def delete_unwanted(self) -> None:
        """Delete what the settings say is not to be kept."""
        await self.delete_old_sessions()
        if not self._preferences.current.keep_voice_transcripts:
            await self.delete_voice_transcripts()
        if not self._preferences.current.keep_retrieved_context and await self._turn_memories.strip_texts():
            await self._trash.scrub()

    async def delete_old_sessions(self) -> None:
        """Delete the conversations permanently that had no message for longer than the setting says, except pinned ones. Facts
        that are known from others as well remain.
        """
        days = self._preferences.current.retention_days
        if not days or not await self._trash.may_erase_by_age():
            return
        limit = now() - timedelta(days=days)
        old = {
            str(session.guid)
            for session in await self._session_store.sessions()
            if session.last_activity < limit and not session.sticky
        }
        for guid in old:
            await self._sessions.delete(UUID(guid))
        await self._erase(TrashKind.CONVERSATION, old)

    async def delete_voice_transcripts(self) -> None:
        """Delete the dictated messages of conversations that have ended permanently, with their traces."""
        dictated = {str(message) for message in await self._session_store.dictated_messages_of_ended_sessions()}
        if not dictated:
            return
        await self._session_store.delete_message(*map(UUID, dictated))
        await self._erase(TrashKind.MESSAGE, dictated)

    async def _erase(self, kind: TrashKind, ids: Set[str]) -> None:
        """Delete these records permanently, which were just moved to the trash."""
        items = [item for item in await self._trash.list_items() if item.kind is kind and item.id in ids]
        if items:
            await self._trash.erase(items)

    def _on_archive_progress(self, progress: ArchiveProgress) -> None:
        if progress.session is None and not self._preferences.current.keep_voice_transcripts:
            self.background.wake()  # a conversation may have ended

    def _on_settings_changed(self, settings: Settings) -> None:
        kept = _kept_data(settings)
        if any(was_kept and not is_kept for was_kept, is_kept in zip(self._kept, kept, strict=True)):
            self.background.wake()  # what is stored already goes at once, too
        self._kept = kept


def _kept_data(settings: Settings) -> tuple[bool, bool]:
    return settings.keep_retrieved_context, settings.keep_voice_transcripts
