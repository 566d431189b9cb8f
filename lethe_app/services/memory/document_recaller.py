"""Recall of passages from documents, which share the space of recalled memories but never take most of it."""

from __future__ import annotations

from collections.abc import Sequence

from lethe_app.domain.memory import MemoryType
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.recall import RecalledMemory, RecallLead, RecallWay
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter
from lethe_app.services.documents.knowledge_base import DocumentHit, DocumentQuery, KnowledgeBase, document_owners
from lethe_app.services.memory.recall_context import MAX_QUESTION_CHARACTERS, RecallContext
from lethe_app.services.memory.recallers import RecallCandidates
from lethe_app.services.memory.search import reasons_of
from lethe_app.services.preferences import Preferences
from lethe_app.services.untrusted_memories import UntrustedMemories

CONTEXT_SHARE = 0.1
"""Maximum share of the context for passages of documents; recalled memories as a whole may take a fifth."""
CHARACTERS_PER_TOKEN = 4
SESSION_SIGNALS = ("about", "summary")
"""Ranking signals about facts and summaries, which a document has not."""
DEPTH = 3
"""Insertion depth, as that of recalled sessions."""


class DocumentRecaller:
    """Recall passages of documents that answer the message."""

    def __init__(self, knowledge_base: KnowledgeBase, untrusted_memories: UntrustedMemories, preferences: Preferences) -> None:
        self._knowledge_base, self._untrusted_memories = knowledge_base, untrusted_memories
        self._preferences = preferences

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        count = self._preferences.current.document_entries
        if not count:
            return RecallCandidates()
        query = DocumentQuery(
            context.text[:MAX_QUESTION_CHARACTERS],
            document_owners(context.session.persona_id, context.session_worlds.worlds),
            context.moment,
            context.embedding,
            context.speaker_names,
        )
        hits = [hit for hit in await self._knowledge_base.search(query, count) if hit.is_sure]
        if not hits:
            return RecallCandidates()
        quoter = await self._untrusted_memories.build_quoter()
        return RecallCandidates(_within_share([to_recollection(hit, quoter) for hit in hits], context.context))


def to_recollection(hit: DocumentHit, quoter: UntrustedTextQuoter) -> RecalledMemory:
    """Return a passage as it goes into the prompt: quoted, with its document and page, so that the reply can name them."""
    chunk, lead = hit.chunk, next(iter(hit.ranked.leads), None)
    words, cosine = (list(lead.words), round(lead.cosine, 4)) if lead is not None else ([], 0.0)
    return RecalledMemory(
        memory=chunk.id,
        category=MemoryType.FILE,
        title=chunk.location,
        text=quoter.quote_document(chunk.location, chunk.text),
        way=RecallWay.MEANING,
        because=[one for one in reasons_of(hit.ranked) if one.values.get("signal") not in SESSION_SIGNALS],
        leads=[RecallLead(kind=PassageKind.DOCUMENT.value, text=chunk.text, origin=chunk.id, words=words, cosine=cosine)],
        score=hit.ranked.score,
        likelihood=hit.ranked.likelihood,
        position_index=DEPTH,
    )


def _within_share(recollections: Sequence[RecalledMemory], context: int) -> list[RecalledMemory]:
    """Return the first recollections that fit into `CONTEXT_SHARE` of a context of that many tokens, at least one."""
    left = int(context * CONTEXT_SHARE * CHARACTERS_PER_TOKEN)
    kept: list[RecalledMemory] = []
    for recollection in recollections:
        left -= len(recollection.text)
        if kept and left < 0:
            break
        kept.append(recollection)
    return kept
