"""Ended sessions that were not read yet for the notebooks."""

from __future__ import annotations

from dataclasses import dataclass

from lethe_app.domain.chat import PartState, SessionPart, SessionSummary
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import AppState

SCOPE = "notebooks"
"""Scope of the app state: by persona, the sessions that were read and the number of messages they had then."""


@dataclass(frozen=True)
class UnreadSessions:
    """Sessions of a persona that can be read now, oldest first."""

    persona_id: str
    ready: list[SessionSummary]
    read_counts: dict[str, int]
    """Number of messages that each stored session had when it was read, by guid."""

    def is_read(self, session: SessionSummary) -> bool:
        return self.read_counts.get(str(session.guid)) == session.messages


class ReadingProgress:
    """Record of the sessions that were read; a session that goes on afterwards is read again."""

    def __init__(self, session_store: SessionStore, archive_queue: ArchiveQueue, app_state: AppState) -> None:
        self._session_store, self._archive_queue, self._app_state = session_store, archive_queue, app_state

    async def list_unread(self, persona_id: str) -> UnreadSessions:
        """Return the sessions to read. One whose facts are still to be extracted waits."""
        stored = await self._app_state.get(SCOPE, persona_id)
        counts = {str(guid): int(count) for guid, count in stored.items()} if isinstance(stored, dict) else {}
        sessions = await self._session_store.sessions(persona_id)
        unread = [
            session
            for session in reversed(sessions)
            if session.archived and counts.get(str(session.guid), 0) < session.messages
        ]
        present = {str(session.guid): counts[str(session.guid)] for session in sessions if str(session.guid) in counts}
        return UnreadSessions(persona_id, [session for session in unread if await self._has_facts(session)], present)

    async def mark_read(self, unread: UnreadSessions, session: SessionSummary) -> None:
        """Record that a session was read."""
        unread.read_counts[str(session.guid)] = session.messages
        await self._app_state.set(SCOPE, unread.persona_id, dict(unread.read_counts))

    async def _has_facts(self, session: SessionSummary) -> bool:
        """Return whether fact extraction of the session is done, or none is due."""
        record = (await self._archive_queue.parts(session.guid)).get(SessionPart.FACTS)
        return record is None or record.state is not PartState.PENDING
