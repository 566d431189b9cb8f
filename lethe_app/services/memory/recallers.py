"""Recallers: World Info keys, keywords, meaning, documents, constant memories, and those that stay active for some turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import nsmallest
from typing import Protocol
from uuid import UUID

from pydantic import TypeAdapter

from lethe_app.brain.dreams.preferences import strong_pattern_ids
from lethe_app.brain.lore.state import LoreState
from lethe_app.brain.recall.keyword_recall import KeywordRecall, build_recollection
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.recall import BlockedMemory, Reason, ReasonKind, RecalledMemory, RecallLead, RecallWay
from lethe_app.prompt.untrusted_text import UntrustedTextQuoter
from lethe_app.services.documents.knowledge_base import DocumentHit, DocumentQuery, KnowledgeBase
from lethe_app.services.memory import lore
from lethe_app.services.memory.lore import LoreService
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.memory.search import (
    DEPTH,
    MemorySearch,
    format_session,
    is_recallable,
    reasons_of,
    recall_unit,
)
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import offload_if_large
from lethe_app.services.stored_values import read_stored
from lethe_app.services.untrusted_memories import MAX_MEMORY_CHARACTERS, UntrustedMemories, truncate_to_sentences

LORE_STATE, ACTIVE_SPANS = "lore", "active_spans"
"""Keys of the session state: active World Info entries, and memories that stay active for some turns."""
STATES = (LORE_STATE, ACTIVE_SPANS)
LASTING = frozenset({RecallWay.ACTIVE, RecallWay.CONSTANT})
"""Ways of recall that do not depend on the newest message."""
_ACCUMULATING = frozenset({RecallWay.MEANING, RecallWay.KEYWORD, RecallWay.TITLE})
"""Ways of recall after which a memory may stay for the rest of the session."""
UNTIL_NOTEBOOK = 1_000_000_000
"""Last turn of a memory that stays until a notebook opens."""
_ACTIVE_SPANS = TypeAdapter(dict[UUID, tuple[int, int]])
"""By memory: the turn in which it was recalled, and the last turn in which it stays active."""


@dataclass(frozen=True)
class RecallCandidates:
    """Candidates that one recaller proposes for a turn."""

    recollections: Sequence[RecalledMemory] = ()
    blocked: Iterable[BlockedMemory] = ()
    states: Mapping[str, object] = field(default_factory=dict)
    """Session state to store, by key."""
    remark: str = ""
    """Remark for the prompt about a time that the user asked for."""
    closed_entries: Collection[UUID] = ()
    """World Info entries that may not be recalled by meaning either, because a rule of their world keeps them back."""
    first: Sequence[RecalledMemory] = ()
    """Recollections that precede all others and are exempt from objections, such as a notebook."""
    covers: Callable[[RecalledMemory], bool] = lambda _recollection: False
    """Predicate: True for a memory that is left out because `first` contains it."""
    accumulated: Collection[UUID] = ()
    """Memories among them that stay only until a notebook opens."""
    has_notebook: bool = False
    """True if a notebook is open, which replaces what has accumulated."""


class Recaller(Protocol):
    """One way of recall. It changes nothing, and the same context gives the same candidates."""

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        """Return what this turn recalls in this way; `earlier` are the candidates of the preceding recallers."""


@dataclass(frozen=True)
class LoreRecaller:
    """Recall World Info entries whose keys are in the scanned messages."""

    lore: LoreService

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        stored = read_stored(LoreState.model_validate, context.states.get(LORE_STATE)) or LoreState()
        if not context.session_worlds.worlds and not stored.entries:
            return RecallCandidates()
        evaluation = await self.lore.evaluate(context.session_worlds, context.window, stored, context.turn, context.context)
        states = evaluation.state.entries.items()
        cooling_down = {guid for guid, state in states if state.is_cooling_down(context.turn.number)}
        return RecallCandidates(
            lore.recalled_entries(evaluation),
            lore.blocked_entries(evaluation),
            {LORE_STATE: evaluation.state.model_dump(mode="json")},
            closed_entries=cooling_down.union(blocked.entry.guid for blocked in evaluation.blocked),
        )


class KeywordRecaller:
    """Recall memories and sessions that are mentioned by keyword or by name."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences
        self._pool = KeywordRecall()
        self._one_at_a_time = asyncio.Lock()

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        settings = self._preferences.current
        if not settings.keyword_retrieval:
            return RecallCandidates()
        # A keyword may still be in the message before: what stays already does not stay longer for it.
        excluded = {guid for guid, (_since, until) in _load_active_spans(context).items() if until != UNTIL_NOTEBOOK}.union(
            context.in_view, context.summarised_sessions
        )
        sessions = [session for session in context.sessions if session.guid not in excluded]
        triggers = context.memories.in_group("triggers")
        if not sessions and not triggers:
            return RecallCandidates()
        scan = partial(
            self._pool.find_mentioned,
            (memory for memory in triggers if memory.guid not in excluded),  # filtered in the thread of the scan
            sessions,
            context.window,
            context.turn,
            max_recalled=settings.keyword_max_entries,
        )
        async with self._one_at_a_time:  # the compiled keywords are one turn's at a time
            mentioned, blocked = await offload_if_large(len(context.memories) + len(sessions), scan)
        recalled = [
            one.model_copy(update={"text": truncate_to_sentences(one.text, MAX_MEMORY_CHARACTERS)})
            for one in (build_recollection(each, dates=context.shows_dates, session_depth=DEPTH) for each in mentioned)
        ]
        return RecallCandidates(recalled, blocked)


@dataclass(frozen=True)
class SemanticRecaller:
    """Recall sessions, facts, memories and World Info entries by meaning, or by a time that the message asks for."""

    memory_search: MemorySearch
    preferences: Preferences

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        settings = self.preferences.current
        if not settings.rag_enabled or not context.text.strip():
            return RecallCandidates()
        closed_ids = {guid for candidates in earlier for guid in candidates.closed_entries}
        found, remark = await self.memory_search.search(context, settings.rag_entries, closed_ids)
        return RecallCandidates(found, remark=remark)


class ConstantRecaller:
    """Recall what is in every prompt: constant memories and sessions, and firm preferences."""

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        reasons = [Reason(kind=ReasonKind.ALWAYS)]
        candidates = context.memories.in_group("constant_or_filed")
        filed = [memory for memory in candidates if memory.filed_under]
        strong_pattern_guids = strong_pattern_ids(filed) if filed else ()  # what must never happen again
        memories = [
            recall_unit(memory, RecallWay.CONSTANT, reasons)
            for memory in candidates
            if (memory.sticky or memory.guid in strong_pattern_guids) and is_recallable(memory, context.moment)
        ]
        sessions = [
            recall_unit(
                session,
                RecallWay.CONSTANT,
                reasons,
                text=format_session(session, (), shows_dates=context.shows_dates),
                position_index=DEPTH,
            )
            for session in context.sessions
            if session.sticky and session.content.strip() and session.guid not in context.summarised_sessions
        ]
        return RecallCandidates([*memories, *sessions])


class ActiveRecaller:
    """Recall memories, and entries found by meaning, that an earlier turn recalled and whose duration has not ended."""

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        spans = _load_active_spans(context)
        if not spans:
            return RecallCandidates()
        reasons = [Reason(kind=ReasonKind.STAYS)]
        accumulated = {guid for guid, (_since, until) in spans.items() if until == UNTIL_NOTEBOOK}
        active = [memory for memory in context.memories.select(spans) if is_recallable(memory, context.moment)]
        memories = [
            # What this message recalls comes first where the token budget is not enough for all.
            one.model_copy(update={"priority": min(one.priority, 0)}) if one.memory in accumulated else one
            for one in (recall_unit(memory, RecallWay.ACTIVE, reasons) for memory in active)
        ]
        world_entries = [entry for guid in spans if (entry := context.session_worlds.find_entry(guid)) is not None]
        entries = [
            lore.recall_entry(*world_entry, RecallWay.ACTIVE, reasons)
            for world_entry in world_entries
            if is_recallable(world_entry[1], context.moment)
        ]
        return RecallCandidates([*memories, *entries], accumulated=accumulated)


async def recall_at_opening(
    context: RecallContext, recalled: Collection[UUID], preferences: Preferences
) -> list[RecalledMemory]:
    """Return the most important memories, for the first turn of a session whose prompt has no summaries or facts."""
    if context.turn.number > 1 or (context.prefix and (context.prefix.summaries or context.prefix.facts)):
        return []
    settings = preferences.current

    def select_most_important() -> list[MemoryUnit]:
        candidates = (
            memory
            for memory in context.memories
            if is_recallable(memory, context.moment)
            and memory.category not in settings.silent_types
            and memory.guid not in recalled
        )
        count = settings.recall_without_match
        return nsmallest(count, candidates, key=lambda memory: (-memory.priority, -memory.trigger_count, memory.guid))

    memories = await offload_if_large(len(context.memories), select_most_important)
    reasons = [Reason(kind=ReasonKind.OPENING)]
    return [recall_unit(memory, RecallWay.OPENING, reasons) for memory in memories]


def active_spans(
    context: RecallContext, recalled: Iterable[RecalledMemory], max_accumulated: int = 0, *, has_notebook: bool = False
) -> dict[str, tuple[int, int]]:
    """Return the recalled memories that stay active after this turn: since which turn and until which.

    Beside those with a duration, the newest `max_accumulated` that a message recalled stay until a notebook opens.
    """
    turn_number, memories_by_guid = context.turn.number, context.memories.by_guid
    spans = {guid: span for guid, span in _load_active_spans(context).items() if span[1] > turn_number}
    for recollection in recalled:
        entry = (
            context.session_worlds.find_entry(recollection.memory)
            if recollection.world and recollection.way is RecallWay.MEANING
            else None
        )
        source = entry[1] if entry is not None else memories_by_guid.get(recollection.memory)
        duration = source.duration if source is not None else 1
        if recollection.way not in LASTING and duration > 1:
            spans[recollection.memory] = (turn_number, turn_number + duration - 1)
        elif recollection.memory in memories_by_guid and recollection.way in _ACCUMULATING:
            spans[recollection.memory] = (turn_number, UNTIL_NOTEBOOK)
    accumulated = sorted(
        (guid for guid, span in spans.items() if span[1] == UNTIL_NOTEBOOK), key=lambda guid: spans[guid][0], reverse=True
    )
    replaced = set(accumulated if has_notebook else accumulated[max_accumulated:])
    return {str(guid): span for guid, span in spans.items() if guid not in replaced}


def _load_active_spans(context: RecallContext) -> dict[UUID, tuple[int, int]]:
    """Return the memories that stay active in this turn. Records of this or a later turn are ignored; they occur when a turn
    was undone and is run again.
    """
    spans = read_stored(_ACTIVE_SPANS.validate_python, context.states.get(ACTIVE_SPANS)) or {}
    return {guid: span for guid, span in spans.items() if span[0] < context.turn.number <= span[1]}


CONTEXT_SHARE = 0.1
"""Maximum share of the context for passages of documents; recalled memories as a whole may take a fifth."""
CHARACTERS_PER_TOKEN = 4


class DocumentRecaller:
    """Recall passages of documents that answer the message."""

    def __init__(self, knowledge_base: KnowledgeBase, untrusted_memories: UntrustedMemories, preferences: Preferences) -> None:
        self._knowledge_base, self._untrusted_memories = knowledge_base, untrusted_memories
        self._preferences = preferences

    async def candidates(self, context: RecallContext, earlier: Sequence[RecallCandidates]) -> RecallCandidates:
        count = self._preferences.current.document_entries
        if not count:
            return RecallCandidates()
        query = DocumentQuery(context.query, context.owners, context.moment, context.embedding, context.speaker_names)
        hits = [hit for hit in await self._knowledge_base.search(query, count) if hit.is_sure]
        if not hits:
            return RecallCandidates()
        quoter = await self._untrusted_memories.build_quoter()
        return RecallCandidates(_within_share([to_recollection(hit, quoter) for hit in hits], context.context))


def to_recollection(hit: DocumentHit, quoter: UntrustedTextQuoter) -> RecalledMemory:
    """Return a passage as it goes into the prompt: quoted, with its document and page, so that the reply can name them."""
    chunk, lead = hit.chunk, next(iter(hit.ranked.leads), None)
    words, cosine = (list(lead.words), round(lead.cosine, 4)) if lead is not None else ([], 0.0)
    leads = [RecallLead(kind=PassageKind.DOCUMENT.value, text=chunk.text, origin=chunk.id, words=words, cosine=cosine)]
    return RecalledMemory(
        memory=chunk.id,
        category=MemoryType.FILE,
        title=chunk.location,
        text=quoter.quote_document(chunk.location, chunk.text),
        way=RecallWay.MEANING,
        because=reasons_of(hit.ranked, leads),
        leads=leads,
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
