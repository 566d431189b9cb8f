"""Writes down in notebooks what conversations that are over came to, behind the user's back; each conversation is read once.

What it came to is what is known from it: the facts that were taken from it, and where a model may be trusted with facts, its
conclusions, decisions and discoveries, which become facts as well. Few of them without a subject are left at that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from lethe_app.brain.dates import elapsed
from lethe_app.brain.gist import digest
from lethe_app.brain.grounding import is_grounded
from lethe_app.brain.notebooks import Conclusion, Notebook
from lethe_app.brain.notebooks_answers import Conclusions, Parting, is_confirmed
from lethe_app.brain.notebooks_parting import Piece, clustered, proposed
from lethe_app.brain.notebooks_topics import elected, title_for
from lethe_app.brain.portions import spell_all
from lethe_app.brain.said import Said, aloud
from lethe_app.domain.archive import PartState, SessionPart
from lethe_app.domain.chat import ChatSession, Role, SessionSummary
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from lethe_app.errors import EngineUnreachable, FileError, LetheError, ModelError, ModelMissing
from lethe_app.retrieval.subjects import likeness
from lethe_app.services.archiving import Archiving
from lethe_app.services.background import Background
from lethe_app.services.casting import Cast, Casting
from lethe_app.services.clerk import Clerk
from lethe_app.services.events import Listeners
from lethe_app.services.knowing import Knowing
from lethe_app.services.library import Library
from lethe_app.services.notebooks import Notebooks
from lethe_app.services.preferences import Preferences
from lethe_app.services.quiet import Quiet
from lethe_app.services.subjects import Subjects
from lethe_app.services.trust import Trust
from lethe_app.storage.chats import Chats
from lethe_app.storage.facts import Facts
from lethe_app.storage.state import HouseState

SCOPE = "notebooks"
"""Of the state of the house: which conversations of a persona were read, and how many messages they had then."""
MAKE_ONE = 3
"""As many conclusions without a notebook make a new one."""
STILL_ASKED = timedelta(days=7)
"""Of what is over for longer a model is not asked: of a home full of old conversations the facts are enough."""
LINES_AT_ONCE = 30
LOOK_AGAIN = 600.0
NOT_NOW = (ModelMissing, EngineUnreachable)


@dataclass(frozen=True)
class Reading:
    """One conversation that is over."""

    session: ChatSession
    cast: Cast
    lines: Sequence[Said]


class Notekeeping:
    """Told of conversations that were archived, and of facts that were forgotten."""

    def __init__(
        self,
        chats: Chats,
        facts: Facts,
        casting: Casting,
        knowing: Knowing,
        archiving: Archiving,
        clerk: Clerk,
        trust: Trust,
        quiet: Quiet,
        notebooks: Notebooks,
        subjects: Subjects,
        house: HouseState,
        preferences: Preferences,
        library: Library,
        sessions_changed: Listeners[str],
    ) -> None:
        self._chats, self._facts, self._casting, self._knowing, self._archiving = chats, facts, casting, knowing, archiving
        self._clerk, self._trust, self._quiet = clerk, trust, quiet
        self._notebooks, self._subjects, self._house, self._preferences = notebooks, subjects, house, preferences
        self._library = library
        self._has_begun = False
        self._waiting: dict[str, None] = {}
        self._forget = [sessions_changed.add(self._heard), knowing.changed.add(self._heard)]
        self._background = Background(self.catch_up, LOOK_AGAIN)

    def start(self, pause: float = 0.0) -> None:
        """Begin with whatever was said while the program was another one."""
        self._background.start(pause)

    async def close(self) -> None:
        for forget in self._forget:
            forget()
        await self._background.close()

    async def catch_up(self) -> None:
        """Read what is over and was not read yet; at first of everybody."""
        if not self._has_begun:
            self._has_begun = True
            self._waiting |= dict.fromkeys(persona.unique_name for persona in await self._library.personas())
        while self._waiting and self._preferences.current.notebooks:
            persona_id = next(iter(self._waiting))
            del self._waiting[persona_id]
            await self._quiet.wait()
            with suppress(FileError):  # the persona, or a notebook of hers, cannot be read: that is told where she is shown
                await self.of(persona_id)

    async def of(self, persona_id: str) -> int:
        """All that is over of one persona; how many conversations were read."""
        await self._notebooks.forget(persona_id, {stone.digest for stone in await self._facts.tombstones(persona_id)})
        kept = await self._house.get(SCOPE, persona_id)
        seen = {str(guid): int(count) for guid, count in kept.items()} if isinstance(kept, dict) else {}
        every = await self._chats.sessions(persona_id)
        new = [one for one in reversed(every) if one.archived and seen.get(str(one.guid), 0) < one.messages]
        read = 0
        for one in new:
            await self._quiet.wait()
            if not await self._is_ready(one):
                continue
            try:
                await self.digest(one.guid)
            except NOT_NOW:
                break
            read += 1
            seen = {str(other.guid): seen[str(other.guid)] for other in every if str(other.guid) in seen}
            seen[str(one.guid)] = one.messages
            await self._house.set(SCOPE, persona_id, seen)
        return read

    async def digest(self, session_id: UUID) -> str:
        """Write down what one conversation came to; the name of the notebook, empty where there is none."""
        session = await self._chats.session(session_id)
        lines = aloud(await self._chats.page(session_id, 0, len(await self._chats.outline(session_id))))
        reading = Reading(session, await self._casting.of_session(session), lines)
        if not lines or (session.is_roleplay and not self._preferences.current.facts_during_roleplay):
            return ""
        found, subject = await self._concluded(reading)
        if not found:
            return ""
        books = [kept.notebook for kept in await self._notebooks.of(session.persona_id)]
        name = await self._notebook_of(reading, books, found)
        summary = session.name or found[0].text
        if name:
            await self._notebooks.add(session.persona_id, name, found, summary)
        elif len(found) >= MAKE_ONE:
            name = await self._notebooks.create(session.persona_id, self._title(reading, found, subject), found, summary)
        if name:
            await self.part_if_long(session.persona_id, name)
        return name

    async def part_if_long(self, persona_id: str, name: str) -> list[str]:
        """Several in its place if it has more lines than the user wants; their names, or none."""
        lines = next((len(kept.notebook.lines) for kept in await self._notebooks.of(persona_id) if kept.name == name), 0)
        return await self.part(persona_id, name) if lines > self._preferences.current.notebook_lines else []

    async def part(self, persona_id: str, name: str) -> list[str]:
        """Several in its place; their names. Raises LetheError where there is too little to part."""
        book = next((kept.notebook for kept in await self._notebooks.of(persona_id) if kept.name == name), None)
        if book is None:
            raise LetheError(f"The notebook “{name}” is no longer there.")
        if len(book.lines) < 2 * MAKE_ONE:
            raise LetheError(f"“{book.title}” is too short to be parted.", f"It takes {2 * MAKE_ONE} lines.")
        return await self._notebooks.part(persona_id, book, await self._pieces(book))

    # What it came to

    async def _concluded(self, reading: Reading) -> tuple[list[Conclusion], str]:
        """Conclusions and, where a model found one, what they have in common."""
        subject, facts = "", list[ExtractedFact]()
        verdict = self._trust.verdict
        is_recent = elapsed(reading.lines[-1].time, now()) <= STILL_ASKED
        if verdict is not None and verdict.may_write_facts and is_recent and self._preferences.current.fact_retrieval:
            try:
                facts, subject = await self._asked(reading)
                await self._knowing.learn(reading.session.persona_id, facts)
            except NOT_NOW:
                raise
            except ModelError:
                pass  # it could not say; what is known already is enough
        if not facts:
            known = await self._knowing.all(reading.session.persona_id)
            facts = [one for one in known if reading.session.guid in one.source_memories and not one.superseded]
            facts.sort(key=lambda one: one.first_seen)
        forgotten = {stone.digest for stone in await self._facts.tombstones(reading.session.persona_id)}
        found = [Conclusion(one.fact, one.first_seen.astimezone().date()) for one in facts]
        return [one for one in found if digest(one.text) not in forgotten], subject

    async def _asked(self, reading: Reading) -> tuple[list[ExtractedFact], str]:
        names = {"name": reading.cast.persona.name, "user": reading.cast.user.name}
        speakers = {said.name for said in reading.lines}
        found: list[ExtractedFact] = []
        subject = ""
        for part in await self._clerk.portions("conclusions", Conclusions, reading.lines, LINES_AT_ONCE, 0, **names):
            answer = await self._clerk.ask("conclusions", Conclusions, conversation=spell_all(part, numbered=True), **names)
            subject = subject or answer.subject
            for one in answer.conclusions:
                place = one.line - 1
                around = [said.text for said in part[max(place - 1, 0) : place + 2]]
                if place < len(part) and is_confirmed(place, part) and is_grounded(one.conclusion, around, speakers):
                    found.append(self._fact(reading.session, one.conclusion, part[place]))
        return found, subject

    def _fact(self, session: ChatSession, text: str, said: Said) -> ExtractedFact:
        return ExtractedFact(
            fact=text,
            first_seen=said.time,
            last_seen=said.time,
            source_memories=[session.guid],
            source_messages=[said.id],
            made_by=MadeBy.MODEL,
        )

    # Where it belongs

    async def _notebook_of(self, reading: Reading, books: Sequence[Notebook], found: Sequence[Conclusion]) -> str:
        """The one that was open in the conversation, or that half of this is about, or all that the user said."""
        opened = await self._subjects.open_in(reading.session.guid)
        if any(book.name == opened for book in books):
            return opened
        names, persona_id = self._names(reading), reading.session.persona_id
        votes = [await self._subjects.about(books, persona_id, one.text, names, None) for one in found]
        said = " ".join(said.text for said in reading.lines if said.role is Role.USER)
        return elected(votes) or await self._subjects.about(books, persona_id, said, names, None)

    def _title(self, reading: Reading, found: Sequence[Conclusion], subject: str) -> str:
        if subject:
            return subject
        keywords = [word.capitalize() for word in reading.session.keywords_main[:1]]
        day = f"Notes of {found[0].day.isoformat()}"
        return title_for([one.text for one in found], self._names(reading), [*keywords, reading.session.name, day])

    def _names(self, reading: Reading) -> tuple[str, ...]:
        return (reading.cast.persona.name, reading.cast.user.name)

    async def _pieces(self, book: Notebook) -> Sequence[Piece]:
        longest = self._preferences.current.notebook_lines
        verdict = self._trust.verdict
        if verdict is not None and verdict.may_write_summaries:
            lines = "\n".join(f"{number}. {line.text}" for number, line in enumerate(book.lines, 1))
            with suppress(ModelError):  # too long for it, or it could not say: by rules, then
                if (await self._clerk.count([lines]))[0] <= await self._clerk.room("split", Parting, title=book.title):
                    answer = await self._clerk.ask("split", Parting, title=book.title, lines=lines)
                    pieces = proposed(book, [(part.title, part.lines) for part in answer.parts])
                    if pieces is not None:
                        return pieces
        vectors = self._subjects.vectors_of([line.text for line in book.lines])
        if vectors is None:
            return clustered(book, longest)
        alike = likeness(vectors)
        return clustered(book, longest, lambda one, other: alike[one][other])

    async def _is_ready(self, one: SessionSummary) -> bool:
        """Has the archive taken its facts already?"""
        record = (await self._archiving.parts(one.guid)).get(SessionPart.FACTS)
        return record is None or record.state is not PartState.PENDING

    def _heard(self, persona_id: str) -> None:
        self._waiting[persona_id] = None
        self._background.wake()
