"""Semantic search over everything a persona remembers; the hits become recollections with their reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from lethe_app.brain.recall.explicit_requests import find_requested_topic
from lethe_app.brain.recall.memory_text import format_memory, one_line, text_form
from lethe_app.config.settings import Settings
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.passage import Passage, PassageKind, TextEmbedding
from lethe_app.domain.recall import LOGGED, OUTDATED, Reason, ReasonKind, RecalledMemory, RecallLead, RecallWay
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.errors import StorageError
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.ranking import PassageLead as Evidence
from lethe_app.retrieval.ranking import RankedSource
from lethe_app.services.indexing.worlds import owner_of_world
from lethe_app.services.memory.lore import recall_entry
from lethe_app.services.preferences import Preferences
from lethe_app.services.session_worlds import SessionWorlds
from lethe_app.services.untrusted_memories import MAX_MEMORY_CHARACTERS, truncate_to_sentences
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.memory.facts import FactStore

DEPTH = 3
"""Depth at which sessions are inserted into the prompt, in messages from the newest one."""
MAX_REASONS = 4
"""Maximum number of ranking signals that are given as reasons."""
MAX_SUMMARY_CHARACTERS = 700
"""Characters of a session's summary next to the lines that led to it."""
EXTRA_HITS = 8
"""Hits searched in addition to those wanted, because some may not be recalled now."""


@dataclass(frozen=True)
class MemoryQuery:
    """Query to the memory of a persona, with the state that restricts the results."""

    persona_id: str
    text: str
    moment: datetime
    session_worlds: SessionWorlds
    memories: Mapping[UUID, MemoryUnit]
    """Memories of the persona by guid, without sessions, facts and World Info entries."""
    in_view: Collection[UUID] = field(default_factory=tuple)
    """Sessions that are in the prompt in full."""
    summarised_sessions: Collection[UUID] = field(default_factory=tuple)
    """Sessions whose summaries are in the prompt; of these only the lines that led to the hit are recalled."""
    facts_in_prompt: Collection[UUID] = field(default_factory=tuple)
    """Facts that are in the prompt."""
    silent_types: Collection[str] = field(default_factory=tuple)
    """Types of memories that are not recalled by their content."""
    speaker_names: Collection[str] = field(default_factory=tuple)
    """Names of the speakers. They are ignored in matching, because they occur in nearly every memory."""
    persona_names: Collection[str] = field(default_factory=tuple)
    """Names of those speakers that are personas; their statements about the user are no evidence."""
    shows_dates: bool = True
    """True if the persona wants dates with sessions."""
    embedding: TextEmbedding | None = None
    may_recall_entry: Callable[[WorldEntry], bool] = lambda _entry: True
    """Predicate: True if a World Info entry may be recalled now. One in its cooldown, or kept back by a rule, is not
    recalled by meaning either.
    """

    @property
    def owners(self) -> list[str]:
        """Owners of the passages that are searched."""
        return [self.persona_id, *map(owner_of_world, self.session_worlds.worlds)]


class MemorySearch:
    """Search memories. Nothing is changed, neither durations nor counts."""

    def __init__(
        self,
        memory_index: MemoryIndex,
        passages: Passages,
        session_store: SessionStore,
        fact_store: FactStore,
        preferences: Preferences,
    ) -> None:
        self._memory_index = memory_index
        self._preferences = preferences
        self._passages = passages
        self._session_store = session_store
        self._fact_store = fact_store

    async def search(self, query: MemoryQuery, count: int, *, only_sure: bool = True) -> list[RecalledMemory]:
        """Return the best `count` memories for the text; with `only_sure` only hits above the threshold, or about a topic it
        asks for.
        """
        if count == 0 or not await self._memory_index.has_passages(query.owners):
            return []
        results = await self._memory_index.search(
            query.owners,
            query.text,
            limit=count + EXTRA_HITS,
            at=query.moment,
            excluded=query.in_view,
            embedding=query.embedding,
            participants=query.speaker_names,
            personas=query.persona_names,
        )
        topic = find_requested_topic(query.text, query.speaker_names)
        # Uncertain hits are dropped before their passages are read, unless the message asks about a topic they may contain.
        hits = [hit for hit in results.hits if hit.is_sure or not only_sure or topic]
        texts = await self._passages.read([lead.passage for hit in hits for lead in hit.leads])
        hits = [hit for hit in hits if is_within(hit, texts, self._preferences.current)]
        on_topic = {hit.source for hit in hits if topic and topic.is_covered_by(lead.text for lead in leads_of(hit, texts))}
        if only_sure:  # who asks for memory gets what is about it, though it might be chance elsewhere
            hits = [hit for hit in hits if hit.is_sure or hit.source in on_topic]
        recollections: list[RecalledMemory] = []
        for hit in hits:
            recollection = await self._recall_hit(query, hit, texts)
            if recollection is not None and len(recollections) < count:
                reasons = [Reason(kind=ReasonKind.ASKED_FOR), *recollection.because]
                asked_for = recollection.model_copy(update={"because": reasons})
                recollections.append(asked_for if hit.source in on_topic else recollection)
        return recollections

    async def _recall_hit(self, query: MemoryQuery, hit: RankedSource, texts: Mapping[int, Passage]) -> RecalledMemory | None:
        """Return the recollection of a hit; None if its source is deleted or may not be recalled."""
        leads, because = await self._add_successors(leads_of(hit, texts)), reasons_of(hit)
        evidence = {"leads": leads, "score": hit.score, "likelihood": hit.likelihood}
        if hit.source in query.memories:
            memory = query.memories[hit.source]
            is_allowed = memory.category not in query.silent_types and is_recallable(memory, query.moment)
            return recall_unit(memory, RecallWay.MEANING, because, **evidence) if is_allowed else None
        world_entry = query.session_worlds.find_entry(hit.source)
        if world_entry is not None:
            if not is_recallable(world_entry[1], query.moment) or not query.may_recall_entry(world_entry[1]):
                return None
            return recall_entry(*world_entry, RecallWay.MEANING, because).model_copy(update=evidence)
        with suppress(StorageError):
            session = await self._session_store.session(hit.source)
            way = RecallWay.FACT if leads and leads[0].kind == PassageKind.FACT else RecallWay.MEANING
            omits_summary = session.guid in query.summarised_sessions
            text = format_session(session, leads, shows_dates=query.shows_dates, omits_summary=omits_summary)
            return recall_unit(session, way, because, text=text, position_index=DEPTH, **evidence)
        with suppress(StorageError):
            fact = await self._fact_store.get(hit.source)
            if fact.guid not in query.facts_in_prompt:
                values = {"memory": fact.guid, "category": MemoryType.GENERAL, "text": one_line(fact.fact), **evidence}
                return RecalledMemory.model_validate({"way": RecallWay.FACT, "because": because, **values})
        return None

    async def _add_successors(self, leads: Sequence[RecallLead]) -> list[RecallLead]:
        """Return the leads, outdated ones last, after the facts that superseded them."""
        successors = await self._fact_store.successors_of([lead.origin for lead in leads if lead.kind == PassageKind.MESSAGE])
        current_leads = [lead for lead in leads if lead.origin not in successors]
        origins = {lead.origin for lead in leads}
        successor_facts = {fact.guid: fact for fact in successors.values() if fact.guid not in origins}
        return [
            *current_leads,
            *(RecallLead(kind=PassageKind.FACT.value, text=fact.fact, origin=guid) for guid, fact in successor_facts.items()),
            *(lead.model_copy(update={"is_outdated": True}) for lead in leads if lead.origin in successors),
        ]


def is_recallable(memory: MemoryUnit, moment: datetime) -> bool:
    """Return whether the memory may be recalled at `moment`: it is enabled, due, and its insertion is by trigger."""
    return memory.enabled and memory.is_due(moment) and memory.insertion is MemoryInsertion.TRIGGER


def recall_unit(memory: MemoryUnit, way: RecallWay, because: Sequence[Reason], **fields: object) -> RecalledMemory:
    """Return a memory as it goes into the prompt. `fields` are those of the recollection that are not taken from it."""
    text = truncate_to_sentences(format_memory(memory, text_form(memory.category, dates=True)), MAX_MEMORY_CHARACTERS)
    own = {"category": memory.category, "title": memory.name, "text": text, "position_index": memory.position_index}
    values = {**own, "priority": memory.priority, **fields}
    return RecalledMemory.model_validate({"memory": memory.guid, "way": way, "because": list(because), **values})


def format_session(session: ChatSession, leads: Sequence[RecallLead], *, shows_dates: bool, omits_summary: bool = False) -> str:
    """Return title, date, summary and the lines that led to the session; with `omits_summary` without the summary, which is
    in the prompt.
    """
    summary = "" if omits_summary else truncate_to_sentences(session.content, MAX_SUMMARY_CHARACTERS)
    head = session.model_copy(update={"content": summary, "name": session.name or "An earlier conversation"})
    lines = [_format_lead(lead) for lead in leads if lead.kind in {PassageKind.FACT, PassageKind.MESSAGE}]
    if omits_summary:
        lines = lines or [_format_lead(lead) for lead in leads[:1]]
    return "\n".join([format_memory(head, text_form(MemoryType.CHAT_SESSION, dates=shows_dates)), *lines])


def _format_lead(lead: RecallLead) -> str:
    """Return a lead as a line of the recollection."""
    return f"- {one_line(lead.text)}{OUTDATED if lead.is_outdated else ''}"


def without_forgotten(recollection: RecalledMemory, deleted_ids: Collection[UUID]) -> RecalledMemory | None:
    """Return the recollection without leads that were forgotten since; None if the memory itself was forgotten.

    A recollection that was written into the history stays complete, because its text is still there.
    """
    if recollection.way in LOGGED or recollection.world:
        return recollection
    if recollection.memory in deleted_ids:
        return None
    forgotten = [lead for lead in recollection.leads if lead.origin in deleted_ids]
    if not forgotten:
        return recollection
    lines = set(map(_format_lead, forgotten))
    text = "\n".join(line for line in recollection.text.splitlines() if line not in lines)
    leads = [lead for lead in recollection.leads if lead not in forgotten]
    return recollection.model_copy(update={"text": text, "leads": leads})


def is_within(hit: RankedSource, passages: Mapping[int, Passage], settings: Settings) -> bool:
    """Return whether a lead of the hit is within the distances that the user set, if any.

    A hit found by words alone has no distance and passes.
    """

    def is_near(lead: Evidence) -> bool:
        passage = passages.get(lead.passage)
        is_fact = passage is not None and passage.kind is PassageKind.FACT
        farthest = settings.fact_retrieval_distance if is_fact else settings.rag_distance
        return not farthest or not lead.cosine or 1 - lead.cosine <= farthest

    return any(map(is_near, hit.leads)) or not hit.leads


def leads_of(hit: RankedSource, texts: Mapping[int, Passage]) -> list[RecallLead]:
    """Return the passages that led to a hit, as far as they still exist."""
    return [
        RecallLead(
            kind=passage.kind.value,
            text=passage.text,
            origin=passage.origin,
            words=list(lead.words),
            cosine=round(lead.cosine, 4),
        )
        for lead in hit.leads
        if (passage := texts.get(lead.passage)) is not None
    ]


def reasons_of(hit: RankedSource) -> list[Reason]:
    """Return the reasons of a hit, strongest first."""
    reasons = [
        Reason(kind=ReasonKind.SIGNAL, values={"signal": reason.name}, value=round(reason.value, 4))
        for reason in hit.reasons[:MAX_REASONS]
    ]
    if not reasons and (shared := list(dict.fromkeys(word for lead in hit.leads for word in lead.words))):
        reasons = [Reason(kind=ReasonKind.SHARED_WORDS, values={"words": ", ".join(shared), "count": len(shared)})]
    return [Reason(kind=ReasonKind.TIME, values={"words": hit.time_words}), *reasons] if hit.time_words else reasons
