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

from lethe_app.agents.task import Result
from lethe_app.brain.llm_schemas.notebooks import SplitAnswer
from lethe_app.brain.notebooks.document import Conclusion, Notebook
from lethe_app.brain.notebooks.filing import MIN_CONCLUSIONS, assign_conclusions, split_by_subject
from lethe_app.brain.notebooks.matching import majority_notebook
from lethe_app.brain.notebooks.splitting import NotebookPiece, pieces_from_proposal, split_without_model
from lethe_app.brain.notebooks.subjects import Matters
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import PartState, Role, SessionPart, SessionSummary
from lethe_app.errors import FileError, LetheError, ModelError
from lethe_app.retrieval.vectors.subject_distances import likeness
from lethe_app.services.background.activity_log import NOTEBOOKS, ActivityLog, Doing
from lethe_app.services.events import Listeners
from lethe_app.services.extraction.conclusions import NOT_NOW, CameTo, ConclusionService, FinishedConversation
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.extraction.structured_output import StructuredOutput
from lethe_app.services.library import Library
from lethe_app.services.memory.facts import FactService
from lethe_app.services.notebooks.recall import Subjects
from lethe_app.services.notebooks.service import Notebooks
from lethe_app.services.notebooks.undo import NotebookUndo
from lethe_app.services.participants import ParticipantService
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import Background
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.services.sessions.archive_queue import Archiving
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import AppState
from lethe_app.storage.memory.facts import FactStore

SCOPE = "notebooks"
"""Scope of the app state: by persona, the sessions that were read and the number of messages they had then."""
LOOK_AGAIN = 600.0
"""Seconds between two checks of the background loop."""


class Notekeeping:
    """Background service that writes notebooks. It follows archived sessions and forgotten facts."""

    def __init__(
        self,
        chats: Chats,
        facts: FactStore,
        casting: ParticipantService,
        knowing: FactService,
        concluding: ConclusionService,
        doings: ActivityLog,
        unwriting: NotebookUndo,
        archiving: Archiving,
        clerk: StructuredOutput,
        trust: Qualification,
        quiet: BackgroundPriority,
        notebooks: Notebooks,
        subjects: Subjects,
        app_state: AppState,
        preferences: Preferences,
        library: Library,
        sessions_changed: Listeners[str],
        matters: Matters,
    ) -> None:
        self._chats, self._facts, self._casting, self._archiving = chats, facts, casting, archiving
        self._concluding, self._doings, self._unwriting = concluding, doings, unwriting
        self._clerk, self._trust, self._quiet = clerk, trust, quiet
        self._notebooks, self._subjects, self._app_state, self._preferences = notebooks, subjects, app_state, preferences
        self._library, self._matters = library, matters
        self._has_begun = False
        self._waiting: dict[str, None] = {}
        self._another_day: dict[str, None] = {}
        """Personas whose daily quota is used up while sessions are still unread."""
        self._forget = [sessions_changed.add(self._heard), knowing.changed.add(self._heard)]
        self._background = Background(self.catch_up, LOOK_AGAIN)

    def start(self, pause: float = 0.0) -> None:
        """Start the background loop, with the sessions that ended before the program started."""
        self._background.start(pause)

    async def close(self) -> None:
        for forget in self._forget:
            forget()
        await self._background.close()

    async def catch_up(self) -> None:
        """Read the ended sessions of all waiting personas; on the first call, of every persona."""
        if not self._has_begun:
            self._has_begun = True
            self._waiting |= dict.fromkeys(persona.unique_name for persona in await self._library.personas())
            for persona_id in self._waiting:
                await self._unwriting.complete(persona_id)
        self._waiting |= self._another_day
        self._another_day = {}
        while self._waiting and self._preferences.current.notebooks:
            persona_id = next(iter(self._waiting))
            del self._waiting[persona_id]
            await self._quiet.wait()
            with suppress(FileError):  # the persona, or a notebook of hers, cannot be read: that is told where she is shown
                await self.write_pending(persona_id)

    async def write_pending(self, persona_id: str) -> int:
        """Read all ended sessions of one persona; return the number of sessions read."""
        # What the user has forgotten is removed from the notebooks too.
        await self._notebooks.strike_lines(persona_id, {stone.digest for stone in await self._facts.tombstones(persona_id)})
        kept = await self._app_state.get(SCOPE, persona_id)
        seen = {str(guid): int(count) for guid, count in kept.items()} if isinstance(kept, dict) else {}
        every = await self._chats.sessions(persona_id)
        new = [one for one in reversed(every) if one.archived and seen.get(str(one.guid), 0) < one.messages]
        ready = [one for one in new if await self._is_ready(one)]
        if ready and not await self._doings.is_left(persona_id):
            ready = [one for one in ready if not self._waits(persona_id, one)]
        if not ready:
            return 0
        name = (await self._casting.of_persona(persona_id)).persona.name
        known = {str(one.guid): seen[str(one.guid)] for one in every if str(one.guid) in seen}
        deed = partial(self._read, persona_id, ready, known)
        await self._doings.carry_out(NOTEBOOKS, (persona_id, name), deed)
        return sum(known.get(str(one.guid)) == one.messages for one in ready)

    async def _read(self, persona_id: str, ready: Sequence[SessionSummary], seen: dict[str, int], doing: Doing) -> Result:
        """Read the sessions one by one; `seen` is stored after each."""
        read, written = 0, list[str]()
        for one in ready:
            await self._quiet.wait()
            if not await self._doings.is_left(persona_id) and self._waits(persona_id, one):
                continue
            doing.progress(f"Reading “{one.title}”" if one.title else "Reading")
            try:
                names = await self.digest(one.guid, doing)
            except NOT_NOW:
                break
            read += 1
            written += names
            seen[str(one.guid)] = one.messages
            await self._app_state.set(SCOPE, persona_id, dict(seen))
            await doing.store_cost()  # with what it cost, for the question whether there is something left
        return _told(read, list(dict.fromkeys(written)))

    def _waits(self, persona_id: str, one: SessionSummary) -> bool:
        """Return whether the session needs a model, for which the quota of today is used up. The persona is then queued for
        another check.
        """
        if self._concluding.asks(one.last_activity):
            self._another_day[persona_id] = None
            return True
        return False

    async def digest(self, session_id: UUID, doing: Doing | None = None) -> list[str]:
        """Write the conclusions of one session; return the names of the notebooks that were written."""
        session = await self._chats.session(session_id)
        lines = to_utterances(await self._chats.page(session_id, 0, len(await self._chats.outline(session_id))))
        reading = FinishedConversation(session, await self._casting.of_session(session), lines)
        if not lines:
            return []
        if doing is None:
            came_to = await self._concluding.came_to(reading)
            return await self._written(reading, came_to)
        came_to = await self._concluding.came_to(reading, partial(self._unwriting.note_facts, doing))
        await self._unwriting.keep_only(doing, came_to.foretold, came_to.learnt)
        return await self._noted(reading, came_to, doing) if came_to.conclusions else []

    async def _noted(self, reading: FinishedConversation, came_to: CameTo, doing: Doing) -> list[str]:
        """Write the conclusions, and record what was written even if an error interrupts it."""
        change = await self._unwriting.record_before(doing.run_id, reading.session.persona_id)
        try:
            return await self._written(reading, came_to)
        finally:
            for made in await self._unwriting.finish(change):
                await doing.note(made)

    async def _written(self, reading: FinishedConversation, came_to: CameTo) -> list[str]:
        """Write each conclusion to the matching notebook or to a new one; return the names of the notebooks."""
        session, found = reading.session, came_to.conclusions
        if not found:
            return []
        books = [kept.notebook for kept in await self._notebooks.notebooks_of(session.persona_id)]
        votes = [await self._about(reading, books, one.text) for one in found]
        sorted_out = assign_conclusions(found, votes, await self._home(reading, books, votes), books, self._matters)
        names = list[str]()
        for name, conclusions in sorted_out.by_notebook.items():
            await self._notebooks.add(session.persona_id, name, conclusions, session.name or conclusions[0].text)
            names.append(name)
        for conclusions in sorted_out.new_groups:
            subject = came_to.subject if len(conclusions) == len(found) else ""
            title, summary = self._title(reading, conclusions, subject), session.name or conclusions[0].text
            names.append(await self._notebooks.create(session.persona_id, title, conclusions, summary))
        for name in names:
            await self.part_if_long(session.persona_id, name)
        return names

    async def part_if_long(self, persona_id: str, name: str) -> list[str]:
        """Split a notebook with more lines than the user's limit; return the new names, or none."""
        lines = next(
            (len(kept.notebook.lines) for kept in await self._notebooks.notebooks_of(persona_id) if kept.name == name), 0
        )
        return await self.part(persona_id, name) if lines > self._preferences.current.notebook_lines else []

    async def part(self, persona_id: str, name: str) -> list[str]:
        """Split a notebook; return the new names. Raise LetheError if it has too few lines."""
        book = next((kept.notebook for kept in await self._notebooks.notebooks_of(persona_id) if kept.name == name), None)
        if book is None:
            raise LetheError(f"The notebook “{name}” no longer exists.")
        if len(book.lines) < 2 * MIN_CONCLUSIONS:
            raise LetheError(f"“{book.title}” is too short to be split.", f"At least {2 * MIN_CONCLUSIONS} lines are needed.")
        return await self._notebooks.part(persona_id, book, await self._pieces(book))

    # Choice of the notebook

    async def _about(self, reading: FinishedConversation, books: Sequence[Notebook], text: str) -> str:
        return await self._subjects.about(books, reading.session.persona_id, text, self._names(reading))

    async def _home(self, reading: FinishedConversation, books: Sequence[Notebook], votes: Sequence[str]) -> str:
        """Return the notebook that was open in the session, or that half of its conclusions are about, or the user's
        messages are about.
        """
        opened = await self._subjects.open_in(reading.session.guid)
        if any(book.name == opened for book in books):
            return opened
        said = " ".join(said.text for said in reading.lines if said.role is Role.USER)
        return majority_notebook(votes) or await self._about(reading, books, said)

    def _title(self, reading: FinishedConversation, found: Sequence[Conclusion], subject: str) -> str:
        """Return a title: the subject by a model, common words of the conclusions, or else a keyword or the title of the
        session.
        """
        keywords = [word.capitalize() for word in reading.session.keywords_main[:1]]
        common = self._matters.build_title([one.text for one in found], self._names(reading))
        others = (subject, common, *keywords, reading.session.name, f"Notes of {found[0].day.isoformat()}")
        return next(title for title in map(str.strip, others) if title)

    def _names(self, reading: FinishedConversation) -> tuple[str, ...]:
        return (reading.cast.persona.name, reading.cast.user.name)

    async def _pieces(self, book: Notebook) -> Sequence[NotebookPiece]:
        longest = self._preferences.current.notebook_lines
        verdict = self._trust.verdict
        if verdict is not None and verdict.may_write_summaries:
            lines = "\n".join(f"{number}. {line.text}" for number, line in enumerate(book.lines, 1))
            with suppress(ModelError):  # too long for it, or it could not say: by rules, then
                if (await self._clerk.count([lines]))[0] <= await self._clerk.room("split", SplitAnswer, title=book.title):
                    answer = await self._clerk.ask("split", SplitAnswer, title=book.title, lines=lines)
                    pieces = pieces_from_proposal(book, [(part.title, part.lines) for part in answer.parts])
                    if pieces is not None:
                        return pieces
        if pieces := pieces_from_proposal(book, split_by_subject(book, longest, self._matters)):
            return pieces
        vectors = self._subjects.vectors_of([line.text for line in book.lines])
        if vectors is None:
            return split_without_model(book, longest)
        alike = likeness(vectors)
        return split_without_model(book, longest, lambda one, other: alike[one][other])

    async def _is_ready(self, one: SessionSummary) -> bool:
        """Return whether fact extraction of the session is done, or none is due."""
        record = (await self._archiving.parts(one.guid)).get(SessionPart.FACTS)
        return record is None or record.state is not PartState.PENDING

    def _heard(self, persona_id: str) -> None:
        self._waiting[persona_id] = None
        self._background.wake()


def _told(read: int, written: Sequence[str]) -> Result:
    """Return the result of a run, as a sentence."""
    if not read:
        return Result("No model was available; the notebooks are updated later.", outcome=RunOutcome.NOTHING)
    talks = "one conversation" if read == 1 else f"{read} conversations"
    if not written:
        return Result(f"Read {talks}; there was nothing to note.", outcome=RunOutcome.NOTHING)
    return Result(f"Read {talks} and wrote into {'one notebook' if len(written) == 1 else f'{len(written)} notebooks'}.")
