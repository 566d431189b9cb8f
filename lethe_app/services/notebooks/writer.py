"""Automatic notebook entries from sessions that have ended; each session is read once, in the background.

The entries are the facts extracted from the session, and if a model is qualified for facts, its conclusions, decisions and
discoveries, which become facts as well. Few of them without a subject get no notebook of their own.

Each run is recorded with its cost and its entries, and counts against the daily quota of the persona. If a model would be
needed and the quota is used up, the session waits for another day. A session that was begun is read to its end, so that even
the smallest quota gets through a long one. What a run wrote can be undone; edits by the user since then are kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from uuid import UUID

from lethe_app.agents.task import TaskResult
from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.agent_runs import ChangeState, ProducedKind, ProducedRecord, RecordedChange, RunOutcome, TaskRun
from lethe_app.domain.chat import PartState, SessionPart, SessionSummary
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import NO_MODEL_ERRORS, FileError, StorageError
from lethe_app.services.background.activity_log import NOTEBOOKS, ActivityEntry, ActivityLog
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.conclusions import ConclusionService, FinishedConversation
from lethe_app.services.library import Library
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.filer import NotebookFiler
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.storage.agents.change_log import ChangeLog
from lethe_app.storage.agents.task_runs import TaskRuns
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import NOTEBOOK_PROGRESS, AppState

NOTEBOOK_CHANGE = "notebook"
"""Value of `RecordedChange.what` for notebooks; the record has their texts before and after, by name.

Before they are written, the change is proposed and has all texts; one still proposed at the next start was interrupted.
"""
CHECK_INTERVAL = 600.0
"""Seconds between two checks of the background loop."""


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
        """Record that a session was read, and drop the sessions that were erased since."""
        counts = await self._load_counts(persona_id) | {str(session.guid): session.messages}
        existing = await self._session_store.existing_ids(persona_id)
        read = {guid: count for guid, count in counts.items() if guid in existing}
        await self._app_state.set(NOTEBOOK_PROGRESS, persona_id, read)

    async def _load_counts(self, persona_id: str) -> dict[str, int]:
        """Return the number of messages that each session had when it was read, by guid."""
        stored = await self._app_state.get(NOTEBOOK_PROGRESS, persona_id)
        return {str(guid): int(count) for guid, count in stored.items()} if isinstance(stored, dict) else {}

    async def _has_facts(self, session: SessionSummary) -> bool:
        """Return whether fact extraction of the session is done, or none is due."""
        record = (await self._archive_queue.parts(session.guid)).get(SessionPart.FACTS)
        return record is None or record.state is not PartState.PENDING


class NotebookUndo:
    """Record and revert automatic writes to notebooks. What the user has changed or deleted since stays as it is."""

    def __init__(self, changes: ChangeLog, notebooks: NotebookService, facts: FactService, task_runs: TaskRuns) -> None:
        self._changes, self._notebooks, self._facts, self._task_runs = changes, notebooks, facts, task_runs
        self._open_changes: set[UUID] = set()
        """Changes that are being made now."""

    # Recording

    @asynccontextmanager
    async def record(self, entry: ActivityEntry, persona_id: str) -> AsyncIterator[None]:
        """Record what the body writes into the persona's notebooks in this run, even if an error interrupts it."""
        before = json.dumps(await self._notebooks.load_texts(persona_id), ensure_ascii=False)
        values = {"what": NOTEBOOK_CHANGE, "reason": NOTEBOOKS.name, "before": before, "after": ""}
        change = RecordedChange(run_id=entry.run.id, persona_id=persona_id, state=ChangeState.PROPOSED, **values)
        self._open_changes.add(change.id)
        await self._changes.save_changes(change)
        try:
            yield
        finally:
            for made in await self._complete(change):
                await entry.add_result(made)

    async def _complete(self, change: RecordedChange) -> list[ProducedRecord]:
        """Record the texts that have changed since a change was proposed; return the written notebooks."""
        before, present = json.loads(change.before), await self._notebooks.load_texts(change.persona_id)
        names = sorted(name for name in before.keys() | present.keys() if before.get(name) != present.get(name))
        old, new = ({name: texts[name] for name in names if name in texts} for texts in (before, present))
        fields = {"before": json.dumps(old, ensure_ascii=False), "after": json.dumps(new, ensure_ascii=False)}
        state = ChangeState.APPLIED if names else ChangeState.DECLINED
        await self._changes.save_changes(change.model_copy(update={**fields, "state": state}))
        self._open_changes.discard(change.id)
        return [
            ProducedRecord(kind=ProducedKind.NOTEBOOK, id=name, title=writing.parse_notebook(name, text).title)
            for name, text in new.items()
        ]

    async def complete_interrupted(self, persona_id: str) -> None:
        """Complete the records of writes that the end of the program interrupted, so that they are listed and can be undone."""
        for change in await self._changes.changes_of(persona_id, ChangeState.PROPOSED):
            if change.what == NOTEBOOK_CHANGE and change.id not in self._open_changes:
                made = await self._complete(change)
                run = await self._task_runs.get(change.run_id) if change.run_id is not None else None
                if run is not None and made:
                    await self._task_runs.save_run(run.model_copy(update={"made": tuple(dict.fromkeys((*run.made, *made)))}))

    # Undo

    async def revert_run(self, run: TaskRun, _made: ProducedRecord) -> None:
        """Revert everything that a run wrote, the newest first."""
        for change in reversed(await self._changes.changes_of_run(run.id)):
            if change.what == NOTEBOOK_CHANGE and change.state is ChangeState.APPLIED:
                await self._revert_change(change)
                await self._changes.save_changes(change.model_copy(update={"state": ChangeState.REVERTED}))

    async def revert_fact(self, run: TaskRun, made: ProducedRecord) -> None:
        """Forget a fact by a model and restore those it superseded. A fact that the user pinned or edited is kept."""
        facts = await self._facts.facts_of(run.persona_id)
        fact = next((candidate for candidate in facts if str(candidate.guid) == made.id), None)
        if fact is not None and fact.made_by is MadeBy.MODEL and not fact.pinned:
            with suppress(StorageError):  # the user was quicker
                await self._facts.forget_fact(fact.guid)
                for old in facts:
                    if old.superseded_by == fact.guid:
                        await self._facts.restore(old.guid)

    async def _revert_change(self, change: RecordedChange) -> None:
        before, after = json.loads(change.before), json.loads(change.after)
        present = await self._notebooks.load_texts(change.persona_id)
        if before.keys() - after.keys():  # parted: one file in the place of others, or all stays
            if all(present.get(name) == after.get(name) for name in before.keys() | after.keys()):
                await self._notebooks.restore_texts(change.persona_id, list(after), before)
            return
        remaining = {
            name: remove_added_lines(present[name], before.get(name), text) for name, text in after.items() if name in present
        }
        texts = {name: text for name, text in remaining.items() if text is not None and text != present[name]}
        removed_names = [name for name, text in remaining.items() if text is None]
        if removed_names or texts:
            await self._notebooks.restore_texts(change.persona_id, [*removed_names, *texts], texts)


def remove_added_lines(text: str, before: str | None, after: str) -> str | None:
    """Return `text` without the lines that are in `after` and not in `before`; None if nothing of the notebook is left.

    Lines that others have added or edited since are kept.
    """
    if text == after:
        return before
    before_book, after_book = (writing.parse_notebook("", content) for content in (before or "", after))
    added_lines = Counter(_raw_lines(after_book)) - Counter(_raw_lines(before_book))
    book, kept_lines = writing.parse_notebook("", text), []
    for line in book.lines:
        if added_lines[line.raw.strip()] > 0:
            added_lines[line.raw.strip()] -= 1
        else:
            kept_lines.append(line)
    if before is None and not kept_lines and book.head.strip() == after_book.head.strip():
        return None
    remaining = writing.render_notebook(Notebook("", book.title, book.head, tuple(kept_lines))).rstrip("\n")
    return f"{remaining}\n"


def _raw_lines(book: Notebook) -> list[str]:
    return [line.raw.strip() for line in book.lines]


class ConclusionWriter:
    """Writes the conclusions of sessions, and revises those that no longer hold."""

    def __init__(
        self,
        session_store: SessionStore,
        facts: FactService,
        participants: ParticipantService,
        conclusions: ConclusionService,
        notebooks: NotebookService,
        notebook_undo: NotebookUndo,
        filer: NotebookFiler,
    ) -> None:
        self._session_store, self._facts, self._participants = session_store, facts, participants
        self._conclusions, self._notebooks, self._notebook_undo, self._filer = conclusions, notebooks, notebook_undo, filer

    def needs_model(self, session: SessionSummary) -> bool:
        """Return whether a model would be asked about the session."""
        return self._conclusions.would_ask_model(session.last_activity)

    async def revise_lines(self, persona_id: str) -> None:
        """Bring the lines of the notebooks up to date with facts that no longer hold or are worded differently."""
        await self._notebooks.revise_lines(persona_id, await self._facts.load_history(persona_id))

    async def write_session(self, session_id: UUID, entry: ActivityEntry | None = None) -> list[str]:
        """Write the conclusions of one session; return the names of the notebooks that were written."""
        session = await self._session_store.session(session_id)
        utterances = to_utterances(
            await self._session_store.page(session_id, 0, len(await self._session_store.outline(session_id)))
        )
        conversation = FinishedConversation(session, await self._participants.load_for_session(session), utterances)
        if not utterances:
            return []
        if entry is None:
            extraction = await self._conclusions.collect_conclusions(conversation)
            return await self._filer.write_conclusions(conversation, extraction)
        record_facts = partial(_record_facts, entry, entry.run.made)
        extraction = await self._conclusions.collect_conclusions(conversation, record_facts)
        await record_facts(extraction.learnt)  # not those that were known
        if not extraction.conclusions:
            return []
        async with self._notebook_undo.record(entry, session.persona_id):
            return await self._filer.write_conclusions(conversation, extraction)


async def _record_facts(entry: ActivityEntry, earlier: Sequence[ProducedRecord], facts: Sequence[ExtractedFact]) -> None:
    """Record facts as results of a run after its `earlier` ones, in place of all others."""
    records = [ProducedRecord(kind=ProducedKind.FACT, id=str(fact.guid), title=fact.fact) for fact in facts]
    await entry.set_results((*earlier, *records))


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
        entry = self._activity_log.create_entry(NOTEBOOKS, owner)
        await self._activity_log.run_entry(entry, partial(self._read_sessions, persona_id, ready, sessions_read))
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
            except NO_MODEL_ERRORS:
                break
            sessions_read.append(session)
            written += names
            await self._progress.mark_read(persona_id, session)
            await entry.save()  # with what it cost, for the question whether there is something left
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
