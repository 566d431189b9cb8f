"""What a conversation is about: the notebook that its words open, which is told in the place of single memories.

Where it stands costs nothing but itself. In the turn that opens it, and as long as nothing else changes the beginning of the
prompt, it stands among what is true for this turn only, which is read anew every turn in any case: a line in the history could
not be taken back when the user changes the file. Whenever the frame is made anew, because a session begins, the history is cut
or something was edited, it becomes a part of the frame and is read once. So it never changes the beginning by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID, uuid5

from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks.document import Notebook, Recent
from lethe_app.brain.notebooks.matching import (
    DistanceLimits,
    NotebookSigns,
    NotebookVocabulary,
    chosen,
    goes_on,
    signs,
    vocabulary,
)
from lethe_app.brain.text.fingerprint import digest
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.recall import Because, RecallWay, Recollection
from lethe_app.errors import LetheError
from lethe_app.retrieval.vectors.subject_distances import distances
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.memory.lore import LoreKeeping
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.services.memory.selection import MemorySelection, RecallContext, RecallResult, present
from lethe_app.services.memory.time_search import TimeSearch
from lethe_app.services.notebooks.service import Notebooks
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import NotebookSections
from lethe_app.services.scheduling.loop import Background
from lethe_app.services.scheduling.priority import BackgroundPriority
from lethe_app.services.token_counts import Counting
from lethe_app.storage.key_value import SessionState

SUBJECT = "subject"
"""Key of a session's state: the notebook that is open in it."""
SHARE = 0.08
"""Part of the context that a notebook may have."""
NEWEST_LINES = 12
"""Of a notebook, besides its title, whose meaning is compared; its words are in all of them."""
MOST_LISTED = 7
"""Subjects of which a new conversation is told."""
AT_ONCE = 8
UNTOUCHED = 4
"""Messages in a row that are not about the open notebook, after which it is closed."""
WORLD = "notebook"
"""In the place of the world of an entry: whose file it is, and not a memory that could be forgotten by its id."""
_IDS = UUID("5d7a6c1e-5a0e-4b8e-9a42-6a6f0d1c8b11")
LATELY = "What you two spoke of lately:"


class Subjects:
    """Reads notebooks, and writes down only which of them is open."""

    def __init__(
        self,
        notebooks: Notebooks,
        state: SessionState,
        preferences: Preferences,
        counting: Counting,
        embedding: Embedding,
        calibration: Calibration,
        quiet: BackgroundPriority,
    ) -> None:
        self._notebooks = notebooks
        self._state = state
        self._preferences = preferences
        self._counting = counting
        self._embedding = embedding
        self._calibration = calibration
        self._quiet = quiet
        self._vectors: dict[tuple[str, str], bytes] = {}
        """By embedder and text."""
        self._words: dict[str, tuple[list[Notebook], NotebookVocabulary]] = {}
        self._wanted: dict[str, None] = {}
        """Texts whose meaning is still to be found out."""
        self._background = Background(self._learn)

    def start(self, pause: float = 0.0) -> None:
        """Find out, while nobody waits, what the lines of notebooks mean."""
        self._background.start(pause)

    async def close(self) -> None:
        await self._background.close()

    async def open_in(self, session_id: UUID) -> str:
        """The name of the notebook that is open in a session; empty for none."""
        return (await self._open_in(session_id))[0]

    async def _open_in(self, session_id: UUID) -> tuple[str, int]:
        """Return the name of the open notebook, and how many messages in a row were not about it."""
        kept = await self._state.get(session_id, SUBJECT)
        return (str(kept.get("name", "")), int(kept.get("untouched", 0))) if isinstance(kept, dict) else ("", 0)

    async def about(self, books: Sequence[Notebook], persona_id: str, text: str, names: Sequence[str]) -> str:
        """Return which of a persona's notebooks a text is about by its words; empty for none."""
        return chosen(signs(text, await self._vocabulary(persona_id, books), names), await self._limits())

    async def _signs(self, books: Sequence[Notebook], occasion: RecallContext) -> dict[str, NotebookSigns]:
        """Return what speaks for each notebook in a message."""
        words = await self._vocabulary(occasion.session.persona_id, books)
        found = signs(occasion.text, words, present(occasion.cast))
        if occasion.meaning is None:
            return found
        return {book.name: replace(found[book.name], distances=self._near(occasion.meaning, book)) for book in books}

    async def noted(self, occasion: RecallContext, mind: RecallResult) -> RecallResult:
        """The same with the notebook that this message is about, and without what stands in it anyhow.

        One that is open is told again only where the message goes on about it, and closed after `UNTOUCHED` that do not.
        Lines that stand in the frame as facts are not told twice: the frame cannot let go of them before it is made anew.
        """
        if not self._preferences.current.notebooks or not occasion.text.strip():
            return mind
        persona_id = occasion.session.persona_id
        books = [kept.notebook for kept in await self._notebooks.notebooks_of(persona_id)]
        if not books:
            return mind
        opened, untouched = await self._open_in(occasion.session.guid)
        found, limits = await self._signs(books, occasion), await self._limits()
        name = chosen(found, limits, opened)
        book = next((one for one in books if one.name == name), None)
        if book is None:
            return mind
        if name == opened and not goes_on(occasion.text, found[name], limits):
            state = {"name": "" if untouched + 1 >= UNTOUCHED else name, "untouched": untouched + 1}
            return replace(mind, states={**mind.states, SUBJECT: state})
        recalled = [one for one in mind.recalled if not is_said(one, book)]
        room, frame = int(occasion.context * SHARE), occasion.frame
        if frame is None or not frame.notebook or frame.notebook != await self._told(book, room):
            known = {digest(one.text) for one in frame.facts} if frame is not None else set()
            left = tuple(line for line in book.lines if digest(line.text) not in known)
            if text := await self._told(replace(book, lines=left), room):
                recalled = [opening(persona_id, book, text, is_new=name != opened), *recalled]
        return replace(mind, recalled=recalled, states={**mind.states, SUBJECT: {"name": name}})

    async def standing(self, session: ChatSession, context: int) -> NotebookSections:
        """What stands in a frame that is made now: the notebook that is open, and what was spoken of lately."""
        if not self._preferences.current.notebooks:
            return NotebookSections()
        try:
            books = {kept.name: kept.notebook for kept in await self._notebooks.notebooks_of(session.persona_id)}
            recents = await self._notebooks.recent(session.persona_id)
        except LetheError:
            return NotebookSections()  # a disk that cannot be read keeps nobody from talking
        book = books.get(await self.open_in(session.guid))
        text = await self._told(book, int(context * SHARE)) if book is not None else ""
        rows = [row_of(one, books[one.name]) for one in recents[:MOST_LISTED] if one.name in books]
        lately = "\n".join([LATELY, *rows]) if rows else ""
        tokens = sum(await self._counting.count([one for one in (text, lately) if one])) + 4
        says = partial(writing.says, book) if book is not None and text else None
        return NotebookSections(text, lately, tokens, says) if says is not None else NotebookSections(text, lately, tokens)

    def vectors_of(self, texts: Sequence[str]) -> list[bytes] | None:
        """What these mean, if all of it is known by now."""
        found = [self._vectors.get((self._embedding.id, text)) for text in texts]
        known = [vector for vector in found if vector is not None]
        return known if self._embedding.id and len(known) == len(texts) else None

    async def _told(self, book: Notebook, room: int) -> str:
        """As many of its newest lines as there is room for."""
        if not book.lines:
            return ""
        counts = await self._counting.count([line.text for line in book.lines])
        used, kept = (await self._counting.count([writing.render_for_model(book, 0)]))[0], 0
        for tokens in reversed(counts):
            used += tokens + 12  # its mark, its day and the end of the line
            if used > room:
                break
            kept += 1
        return writing.render_for_model(book, kept) if kept else ""

    async def _vocabulary(self, persona_id: str, books: Sequence[Notebook]) -> NotebookVocabulary:
        known = self._words.get(persona_id)
        if known is None or list(map(id, known[0])) != list(map(id, books)):
            known = self._words[persona_id] = (list(books), await asyncio.to_thread(vocabulary, books))
        return known[1]

    def _near(self, meaning: TextEmbedding, book: Notebook) -> tuple[float, ...]:
        """To its title and newest lines, as far as their meaning is known; what is not is found out soon."""
        if not self._embedding.id:
            return ()
        texts = texts_of(book)
        known = [(text, self._vectors.get((self._embedding.id, text))) for text in texts]
        if unknown := [text for text, vector in known if vector is None]:
            self._wanted |= dict.fromkeys(unknown)
            self._background.wake()
        return tuple(distances(meaning, [vector for _text, vector in known if vector is not None]))

    async def _limits(self) -> DistanceLimits:
        limits = await self._calibration.thresholds()
        return DistanceLimits(limits.natural, limits.rag_limit)

    async def _learn(self) -> None:
        while self._wanted and self._embedding.id:
            await self._quiet.wait()
            embedder, texts = self._embedding.id, list(self._wanted)[:AT_ONCE]
            meanings = await self._embedding.embed(texts)
            if embedder == self._embedding.id:
                self._vectors |= {(embedder, text): one.vector for text, one in zip(texts, meanings, strict=True)}
            for text in texts:
                self._wanted.pop(text, None)


class NotebookRecall(MemorySelection):
    """Puts together what comes to mind, and opens a notebook where there is one for it."""

    def __init__(
        self,
        subjects: Subjects,
        keeping: LoreKeeping,
        searching: TimeSearch,
        preferences: Preferences,
        objecting: ObjectionService,
    ) -> None:
        super().__init__(keeping, searching, preferences, objecting)
        self._subjects = subjects

    async def think(self, occasion: RecallContext) -> RecallResult:
        return await self._subjects.noted(occasion, await super().think(occasion))


def row_of(one: Recent, book: Notebook) -> str:
    """A subject in the list of those that were spoken of lately."""
    row = f"- {book.title} ({writing.ago(one.when, now().astimezone())})"
    return f"{row}: {one.summary}" if one.summary else row


def texts_of(book: Notebook) -> list[str]:
    """What of it is compared by meaning."""
    return [book.title, *(line.text for line in book.lines[-NEWEST_LINES:])]


def is_said(one: Recollection, book: Notebook) -> bool:
    """Is it a fact or a short memory whose words stand in a line of the notebook?"""
    return not one.world and one.category is not MemoryType.CHAT_SESSION and writing.says(book, one.text)


def opening(persona_id: str, book: Notebook, text: str, *, is_new: bool) -> Recollection:
    """The notebook as what came to mind."""
    what = "the conversation turned to what this notebook is about" if is_new else "the conversation is still about this"
    return Recollection(
        memory=uuid5(_IDS, f"{persona_id}/{book.name}"),
        category=MemoryType.FILE,
        title=book.title,
        text=text,
        way=RecallWay.MEANING if is_new else RecallWay.ACTIVE,
        because=[Because(what=what)],
        priority=3,
        world=WORLD,
    )
