"""Daily time limit for the model's work on older conversations, such as years of imported history."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import UUID

from lethe_app.agents.budget import midnight, sum_usage
from lethe_app.domain.clock import now
from lethe_app.errors import StorageError
from lethe_app.services.background.activity_log import ARCHIVE, ArchiveAction, ArchiveLog
from lethe_app.services.preferences import Preferences
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.sessions import SessionStore

RECENT = timedelta(days=1)
"""Conversations that ended within this time are archived without a limit: they are what one talks about next."""


class ArchiveBudget:
    """Runs and records the model's work on conversations; on older ones only as long as the time of the day lasts."""

    def __init__(self, log: ArchiveLog, session_store: SessionStore, task_runs: TaskRuns, preferences: Preferences) -> None:
        self._log, self._session_store = log, session_store
        self._task_runs, self._preferences = task_runs, preferences
        self.lifted_on: date | None = None
        """Local day on which there is no limit, at the user's wish."""

    def lift_for_today(self) -> None:
        """Let older conversations be archived without a limit until midnight."""
        self.lifted_on = now().astimezone().date()

    async def run_recorded(self, session_id: UUID, action: ArchiveAction, is_limited: bool) -> bool | None:
        """Run the action and return its result, or None if it has to wait for another day. Raise what it raises.

        Without `is_limited` it never waits.
        """
        if is_limited and await self._must_wait(session_id):
            return None
        return await self._log.run_recorded(session_id, action)

    async def _must_wait(self, session_id: UUID) -> bool:
        limit, moment = self._preferences.current.old_session_minutes, now().astimezone()
        try:
            session = await self._session_store.session(session_id)
            newest = await self._session_store.newest_messages(session_id, 1)
        except StorageError:  # it was deleted; the action reports that itself
            return False
        if not limit or self.lifted_on == moment.date() or all(moment - message.time < RECENT for message in newest):
            return False
        runs = await self._task_runs.runs_since(session.persona_id, midnight(moment))
        used = sum_usage([run for run in runs if run.task == ARCHIVE.name], moment)
        return used.time >= timedelta(minutes=limit)
