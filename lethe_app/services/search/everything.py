"""Search in messages, summaries, memories, facts, world entries and documents, by words or by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from difflib import SequenceMatcher
from itertools import islice
from uuid import UUID

from lethe_app.brain.vocabulary.stems import stem
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.list_items import HitKind, SearchHit
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.passage import DocumentChunk, PassageKind
from lethe_app.domain.recall import RecalledMemory, RecallLead
from lethe_app.domain.worldinfo import World
from lethe_app.errors import StorageError
from lethe_app.searchable_text import fold, split_words
from lethe_app.services.documents.knowledge_base import MIN_LIKELIHOOD, DocumentQuery, KnowledgeBase
from lethe_app.services.indexing.service import IndexingService
from lethe_app.services.indexing.worlds import DOCUMENTS_PREFIX, WAITING_PREFIX, owner_of_world
from lethe_app.services.library import Library
from lethe_app.services.memory.lookup import MemoryLookup
from lethe_app.services.search.query import SearchQuery, build_excerpt
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from lethe_app.storage.index.full_text import MAX_PASSAGE_NUMBER, FullTextSearch, HitFilter, TextHit
from lethe_app.storage.memory.facts import FactStore
from lethe_app.storage.memory.memories import MemoryStore

MAX_DOCUMENT_HITS = 8
"""Maximum number of passages by meaning."""
MAX_HITS = 400
"""Maximum number of hits of one search by words."""
MAX_MEANING_HITS = 24
"""Maximum number of hits by meaning, for each persona."""
MIN_MISSPELLED_LENGTH = 4
"""Minimum letters of a word whose spelling is corrected; shorter words resemble too many others."""
MIN_SIMILARITY = 0.75
"""Minimum ratio of equal letters (difflib) of a misspelled word and the word that was meant: “lemmon”, “lighthosue”."""
HIT_KINDS = {
    "message": HitKind.MESSAGE,
    "fact": HitKind.FACT,
    "summary": HitKind.SUMMARY,
    "sentence": HitKind.SUMMARY,
    "memory": HitKind.MEMORY,
}
"""Kind of hit by kind of passage."""


class SearchService:
    """Search all stored texts, without changes."""

    def __init__(
        self,
        database: Database,
        session_store: SessionStore,
        fact_store: FactStore,
        memory_store: MemoryStore,
        memory_lookup: MemoryLookup,
        indexing: IndexingService,
        library: Library,
        knowledge_base: KnowledgeBase,
    ) -> None:
        self._texts = FullTextSearch(database)
        self._session_store, self._fact_store, self._memory_store = session_store, fact_store, memory_store
        self._memory_lookup, self._indexing, self._library = memory_lookup, indexing, library
        self._knowledge_base = knowledge_base

    async def search_by_words(
        self, text: str, persona_id: str | None = None, session: UUID | None = None
    ) -> AsyncIterator[list[SearchHit]]:
        """Yield the hits in pieces, the newest first within each source: of one persona, of all personas, or of one session.

        A piece is read in a few milliseconds. The order is: the word index, greetings, memories outside the index,
        superseded facts, and worlds, which belong to no persona and are only searched without `persona_id`. It ends after
        `MAX_HITS` hits. Texts of personas and worlds that were deleted are left out.
        """
        query = SearchQuery.parse(text)
        if not query.terms:
            return
        seen_keys: set[tuple[str, str, str]] = set()

        worlds = await self._library.worlds()
        owners = {*(persona.unique_name for persona in await self._library.personas()), *map(owner_of_world, worlds)}

        def is_match(text_hit: TextHit) -> bool:
            if _owner_of(text_hit) not in owners:
                return False
            key = (text_hit.kind, text_hit.origin, text_hit.text if text_hit.kind != PassageKind.MESSAGE else "")
            if key in seen_keys or not query.find_marks(_passage_text(text_hit)):
                return False
            seen_keys.add(key)
            return True

        if session is not None:
            found = await self._texts.search_session(session, is_match)
            yield await self._convert_hits(found[:MAX_HITS], query)
            return
        await self._indexing.index_pending()  # so that the newest messages are found too
        position, count = MAX_PASSAGE_NUMBER, 0
        while position and count < MAX_HITS:
            found, position = await self._texts.search_passages(query.fts_expression, persona_id, position, is_match)
            yield await self._convert_hits(found[: MAX_HITS - count], query)
            count += len(found)
        async for found, is_over in self._search_unindexed(persona_id, is_match):
            if count >= MAX_HITS:
                return
            hits = await self._convert_hits(found[: MAX_HITS - count], query)  # only the hits that are shown are converted
            yield [replace(hit, is_over=is_over) for hit in hits]
            count += len(hits)
        if persona_id is None and count < MAX_HITS:
            yield await asyncio.to_thread(_search_worlds, worlds, query, MAX_HITS - count)

    async def _search_unindexed(self, persona_id: str | None, is_match: HitFilter) -> AsyncIterator[tuple[list[TextHit], bool]]:
        """Yield texts that the word index omits, in pieces, and whether they are superseded."""
        yield await self._texts.search_greetings(persona_id, is_match), False
        for read, is_over in ((self._texts.search_unindexed, False), (self._texts.search_superseded, True)):
            position = MAX_PASSAGE_NUMBER
            while position:
                found, position = await read(persona_id, position, is_match)
                yield found, is_over

    async def correct_spelling(self, text: str) -> str:
        """Return the text with every word that occurs nowhere replaced by the most similar word of the index; empty if none is
        similar enough.
        """
        words = [fold(word) for word in split_words(text)]
        corrected = [await self._correct_word(word) for word in words]
        return " ".join(corrected) if corrected != words else ""

    async def _correct_word(self, word: str) -> str:
        if len(word) < MIN_MISSPELLED_LENGTH:
            return word
        terms = await self._texts.list_terms(stem(word))
        if any(term.startswith(stem(word)) for term in terms):
            return word
        ratios = {term: SequenceMatcher(None, stem(word), term).ratio() for term in terms}
        best = max(terms, key=lambda term: (ratios[term], terms[term]), default="")
        if not best or ratios[best] < MIN_SIMILARITY:
            return word
        # The index holds stems, of which a text that contains one has the whole word.
        whole_words = split_words(await self._texts.find_text_with(best))
        return next((fold(whole) for whole in whole_words if fold(whole).startswith(best[:-1])), best)

    async def search_by_meaning(self, text: str, persona_ids: Sequence[str], worlds: Iterable[str] = ()) -> list[SearchHit]:
        """Return the memories, facts and session passages nearest in meaning to a text, and the passages of documents of these
        personas and worlds (file names), the likeliest first; equally likely ones in the order of the personas.
        """
        # The space marks the last word as complete: a sentence to compare is not being typed, so no word in it is a prefix.
        query = SearchQuery.parse(f"{text} ")
        found: list[tuple[float, SearchHit]] = []
        for persona_id in persona_ids:
            for recalled in await self._memory_lookup.search(persona_id, text, MAX_MEANING_HITS):
                if not recalled.world:
                    hits = await self._convert_recollection(persona_id, recalled, query)
                    found += [(recalled.likelihood, hit) for hit in hits]
        documents = DocumentQuery(text, [*persona_ids, *map(owner_of_world, worlds)])
        for passage in await self._knowledge_base.search(documents, MAX_DOCUMENT_HITS):
            if passage.ranked.likelihood >= MIN_LIKELIHOOD:
                found.append((passage.ranked.likelihood, _build_document_hit(passage.chunk, passage.chunk.text, query)))
        return [hit for _likelihood, hit in sorted(found, key=lambda one: -one[0])]

    async def find_fact_source(self, guid: UUID) -> tuple[UUID, UUID] | None:
        """Return session and message of a fact's first source message that still exists; None if there is none."""
        with suppress(StorageError):
            for message_id in (await self._fact_store.get(guid)).source_messages:
                with suppress(StorageError):
                    message = await self._session_store.message(message_id)
                    return (await self._session_store.session(message.session_id)).guid, message.id
        return None

    async def _convert_hits(self, text_hits: Sequence[TextHit], query: SearchQuery) -> list[SearchHit]:
        """Convert passages to hits, in a thread: marking the words in a few dozen texts takes as long as a key press may."""
        passages = [UUID(hit.source) for hit in text_hits if hit.kind == PassageKind.DOCUMENT]
        chunks = await self._knowledge_base.chunks(passages) if passages else {}

        def convert(text_hit: TextHit) -> SearchHit | None:
            if text_hit.kind != PassageKind.DOCUMENT:
                return _convert_hit(text_hit, query)
            chunk = chunks.get(UUID(text_hit.source))
            return _build_document_hit(chunk, text_hit.text, query) if chunk is not None else None

        return await asyncio.to_thread(lambda: [hit for hit in map(convert, text_hits) if hit is not None])

    async def _convert_recollection(self, persona_id: str, recalled: RecalledMemory, query: SearchQuery) -> list[SearchHit]:
        if recalled.category is MemoryType.CHAT_SESSION:
            with suppress(StorageError):
                session = await self._session_store.session(recalled.memory)
                return [await self._convert_lead(session, lead, query) for lead in recalled.leads]
            return []
        kind, when = HitKind.MEMORY, None
        with suppress(StorageError):
            when = (await self._memory_store.get(recalled.memory)).added
        if when is None:
            kind = HitKind.FACT
            with suppress(StorageError):
                when = (await self._fact_store.get(recalled.memory)).last_seen
        text = f"{recalled.title}: {recalled.text}" if recalled.title and kind is HitKind.MEMORY else recalled.text
        return [_build_hit(kind, recalled.memory, persona_id, None, recalled.title, "", when, text, query)] if when else []

    async def _convert_lead(self, session: ChatSession, lead: RecallLead, query: SearchQuery) -> SearchHit:
        kind, when, speaker, text = HIT_KINDS.get(lead.kind, HitKind.SUMMARY), session.added, "", lead.text
        if kind is HitKind.MESSAGE:
            with suppress(StorageError):
                message = await self._session_store.message(lead.origin)
                when, speaker = message.time, message.speaker_name
                text = _strip_speaker(lead.text, speaker)
        title = await self._session_store.title_of(session.guid)
        return _build_hit(kind, lead.origin, session.persona_id, session.guid, title, speaker, when, text, query)


def _passage_text(text_hit: TextHit) -> str:
    """Return the text of a passage without the speaker prefix of a message."""
    return _strip_speaker(text_hit.text, text_hit.speaker) if text_hit.kind == PassageKind.MESSAGE else text_hit.text


def _strip_speaker(text: str, speaker: str) -> str:
    prefix = f'{speaker} said, "'
    return text[len(prefix) : -1] if speaker and text.startswith(prefix) and text.endswith('"') else text


def _owner_of(text_hit: TextHit) -> str:
    """Return the persona of a passage, or the owner of a world's document, without the prefix of the kind of passage."""
    return text_hit.owner.removeprefix(WAITING_PREFIX).removeprefix(DOCUMENTS_PREFIX)


def _convert_hit(text_hit: TextHit, query: SearchQuery) -> SearchHit:
    kind = HIT_KINDS[text_hit.kind]
    session = UUID(text_hit.source) if text_hit.category == MemoryType.CHAT_SESSION else None
    hit = _build_hit(
        kind,
        UUID(text_hit.origin),
        _owner_of(text_hit),
        session,
        text_hit.title,
        text_hit.speaker,
        text_hit.moment,
        _passage_text(text_hit),
        query,
    )
    return replace(hit, other_sessions=tuple(map(UUID, text_hit.other_sources)))


def _search_worlds(worlds: Mapping[str, World], query: SearchQuery, limit: int) -> list[SearchHit]:
    """Return up to `limit` hits in world entries, in the order of the worlds."""
    matches = (
        (stem, world, entry, text)
        for stem, world in worlds.items()
        for entry in world.entries
        if query.find_marks(text := f"{entry.name}: {entry.content}" if entry.name else entry.content)
    )
    hits = (
        (stem, _build_hit(HitKind.WORLD, entry.guid, "", None, world.name, "", entry.added, text, query))
        for stem, world, entry, text in islice(matches, limit)
    )
    return [replace(hit, world=stem) for stem, hit in hits]


def _build_document_hit(chunk: DocumentChunk, text: str, query: SearchQuery) -> SearchHit:
    hit = _build_hit(HitKind.DOCUMENT, chunk.id, chunk.owner, None, chunk.title, "", chunk.added, text, query)
    return replace(hit, document=chunk.document, location=chunk.location)


def _build_hit(
    kind: HitKind,
    guid: UUID,
    persona_id: str,
    session: UUID | None,
    title: str,
    speaker: str,
    when: datetime,
    text: str,
    query: SearchQuery,
) -> SearchHit:
    one_line = " ".join(text.split())
    shown, marks = build_excerpt(one_line, query.find_marks(one_line))
    is_exact = query.has_whole_words(one_line)
    return SearchHit(kind, guid, persona_id, session, title, speaker, when.astimezone(), shown, marks, is_exact=is_exact)
