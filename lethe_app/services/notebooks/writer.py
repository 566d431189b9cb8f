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
from lethe_app.brain.llm_schemas.notebooks import SplitAnswer
from lethe_app.brain.notebooks.document import Conclusion, Notebook
from lethe_app.brain.notebooks.filing import MIN_CONCLUSIONS, assign_conclusions, split_by_subject
from lethe_app.brain.notebooks.matching import majority_notebook
from lethe_app.brain.notebooks.splitting import NotebookPiece, pieces_from_proposal, split_without_model
from lethe_app.brain.notebooks.subjects import SubjectStems
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import PartState, Role, SessionPart, SessionSummary
from lethe_app.errors import FileError, LetheError, ModelError
from lethe_app.retrieval.vectors.subject_distances import similarity_matrix
from lethe_app.services.background.activity_log import NOTEBOOKS, ActivityEntry, ActivityLog
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.conclusions import NOT_NOW, ConclusionService, FinishedConversation, SessionConclusions
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.library import Library
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.recall import NotebookSelector
from lethe_app.services.notebooks.service import NotebookService
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.facts import FactStore

SCOPE = "notebooks"
"""Scope of the app state: by persona, the sessions that were read and the number of messages they had then."""
LOOK_AGAIN = 600.0
"""Seconds between two checks of the background loop."""


class NotebookWriter:
    """Background service that writes notebooks. It follows archived sessions and forgotten facts."""

    def __init__(
        self,
        chats: SessionStore,
        facts: FactStore,
        participant_service: ParticipantService,
        fact_service: FactService,
        conclusion_service: ConclusionService,
        activity_log: ActivityLog,
        notebook_undo: NotebookUndo,
        archiving: ArchiveQueue,
        structured_output: StructuredOutput,
        qualification: Qualification,
        priority: BackgroundPriority,
        notebooks: NotebookService,
        subjects: NotebookSelector,
        app_state: AppState,
        preferences: Preferences,
        library: Library,
        sessions_changed: Listeners[str],
        matters: SubjectStems,
    ) -> None:
        self._chats, self._facts, self._participant_service, self._archiving = chats, facts, participant_service, archiving
        self._conclusion_service, self._activity_log, self._notebook_undo = conclusion_service, activity_log, notebook_undo
        self._structured_output, self._qualification, self._priority = structured_output, qualification, priority
        self._notebooks, self._subjects, self._app_state, self._preferences = notebooks, subjects, app_state, preferences
        self._library, self._matters = library, matters
        self._is_initialized = False
        self._pending_personas: dict[str, None] = {}
        self._postponed_personas: dict[str, None] = {}
        """Personas whose daily quota is used up while sessions are still unread."""
        self._unsubscribe = [sessions_changed.add(self._on_persona_changed), fact_service.changed.add(self._on_persona_changed)]
        self._background = BackgroundLoop(self.write_all_pending, LOOK_AGAIN)

    def start(self, delay: float = 0.0) -> None:
        """Start the background loop, with the sessions that ended before the program started."""
        self._background.start(delay)

    async def close(self) -> None:
        for forget in self._unsubscribe:
            forget()
        await self._background.close()

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
        # What the user has forgotten is removed from the notebooks too.
        await self._notebooks.delete_lines(persona_id, {stone.digest for stone in await self._facts.tombstones_of(persona_id)})
        stored = await self._app_state.get(SCOPE, persona_id)
        read_counts = {str(guid): int(count) for guid, count in stored.items()} if isinstance(stored, dict) else {}
        sessions = await self._chats.sessions(persona_id)
        unread = [one for one in reversed(sessions) if one.archived and read_counts.get(str(one.guid), 0) < one.messages]
        ready = [one for one in unread if await self._is_ready(one)]
        if ready and not await self._activity_log.has_budget_left(persona_id):
            ready = [one for one in ready if not self._must_wait(persona_id, one)]
        if not ready:
            return 0
        name = (await self._participant_service.of_persona(persona_id)).persona.name
        present_counts = {str(one.guid): read_counts[str(one.guid)] for one in sessions if str(one.guid) in read_counts}
        action = partial(self._read_sessions, persona_id, ready, present_counts)
        await self._activity_log.run_action(NOTEBOOKS, (persona_id, name), action)
        return sum(present_counts.get(str(one.guid)) == one.messages for one in ready)

    async def _read_sessions(
        self, persona_id: str, ready: Sequence[SessionSummary], read_counts: dict[str, int], doing: ActivityEntry
    ) -> TaskResult:
        """Read the sessions one by one; `read_counts` is stored after each."""
        sessions_read, written = 0, list[str]()
        for session in ready:
            await self._priority.wait_for_turn_end()
            if not await self._activity_log.has_budget_left(persona_id) and self._must_wait(persona_id, session):
                continue
            doing.report_progress(f"Reading “{session.title}”" if session.title else "Reading")
            try:
                names = await self.write_session(session.guid, doing)
            except NOT_NOW:
                break
            sessions_read += 1
            written += names
            read_counts[str(session.guid)] = session.messages
            await self._app_state.set(SCOPE, persona_id, dict(read_counts))
            await doing.store_cost()  # with what it cost, for the question whether there is something left
        return _build_result(sessions_read, list(dict.fromkeys(written)))

    def _must_wait(self, persona_id: str, session: SessionSummary) -> bool:
        """Return whether the session needs a model, for which the quota of today is used up. The persona is then queued for
        another check.
        """
        if self._conclusion_service.asks(session.last_activity):
            self._postponed_personas[persona_id] = None
            return True
        return False

    async def write_session(self, session_id: UUID, doing: ActivityEntry | None = None) -> list[str]:
        """Write the conclusions of one session; return the names of the notebooks that were written."""
        session = await self._chats.session(session_id)
        utterances = to_utterances(await self._chats.page(session_id, 0, len(await self._chats.outline(session_id))))
        conversation = FinishedConversation(session, await self._participant_service.of_session(session), utterances)
        if not utterances:
            return []
        if doing is None:
            extraction = await self._conclusion_service.came_to(conversation)
            return await self._write_conclusions(conversation, extraction)
        extraction = await self._conclusion_service.came_to(conversation, partial(self._notebook_undo.record_facts, doing))
        await self._notebook_undo.keep_learnt_facts(doing, extraction.foretold, extraction.learnt)
        return await self._write_recorded(conversation, extraction, doing) if extraction.conclusions else []

    async def _write_recorded(
        self, conversation: FinishedConversation, extraction: SessionConclusions, doing: ActivityEntry
    ) -> list[str]:
        """Write the conclusions, and record what was written even if an error interrupts it."""
        change = await self._notebook_undo.record_before(doing.run_id, conversation.session.persona_id)
        try:
            return await self._write_conclusions(conversation, extraction)
        finally:
            for made in await self._notebook_undo.record_after(change):
                await doing.add_result(made)

    async def _write_conclusions(self, conversation: FinishedConversation, extraction: SessionConclusions) -> list[str]:
        """Write each conclusion to the matching notebook or to a new one; return the names of the notebooks."""
        session, all_conclusions = conversation.session, extraction.conclusions
        if not all_conclusions:
            return []
        books = [item.notebook for item in await self._notebooks.notebooks_of(session.persona_id)]
        votes = [await self._find_notebook(conversation, books, conclusion.text) for conclusion in all_conclusions]
        filing = assign_conclusions(
            all_conclusions, votes, await self._choose_main_notebook(conversation, books, votes), books, self._matters
        )
        names = list[str]()
        for name, conclusions in filing.by_notebook.items():
            await self._notebooks.add_conclusions(session.persona_id, name, conclusions, session.name or conclusions[0].text)
            names.append(name)
        for conclusions in filing.new_groups:
            subject = extraction.subject if len(conclusions) == len(all_conclusions) else ""
            title, summary = self._choose_title(conversation, conclusions, subject), session.name or conclusions[0].text
            names.append(await self._notebooks.create(session.persona_id, title, conclusions, summary))
        for name in names:
            await self.split_if_long(session.persona_id, name)
        return names

    async def split_if_long(self, persona_id: str, name: str) -> list[str]:
        """Split a notebook with more lines than the user's limit; return the new names, or none."""
        line_count = next(
            (len(item.notebook.lines) for item in await self._notebooks.notebooks_of(persona_id) if item.name == name), 0
        )
        return await self.split(persona_id, name) if line_count > self._preferences.current.notebook_lines else []

    async def split(self, persona_id: str, name: str) -> list[str]:
        """Split a notebook; return the new names. Raise LetheError if it has too few lines."""
        book = next((item.notebook for item in await self._notebooks.notebooks_of(persona_id) if item.name == name), None)
        if book is None:
            raise LetheError(f"The notebook “{name}” no longer exists.")
        if len(book.lines) < 2 * MIN_CONCLUSIONS:
            raise LetheError(f"“{book.title}” is too short to be split.", f"At least {2 * MIN_CONCLUSIONS} lines are needed.")
        return await self._notebooks.split(persona_id, book, await self._choose_pieces(book))

    # Choice of the notebook

    async def _find_notebook(self, conversation: FinishedConversation, books: Sequence[Notebook], text: str) -> str:
        return await self._subjects.find_notebook(
            books, conversation.session.persona_id, text, self._speaker_names(conversation)
        )

    async def _choose_main_notebook(
        self, conversation: FinishedConversation, books: Sequence[Notebook], votes: Sequence[str]
    ) -> str:
        """Return the notebook that was open in the session, or that half of its conclusions are about, or the user's
        messages are about.
        """
        open_name = await self._subjects.open_notebook_of(conversation.session.guid)
        if any(book.name == open_name for book in books):
            return open_name
        said = " ".join(said.text for said in conversation.lines if said.role is Role.USER)
        return majority_notebook(votes) or await self._find_notebook(conversation, books, said)

    def _choose_title(self, conversation: FinishedConversation, conclusions: Sequence[Conclusion], subject: str) -> str:
        """Return a title: the subject by a model, common words of the conclusions, or else a keyword or the title of the
        session.
        """
        keywords = [word.capitalize() for word in conversation.session.keywords_main[:1]]
        common = self._matters.build_title([conclusion.text for conclusion in conclusions], self._speaker_names(conversation))
        candidates = (subject, common, *keywords, conversation.session.name, f"Notes of {conclusions[0].day.isoformat()}")
        return next(title for title in map(str.strip, candidates) if title)

    def _speaker_names(self, conversation: FinishedConversation) -> tuple[str, ...]:
        return (conversation.cast.persona.name, conversation.cast.user.name)

    async def _choose_pieces(self, book: Notebook) -> Sequence[NotebookPiece]:
        line_limit = self._preferences.current.notebook_lines
        verdict = self._qualification.verdict
        if verdict is not None and verdict.may_write_summaries:
            lines = "\n".join(f"{number}. {line.text}" for number, line in enumerate(book.lines, 1))
            with suppress(ModelError):  # too long for it, or it could not say: by rules, then
                if (await self._structured_output.count([lines]))[0] <= await self._structured_output.room(
                    "split", SplitAnswer, title=book.title
                ):
                    answer = await self._structured_output.ask("split", SplitAnswer, title=book.title, lines=lines)
                    pieces = pieces_from_proposal(book, [(part.title, part.lines) for part in answer.parts])
                    if pieces is not None:
                        return pieces
        if pieces := pieces_from_proposal(book, split_by_subject(book, line_limit, self._matters)):
            return pieces
        vectors = self._subjects.vectors_of([line.text for line in book.lines])
        if vectors is None:
            return split_without_model(book, line_limit)
        alike = similarity_matrix(vectors)
        return split_without_model(book, line_limit, lambda one, other: alike[one][other])

    async def _is_ready(self, session: SessionSummary) -> bool:
        """Return whether fact extraction of the session is done, or none is due."""
        record = (await self._archiving.parts(session.guid)).get(SessionPart.FACTS)
        return record is None or record.state is not PartState.PENDING

    def _on_persona_changed(self, persona_id: str) -> None:
        self._pending_personas[persona_id] = None
        self._background.wake()


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
