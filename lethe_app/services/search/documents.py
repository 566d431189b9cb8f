"""Passages of documents, found by words or by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lethe_app.domain.passage import DocumentChunk, PassageKind
from lethe_app.services.documents.knowledge_base import MIN_LIKELIHOOD, DocumentHit, DocumentQuery, KnowledgeBase
from lethe_app.storage.index.full_text import TextHit
from lethe_app.storage.memory.documents import DocumentStore

MAX_MEANING_HITS = 8
"""Maximum number of passages by meaning."""


class DocumentSearch:
    """Search in the documents of personas and worlds, without changes."""

    def __init__(self, document_store: DocumentStore, knowledge_base: KnowledgeBase) -> None:
        self._document_store, self._knowledge_base = document_store, knowledge_base

    async def load_chunks(self, text_hits: Sequence[TextHit]) -> dict[str, DocumentChunk]:
        """Return the passages of documents among these hits, by source; those of a removed document are left out."""
        sources = [UUID(hit.source) for hit in text_hits if hit.kind == PassageKind.DOCUMENT]
        chunks = await self._document_store.chunks(sources) if sources else {}
        return {str(id_): chunk for id_, chunk in chunks.items()}

    async def search_by_meaning(self, text: str, owners: Sequence[str]) -> list[DocumentHit]:
        """Return the passages nearest in meaning to a text in the documents of these personas and worlds, best first."""
        hits = await self._knowledge_base.search(DocumentQuery(text, owners), MAX_MEANING_HITS)
        return [hit for hit in hits if hit.ranked.likelihood >= MIN_LIKELIHOOD]
