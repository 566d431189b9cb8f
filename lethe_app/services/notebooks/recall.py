"""Recall of notebooks: the notebook that a session is about replaces the single memories it contains.

In the turn that opens a notebook, and until the stable prefix is made again, its text is among the notes of the turn, which
are read anew every turn anyway; a line in the history could not be removed when the user changes the file. When the stable
prefix is made again, because a session begins, the history is cut or something was edited, the notebook becomes part of the
prefix and is read once. A notebook therefore never invalidates the KV cache by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import accumulate
from uuid import UUID, uuid5

from lethe_app.brain.notebooks import document as writing
from lethe_app.brain.notebooks.document import Notebook
from lethe_app.brain.notebooks.matching import (
    DistanceLimits,
    NotebookEvidence,
    NotebookVocabulary,
    build_vocabulary,
    choose_notebook,
    find_evidence,
    is_continuation,
)
from lethe_app.brain.text.fingerprint import fingerprint_digest
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.passage import TextEmbedding
from lethe_app.domain.recall import NOTEBOOK_WORLD, Reason, ReasonKind, RecalledMemory, RecallWay
from lethe_app.errors import LetheError
from lethe_app.retrieval.vectors.distances import sorted_distances
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.embedder import Embedding
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.memory.recallers import RecallCandidates
from lethe_app.services.notebooks.service import NotebookListItem, NotebookService
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import NotebookSections
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.key_value import SessionState

OPEN_NOTEBOOK_KEY = "subject"
"""Key of the session state: the open notebook."""
CONTEXT_SHARE = 0.08
"""Share of the context that a notebook may use."""
NEWEST_LINES = 12
"""Newest lines of a notebook that are compared by embedding, besides its title; its words are taken from all lines."""
RECENT_SHARE, MIN_LISTED = 0.05, 3
"""Share of the context that the list of recent subjects may use in the prefix of a new session, and the number that is listed
in any case; there are at most `MAX_INDEX_ENTRIES`.
"""
EMBEDDING_BATCH = 8
"""Texts embedded in one call."""
MAX_UNRELATED_MESSAGES = 4
"""Messages in a row that are not about the open notebook, after which it is closed."""
_ID_NAMESPACE = UUID("5d7a6c1e-5a0e-4b8e-9a42-6a6f0d1c8b11")
"""Namespace of the ids of notebooks in recollections."""
RECENT_HEADING = "What you two spoke of lately:"


class NotebookSelector:
    """Choose the notebook that a message is about. Only the name of the open notebook is stored."""

    def __init__(
        self,
        notebooks: NotebookService,
        session_state: SessionState,
        preferences: Preferences,
        token_counts: TokenCountService,
        embedding: Embedding,
        calibration: Calibration,
        priority: BackgroundPriority,
    ) -> None:
        self._notebooks = notebooks
        self._session_state = session_state
        self._preferences = preferences
        self._token_counts = token_counts
        self._embedding = embedding
        self._calibration = calibration
        self._priority = priority
        self._vectors: dict[tuple[str, str], bytes] = {}
        """Embedding by embedding model and text."""
        self._vocabularies: dict[str, tuple[list[Notebook], NotebookVocabulary]] = {}
        self._pending_texts: dict[str, None] = {}
        """Texts that are still to be embedded, in order."""
        self.background = BackgroundLoop(self._embed_pending)
        """Embeds the lines of notebooks."""

    async def open_notebook_of(self, session_id: UUID) -> str:
        """Return the name of the notebook that is open in a session; empty if none is."""
        return parse_state(await self._session_state.get(session_id, OPEN_NOTEBOOK_KEY))[0]

    async def find_notebook(self, books: Sequence[Notebook], persona_id: str, text: str, names: Sequence[str]) -> str:
        """Return the name of the notebook that a text is about by its words; empty if none is."""
        return choose_notebook(
            find_evidence(text, await self._load_vocabulary(persona_id, books), names), await self._load_limits()
        )

    async def _collect_evidence(self, books: Sequence[Notebook], context: RecallContext) -> dict[str, NotebookEvidence]:
        """Return the evidence for each notebook in a message, by name."""
        known_words = await self._load_vocabulary(context.session.persona_id, books)
        evidence_by_name = find_evidence(context.text, known_words, context.speaker_names)
        if context.embedding is None:
            return evidence_by_name
        return {
            book.name: replace(evidence_by_name[book.name], distances=self._measure_distances(context.embedding, book))
            for book in books
        }

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        """Return the notebook that a message is about, in place of the memories it contains.

        An open notebook is recalled again only if the message continues its subject, and is closed after
        `MAX_UNRELATED_MESSAGES` messages that do not. Lines that are in the stable prefix as facts are left out, because the
        prefix cannot drop them before it is made again.
        """
        persona_id, books = context.session.persona_id, context.notebooks
        if not books or not context.text.strip() or not self._preferences.current.recalls_memories:
            return RecallCandidates()
        open_name, unrelated_count = parse_state(context.states.get(OPEN_NOTEBOOK_KEY))
        evidence_by_name, limits = await self._collect_evidence(books, context), await self._load_limits()
        name = choose_notebook(evidence_by_name, limits, open_name)
        book = next((notebook for notebook in books if notebook.name == name), None)
        if book is None:
            return RecallCandidates()
        if name == open_name and not is_continuation(context.text, evidence_by_name[name], limits):
            state = {"name": "" if unrelated_count + 1 >= MAX_UNRELATED_MESSAGES else name, "untouched": unrelated_count + 1}
            return RecallCandidates(states={OPEN_NOTEBOOK_KEY: state}, has_notebook=bool(state["name"]))
        recollections: list[RecalledMemory] = []
        token_limit, prefix = int(context.context * CONTEXT_SHARE), context.prefix
        if prefix is None or not prefix.notebook or prefix.notebook != await self._render_fitting(book, token_limit):
            known_digests = {fingerprint_digest(fact.text) for fact in prefix.facts} if prefix is not None else set()
            new_lines = tuple(line for line in book.lines if fingerprint_digest(line.text) not in known_digests)
            if text := await self._render_fitting(replace(book, lines=new_lines), token_limit):
                recollections = [build_recollection(persona_id, book, text, is_new=name != open_name)]
        return RecallCandidates(
            states={OPEN_NOTEBOOK_KEY: {"name": name}},
            first=recollections,
            # Facts and short memories that a line of the notebook contains.
            covers=lambda one: (
                not one.world and one.category is not MemoryType.CHAT_SESSION and writing.contains_statement(book, one.text)
            ),
            has_notebook=True,
        )

    async def build_sections(self, session: ChatSession, context: int) -> NotebookSections:
        """Return the notebook sections of a prefix that is made now: the open notebook, and the recent subjects."""
        settings = self._preferences.current
        if not settings.notebooks or not settings.recalls_memories:
            return NotebookSections()
        try:
            items = await self._notebooks.notebooks_of(session.persona_id)
        except LetheError:
            return NotebookSections()  # a disk that cannot be read keeps nobody from talking
        open_name = await self.open_notebook_of(session.guid)
        book = next((item.notebook for item in items if item.name == open_name), None)
        text = await self._render_fitting(book, int(context * CONTEXT_SHARE)) if book is not None else ""
        lines = [format_recent(item, item.when) for item in items if item.when is not None]
        used = accumulate(await self._token_counts.count(lines))
        lines = lines[: max(MIN_LISTED, sum(tokens <= int(context * RECENT_SHARE) for tokens in used))]
        recent_text = "\n".join([RECENT_HEADING, *lines]) if lines else ""
        tokens = sum(await self._token_counts.count([section for section in (text, recent_text) if section])) + 4
        if book is None or not text:
            return NotebookSections(text, recent_text, tokens)
        return NotebookSections(text, recent_text, tokens, partial(writing.contains_statement, book))

    async def _render_fitting(self, book: Notebook, token_limit: int) -> str:
        """Return as many of the newest lines of a notebook as fit into `token_limit` tokens; empty if none fits."""
        if not book.lines:
            return ""
        counts = await self._token_counts.count([line.text for line in book.lines])
        tokens_used, line_count = (await self._token_counts.count([writing.render_for_model(book, 0)]))[0], 0
        for tokens in reversed(counts):
            tokens_used += tokens + 12  # its mark, its day and the end of the line
            if tokens_used > token_limit:
                break
            line_count += 1
        return writing.render_for_model(book, line_count) if line_count else ""

    async def _load_vocabulary(self, persona_id: str, books: Sequence[Notebook]) -> NotebookVocabulary:
        known = self._vocabularies.get(persona_id)
        # Identity is enough: a notebook is parsed again only if its text changed, and the list here keeps the objects alive.
        if known is None or list(map(id, known[0])) != list(map(id, books)):
            known = self._vocabularies[persona_id] = (list(books), await asyncio.to_thread(build_vocabulary, books))
        return known[1]

    def _measure_distances(self, embedding: TextEmbedding, book: Notebook) -> tuple[float, ...]:
        """Return the distances of a message to the title and newest lines, as far as these are embedded; the others are
        queued.
        """
        if not self._embedding.id:
            return ()
        texts = [book.title, *(line.text for line in book.lines[-NEWEST_LINES:])]
        known = [(text, self._vectors.get((self._embedding.id, text))) for text in texts]
        if pending := [text for text, vector in known if vector is None]:
            self._pending_texts |= dict.fromkeys(pending)
            self.background.wake()
        return tuple(sorted_distances(embedding, [vector for _text, vector in known if vector is not None]))

    async def _load_limits(self) -> DistanceLimits:
        limits = await self._calibration.thresholds()
        return DistanceLimits(limits.natural, limits.rag_limit)

    async def _embed_pending(self) -> None:
        while self._pending_texts and self._embedding.id:
            await self._priority.wait_for_turn_end()
            embedder_id, texts = self._embedding.id, list(self._pending_texts)[:EMBEDDING_BATCH]
            embeddings = await self._embedding.embed(texts)
            if embedder_id == self._embedding.id:
                self._vectors |= {
                    (embedder_id, text): embedding.vector for text, embedding in zip(texts, embeddings, strict=True)
                }
            for text in texts:
                self._pending_texts.pop(text, None)


def parse_state(state: object) -> tuple[str, int]:
    """Return the name of the notebook that is open in a session, and the number of messages in a row that were not about it."""
    return (str(state.get("name", "")), int(state.get("untouched", 0))) if isinstance(state, dict) else ("", 0)


def format_recent(item: NotebookListItem, when: datetime) -> str:
    """Return a line of the list of recent subjects."""
    row = f"- {item.notebook.title} ({writing.format_days_ago(when, now().astimezone())})"
    return f"{row}: {item.summary}" if item.summary else row


def build_recollection(persona_id: str, book: Notebook, text: str, *, is_new: bool) -> RecalledMemory:
    """Return the recollection of a notebook; `is_new` if it was not open before."""
    kind = ReasonKind.NOTEBOOK if is_new else ReasonKind.NOTEBOOK_CONTINUED
    return RecalledMemory(
        memory=uuid5(_ID_NAMESPACE, f"{persona_id}/{book.name}"),
        category=MemoryType.FILE,
        title=book.title,
        text=text,
        way=RecallWay.MEANING if is_new else RecallWay.ACTIVE,
        because=[Reason(kind=kind)],
        priority=3,
        world=NOTEBOOK_WORLD,
    )
