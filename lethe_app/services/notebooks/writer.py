"""Automatic notebook entries from sessions that have ended; each session is read once, in the background.

The entries are the facts extracted from the session, and if a model is qualified for facts, its conclusions, decisions and
discoveries, which become facts as well. Few of them without a subject get no notebook of their own.

Each run is recorded with its cost and its entries, and counts against the daily quota of the persona. If a model would be
needed and the quota is used up, the session waits for another day. A session that was begun is read to its end, so that even
the smallest quota gets through a long one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from lethe_app.agents.task import TaskResult
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import SessionSummary
from lethe_app.errors import FileError
from lethe_app.services.background.activity_log import NOTEBOOKS, ActivityEntry, ActivityLog
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.conclusions import RETRY_LATER_ERRORS
from lethe_app.services.library import Library
from lethe_app.services.notebooks.conclusion_writer import ConclusionWriter
from lethe_app.services.notebooks.reading_progress import ReadingProgress, UnreadSessions
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.scheduling.priority import BackgroundPriority

CHECK_INTERVAL = 600.0
"""Seconds between two checks of the background loop."""


class NotebookWriter:
    """Background service that writes notebooks. It follows archived sessions and changed facts."""

    def __init__(
        self,
        conclusion_writer: ConclusionWriter,
        progress: ReadingProgress,
        notebook_undo: NotebookUndo,
        activity_log: ActivityLog,
        library: Library,
        preferences: Preferences,
        priority: BackgroundPriority,
        persona_changes: Sequence[Listeners[str]],
    ) -> None:
        """Create the service. `persona_changes` emit the persona whose sessions or facts have changed."""
        self._conclusion_writer, self._progress, self._notebook_undo = conclusion_writer, progress, notebook_undo
        self._activity_log, self._library, self._preferences, self._priority = activity_log, library, preferences, priority
        self._is_initialized = False
        self._pending_personas: dict[str, None] = {}
        self._postponed_personas: dict[str, None] = {}
        """Personas whose daily quota is used up while sessions are still unread."""
        self._unsubscribe = [changes.add(self._on_persona_changed) for changes in persona_changes]
        self.background = BackgroundLoop(self.write_all_pending, CHECK_INTERVAL)

    async def close(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self.background.close()

    async def write_all_pending(self) -> None:
        """Read the ended sessions of all waiting personas; on the first call, of every persona."""
        if not self._is_initialized:
            self._is_initialized = True
            self._pending_personas |= dict.fromkeys(persona.unique_name for persona in await self._library.personas())
            for persona_id in self._pending_personas:
                await self._notebook_undo.complete_interrupted(persona_id)
        self._pending_personas |= self._postponed_personas
        self._postponed_personas = {}
        while self._pending_personas and self._preferences.current.notebooks:
            persona_id = next(iter(self._pending_personas))
            del self._pending_personas[persona_id]
            await self._priority.wait_for_turn_end()
            with suppress(FileError):  # the persona, or a notebook of hers, cannot be read: that is told where she is shown
                await self.write_pending(persona_id)

    async def write_pending(self, persona_id: str) -> int:
        """Read all ended sessions of one persona; return the number of sessions read."""
        await self._conclusion_writer.revise_lines(persona_id)
        unread = await self._progress.list_unread(persona_id)
        ready = unread.ready
        if ready and not await self._activity_log.has_budget_left(persona_id):
            ready = [session for session in ready if not self._must_wait(persona_id, session)]
        if not ready:
            return 0
        owner = await self._conclusion_writer.owner_of(persona_id)
        await self._activity_log.run_action(NOTEBOOKS, owner, partial(self._read_sessions, unread, ready))
        await self._conclusion_writer.revise_lines(persona_id)  # a model repeats what an older conversation stated
        return sum(unread.is_read(session) for session in ready)

    async def _read_sessions(self, unread: UnreadSessions, ready: Sequence[SessionSummary], entry: ActivityEntry) -> TaskResult:
        """Read the sessions one by one; the progress is stored after each."""
        sessions_read, written = 0, list[str]()
        for session in ready:
            await self._priority.wait_for_turn_end()
            if not await self._activity_log.has_budget_left(unread.persona_id) and self._must_wait(unread.persona_id, session):
                continue
            entry.report_progress(f"Reading “{session.title}”" if session.title else "Reading")
            try:
                names = await self._conclusion_writer.write_session(session.guid, entry)
            except RETRY_LATER_ERRORS:
                break
            sessions_read += 1
            written += names
            await self._progress.mark_read(unread, session)
            await entry.recorder.save()  # with what it cost, for the question whether there is something left
        return _build_result(sessions_read, list(dict.fromkeys(written)))

    def _must_wait(self, persona_id: str, session: SessionSummary) -> bool:
        """Return whether the session needs a model, for which the quota of today is used up. The persona is then queued for
        another check.
        """
        if self._conclusion_writer.needs_model(session):
            self._postponed_personas[persona_id] = None
            return True
        return False

    def _on_persona_changed(self, persona_id: str) -> None:
        self._pending_personas[persona_id] = None
        self.background.wake()


def _build_result(session_count: int, written: Sequence[str]) -> TaskResult:
    """Return the result of a run, as a sentence."""
    if not session_count:
        return TaskResult("No model was available; the notebooks are updated later.", outcome=RunOutcome.NOTHING)
    session_words = "one conversation" if session_count == 1 else f"{session_count} conversations"
    if not written:
        return TaskResult(f"Read {session_words}; there was nothing to note.", outcome=RunOutcome.NOTHING)
    return TaskResult(
        f"Read {session_words} and wrote into {'one notebook' if len(written) == 1 else f'{len(written)} notebooks'}."
    )
