"""Deletion of what the user does not want kept: old conversations, and the texts recalled for replies."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from lethe_app.config.settings import Settings
from lethe_app.domain.changes import TrashKind
from lethe_app.domain.clock import now
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.sessions.service import SessionService
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.memory.turn_memories import TurnMemories

CHECK_INTERVAL = 6 * 3600.0
"""Seconds between two checks."""


class Retention:
    """Background service that deletes old conversations permanently, if the user has set a number of days, and recalled texts,
    if the user does not want them kept.
    """

    def __init__(
        self,
        session_store: SessionStore,
        sessions: SessionService,
        trash: Trash,
        turn_memories: TurnMemories,
        preferences: Preferences,
    ) -> None:
        self._session_store, self._sessions, self._trash = session_store, sessions, trash
        self._turn_memories, self._preferences = turn_memories, preferences
        self.background = BackgroundLoop(self.delete_unwanted, CHECK_INTERVAL)
        self._keeps_context = preferences.current.keep_retrieved_context
        self._unsubscribe = preferences.changed.add(self._on_settings_changed)

    async def close(self) -> None:
        """Stop."""
        self._unsubscribe()
        await self.background.close()

    async def delete_unwanted(self) -> None:
        """Delete what the settings say is not to be kept."""
        await self.delete_old_sessions()
        if not self._preferences.current.keep_retrieved_context and await self._turn_memories.strip_texts():
            await self._trash.records.scrub()

    async def delete_old_sessions(self) -> None:
        """Delete the conversations permanently that had no message for longer than the setting says, except pinned ones. Facts
        that are known from others as well remain.
        """
        days = self._preferences.current.retention_days
        if not days:
            return
        limit = now() - timedelta(days=days)
        old = {
            str(session.guid)
            for session in await self._session_store.sessions()
            if session.last_activity < limit and not session.sticky
        }
        for guid in old:
            await self._sessions.delete(UUID(guid))
        items = [item for item in await self._trash.list_items() if item.kind is TrashKind.CONVERSATION and item.id in old]
        if items:
            await self._trash.erase(items)

    def _on_settings_changed(self, settings: Settings) -> None:
        if self._keeps_context and not settings.keep_retrieved_context:
            self.background.wake()  # what is stored already goes at once, too
        self._keeps_context = settings.keep_retrieved_context
