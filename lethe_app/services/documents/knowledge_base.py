"""Search in the documents that a persona and its worlds know."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from lethe_app.domain.passage import DocumentChunk, TextEmbedding
from lethe_app.retrieval.assertions import is_request
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS, parse_query
from lethe_app.retrieval.ranking import RankedSource
from lethe_app.retrieval.relevance_gate import BY_MEANING
from lethe_app.services.indexing.worlds import DOCUMENTS_PREFIX
from lethe_app.storage.memory.documents import DocumentStore

DEFAULT_COUNT, MIN_COUNT, MAX_COUNT = 3, 1, 50
"""Number of passages that a search returns: by default, at least and at most."""
MIN_LIKELIHOOD = 0.01
"""Likelihood below which a passage is not listed as a result."""


@dataclass(frozen=True)
class DocumentQuery:
    """Query to the documents of one persona."""

    text: str
    owners: Sequence[str]
    """The persona and its worlds, as in `Document.owner`."""
    moment: datetime | None = None
    """Moment at which it is asked; None is now."""
    embedding: TextEmbedding | None = None
    participants: Collection[str] = ()
    """Names of the speakers, which are no query words."""


@dataclass(frozen=True)
class DocumentHit:
    """Passage of a document that a query found."""

    chunk: DocumentChunk
    ranked: RankedSource

    @property
    def is_sure(self) -> bool:
        """True if the passage is likely to be about what was asked."""
        return self.ranked.is_sure


class KnowledgeBase:
    """Hybrid search in the passages of documents, by words and by meaning, as for memories."""

    def __init__(self, memory_index: MemoryIndex, document_store: DocumentStore) -> None:
        self._memory_index = memory_index
        self.chunks = document_store.chunks
        """Return passages by their ids; those of a removed document are left out."""

    async def search(self, query: DocumentQuery, count: int = DEFAULT_COUNT) -> list[DocumentHit]:
        """Return the passages that answer a query, the best first; none if the query is blank or there are no documents.

        `count` is moved into the range from `MIN_COUNT` to `MAX_COUNT`.
        """
        count, owners = min(max(count, MIN_COUNT), MAX_COUNT), [f"{DOCUMENTS_PREFIX}{owner}" for owner in query.owners]
        if not query.text.strip() or not await self._memory_index.has_passages(owners):
            return []
        waiting = set(await self._memory_index.pending_sources(owners))
        hits = list(await self._rank(query, count, excluded=waiting))
        if waiting:  # compared by meaning with the others, they would look like passages about something else
            hits += await self._rank(query, count, by_words=waiting)
            hits = sorted(hits, key=lambda hit: (hit.is_sure, hit.likelihood), reverse=True)[:count]
        if words := _telling_words(query):
            hits = sorted((_with_all_words(hit, words) for hit in hits), key=lambda hit: hit.is_sure, reverse=True)
        chunks = await self.chunks([hit.source for hit in hits])
        # A passage of a document that was just removed may still be indexed.
        return [DocumentHit(chunks[hit.source], hit) for hit in hits if hit.source in chunks]

    async def count_waiting(self, owners: Sequence[str]) -> int:
        """Return how many passages are found by their words only, because they are not embedded yet."""
        return len(await self._memory_index.pending_sources([f"{DOCUMENTS_PREFIX}{owner}" for owner in owners]))

    async def _rank(
        self, query: DocumentQuery, count: int, *, excluded: Collection[UUID] = (), by_words: Collection[UUID] | None = None
    ) -> Sequence[RankedSource]:
        """Return the best passages but the `excluded` ones; with `by_words`, the best of those, compared by their words."""
        found = await self._memory_index.search(
            [f"{DOCUMENTS_PREFIX}{owner}" for owner in query.owners],
            query.text,
            limit=count,
            at=query.moment,
            excluded=excluded,
            allowed_sources=by_words,
            embedding=query.embedding,
            participants=query.participants,
            by_words=by_words is not None,
        )
        return found.hits


def _with_all_words(hit: RankedSource, words: Set[str]) -> RankedSource:
    """Return a passage that contains all of these words as a sure one. The vector of a passage about several things is far from
    a question about one of them, so that the relevance gate leaves it out.
    """
    if not any(words <= set(lead.words) for lead in hit.leads):
        return hit
    return replace(hit, is_sure=True, likelihood=max(hit.likelihood, BY_MEANING.question_limits.first))


def _telling_words(query: DocumentQuery) -> set[str]:
    """Return the words of a question that are not used in every conversation, at least two or a name; none if they do not tell
    what is asked for, or if the query is no question.
    """
    if not is_request(query.text):
        return set()
    terms = parse_query(query.text, query.participants)
    words = set(terms.words) - EVERYDAY_WORDS
    return words if len(words) > 1 or words & terms.names else set()
