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
from uuid import UUID

from lethe_app.agents.task import TaskResult
from lethe_app.brain.notebooks.outdated_lines import FactHistory
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.agent_runs import ProducedKind, ProducedRecord, RunOutcome
from lethe_app.domain.chat import PartState, SessionPart, SessionSummary
from lethe_app.errors import FileError
from lethe_app.services.background.activity_log import NOTEBOOKS, ActivityEntry, ActivityLog
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.conclusions import ConclusionService, FinishedConversation
from lethe_app.services.library import Library
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import RETRY_LATER_ERRORS, BackgroundLoop, BackgroundPriority
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.facts import FactStore

SCOPE = "notebooks"
"""Scope of the app state: by persona, the sessions that were read and the number of messages they had then."""


class ReadingProgress:
    """Record of the sessions that were read; a session that goes on afterwards is read again."""

    def __init__(self, session_store: SessionStore, archive_queue: ArchiveQueue, app_state: AppState) -> None:
        self._session_store, self._archive_queue, self._app_state = session_store, archive_queue, app_state

    async def list_unread(self, persona_id: str) -> list[SessionSummary]:
        """Return the sessions that can be read now, oldest first. One whose facts are still to be extracted waits."""
        counts = await self._load_counts(persona_id)
        return [
            session
            for session in reversed(await self._session_store.sessions(persona_id))
            if session.archived and counts.get(str(session.guid), 0) < session.messages and await self._has_facts(session)
        ]

    async def mark_read(self, persona_id: str, session: SessionSummary) -> None:
        """Record that a session was read."""
        counts = await self._load_counts(persona_id)
        await self._app_state.set(SCOPE, persona_id, counts | {str(session.guid): session.messages})

    async def _load_counts(self, persona_id: str) -> dict[str, int]:
        """Return the number of messages that each session had when it was read, by guid."""
        stored = await self._app_state.get(SCOPE, persona_id)
        return {str(guid): int(count) for guid, count in stored.items()} if isinstance(stored, dict) else {}

    async def _has_facts(self, session: SessionSummary) -> bool:
        """Return whether fact extraction of the session is done, or none is due."""
        record = (await self._archive_queue.parts(session.guid)).get(SessionPart.FACTS)
        return record is None or record.state is not PartState.PENDING


class ConclusionWriter:
    """Writes the conclusions of sessions, and revises those that no longer hold."""

    def __init__(
        self,
        session_store: SessionStore,
        fact_store: FactStore,
        facts: FactService,
        participants: ParticipantService,
        conclusions: ConclusionService,
        notebooks: NotebookService,
        notebook_undo: NotebookUndo,
        filer: NotebookFiler,
    ) -> None:
        self._session_store, self._fact_store, self._facts = session_store, fact_store, facts
        self._participants = participants
        self._conclusions, self._notebooks, self._notebook_undo, self._filer = conclusions, notebooks, notebook_undo, filer

    def needs_model(self, session: SessionSummary) -> bool:
        """Return whether a model would be asked about the session."""
        return self._conclusions.would_ask_model(session.last_activity)

    async def revise_lines(self, persona_id: str) -> None:
        """Bring the lines of the notebooks up to date with facts that were superseded, reworded or forgotten since."""
        history = FactHistory(
            await self._fact_store.facts_of(persona_id),
            await self._fact_store.facts_of(persona_id, deleted=True),
            await self._fact_store.tombstones_of(persona_id),
            dict(self._facts.former_wordings[persona_id]),
        )
        await self._notebooks.revise_lines(persona_id, history)

    async def write_session(self, session_id: UUID, entry: ActivityEntry | None = None) -> list[str]:
        """Write the conclusions of one session; return the names of the notebooks that were written."""
        session = await self._session_store.session(session_id)
        utterances = to_utterances(
            await self._session_store.page(session_id, 0, len(await self._session_store.outline(session_id)))
        )
        conversation = FinishedConversation(session, await self._participants.load_for_session(session), utterances)
        if not utterances:
            return []
        extraction = await self._conclusions.collect_conclusions(conversation)
        if entry is None:
            return await self._filer.write_conclusions(conversation, extraction)
        for fact in extraction.learnt:
            await entry.recorder.add_result(ProducedRecord(kind=ProducedKind.FACT, id=str(fact.guid), title=fact.fact))
        if not extraction.conclusions:
            return []
        async with self._notebook_undo.record(entry, session.persona_id):
            return await self._filer.write_conclusions(conversation, extraction)


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
        ready = await self._progress.list_unread(persona_id)
        if ready and not await self._activity_log.has_budget_left(persona_id):
            ready = [session for session in ready if not self._must_wait(persona_id, session)]
        if not ready:
            return 0
        owner = persona_id, (await self._library.persona(persona_id)).name
        sessions_read: list[SessionSummary] = []
        await self._activity_log.run_action(NOTEBOOKS, owner, partial(self._read_sessions, persona_id, ready, sessions_read))
        await self._conclusion_writer.revise_lines(persona_id)  # a model repeats what an older conversation stated
        return len(sessions_read)

    async def _read_sessions(
        self, persona_id: str, ready: Sequence[SessionSummary], sessions_read: list[SessionSummary], entry: ActivityEntry
    ) -> TaskResult:
        """Read the sessions one by one into `sessions_read`; the progress is stored after each."""
        written: list[str] = []
        for session in ready:
            await self._priority.wait_for_turn_end()
            if not await self._activity_log.has_budget_left(persona_id) and self._must_wait(persona_id, session):
                continue
            entry.report_progress(f"Reading “{session.title}”" if session.title else "Reading")
            try:
                names = await self._conclusion_writer.write_session(session.guid, entry)
            except RETRY_LATER_ERRORS:
                break
            sessions_read.append(session)
            written += names
            await self._progress.mark_read(persona_id, session)
            await entry.recorder.save()  # with what it cost, for the question whether there is something left
        return _build_result(len(sessions_read), list(dict.fromkeys(written)))

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
