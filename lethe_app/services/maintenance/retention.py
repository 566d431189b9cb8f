"""Deletion of conversations that are older than the user wants them kept."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from lethe_app.domain.changes import TrashKind
from lethe_app.domain.clock import now
from lethe_app.services.maintenance.trash import Trash
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.sessions.service import SessionService
from lethe_app.storage.chats.sessions import SessionStore

CHECK_INTERVAL = 6 * 3600.0
"""Seconds between two checks."""


class Retention:
    """Background service that deletes old conversations permanently, if the user has set a number of days."""

    def __init__(self, session_store: SessionStore, sessions: SessionService, trash: Trash, preferences: Preferences) -> None:
        self._session_store, self._sessions, self._trash, self._preferences = session_store, sessions, trash, preferences
        self.background = BackgroundLoop(self.delete_old_sessions, CHECK_INTERVAL)

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
