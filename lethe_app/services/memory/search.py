"""Search over everything a persona remembers, by meaning and by a time that the text asks for; hits become recollections with
their reasons.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from lethe_app.brain.recall.explicit_requests import find_requested_topic
from lethe_app.brain.recall.memory_text import format_memory, one_line
from lethe_app.brain.recall.time_requests import TimelineEnd, TimeRequest, find_time_request
from lethe_app.brain.summary import digest
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.config.settings import Settings
from lethe_app.dates.arithmetic import local_date
from lethe_app.dates.expressions import TimeExpression
from lethe_app.dates.ranges import Range
from lethe_app.domain.chat import ChatSession, Message, SessionSummary
from lethe_app.domain.clock import spell_date, spell_day
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.domain.passage import Passage, PassageKind
from lethe_app.domain.recall import LOGGED, OUTDATED, Reason, ReasonKind, RecalledMemory, RecallLead, RecallWay
from lethe_app.errors import StorageError
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.retrieval.ranking import PassageLead as Evidence
from lethe_app.retrieval.ranking import RankedSource
from lethe_app.services.memory.lore import recall_entry
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.preferences import Preferences
from lethe_app.services.untrusted_memories import MAX_MEMORY_CHARACTERS, truncate_to_sentences
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.memory.facts import FactStore

DEPTH = 3
"""Depth at which sessions are inserted into the prompt, in messages from the newest one."""
MAX_REASONS = 4
_KINDS_OF_SIGNALS = {
    "about": frozenset({PassageKind.FACT}),
    "summary": frozenset({PassageKind.SUMMARY, PassageKind.SENTENCE}),
}
"""Kinds of passages of which one must have led to a memory for the reason of a signal to be true."""
"""Maximum number of ranking signals that are given as reasons."""
MAX_SUMMARY_CHARACTERS = 700
"""Characters of a session's summary next to the lines that led to it."""
EXTRA_HITS = 8
"""Hits searched in addition to those wanted, because some may not be recalled now."""

MAX_SESSIONS = 100_000
"""Maximum number of sessions read for a request; higher than any real number of sessions."""
NIGHT_END_HOUR = 5
"""Hour up to which a session that continues past midnight belongs to the day before."""
DAY_BREAK = timedelta(hours=6)
"""Gap between messages after which a message belongs to its own calendar day."""
MAX_LISTED_SESSIONS = 6
"""Maximum number of further sessions of the time that are listed by title."""
MAX_DAYS_BEFORE = timedelta(days=183)
"""A date earlier than this before the first session is not taken for a date of sessions."""
MIN_PRIORITY = 10
"""Minimum priority of a memory that was asked for by its time; others are dropped first if the token budget is short."""


@dataclass(frozen=True)
class _ChosenSessions:
    """Sessions that match a request."""

    sessions: tuple[SessionSummary, ...] = ()
    days: Range | None = None
    """Days asked for, if any."""
    leads: dict[UUID, list[RecallLead]] = field(default_factory=dict)
    """Lines about the topic, by session."""


@dataclass(frozen=True)
class MemorySearch:
    """Search memories by meaning and time. Nothing is changed, neither durations nor counts."""

    memory_index: MemoryIndex
    passages: Passages
    session_store: SessionStore
    fact_store: FactStore
    preferences: Preferences

    async def search(
        self, context: RecallContext, count: int, closed_entries: Collection[UUID] = (), *, only_sure: bool = True
    ) -> tuple[list[RecalledMemory], str]:
        """Return the best `count` memories for the text, sessions of a time it asks for first, and a remark for the prompt
        about that time, such as that there was no session.

        If the message asks for single days, sessions of other days are left out. So are `closed_entries`, World Info entries
        that a rule keeps back. With `only_sure` only hits above the threshold are found, or about a topic the text asks for.
        """
        request = find_time_request(context.query, context.moment.astimezone().date(), context.speaker_names)
        others = await self._search_by_meaning(context, count, closed_entries, only_sure=only_sure)
        if request is None or count == 0:
            return others, ""
        before_now = context.session.model_copy(update={"added": context.moment})
        earlier_sessions = await self.session_store.sessions_before(before_now, MAX_SESSIONS)
        sessions = sorted(earlier_sessions, key=lambda summary: summary.started)
        chosen = await self._choose_sessions(request, sessions, context)
        dated_recollections = [await self._recall_session(summary, chosen, request) for summary in chosen.sessions[:count]]
        if chosen.sessions or (request.times and request.is_exact and request.topic is None):
            others = [recollection for recollection in others if recollection.category is not MemoryType.CHAT_SESSION]
        is_current = chosen.days is not None and await self._has_current_messages_on(context.session, chosen.days)
        remark = self._build_remark(request, chosen, sessions, count, is_current=is_current)
        return [*dated_recollections, *others][:count], remark

    # By meaning

    async def _search_by_meaning(
        self, context: RecallContext, count: int, closed_entries: Collection[UUID], *, only_sure: bool
    ) -> list[RecalledMemory]:
        """Return the best `count` memories for the text."""
        if count == 0 or not await self.memory_index.has_passages(context.owners):
            return []
        results = await self.memory_index.search(
            context.owners,
            context.query,
            limit=count + EXTRA_HITS,
            at=context.moment,
            excluded=context.in_view,
            embedding=context.embedding,
            participants=context.speaker_names,
            personas=context.persona_names,
        )
        topic = find_requested_topic(context.query, context.speaker_names)
        # Uncertain hits are dropped before their passages are read, unless the message asks about a topic they may contain.
        hits = [hit for hit in results.hits if hit.is_sure or not only_sure or topic]
        texts = await self.passages.read([lead.passage for hit in hits for lead in hit.leads])
        hits = [hit for hit in hits if is_within(hit, texts, self.preferences.current)]
        on_topic = {hit.source for hit in hits if topic and topic.is_covered_by(lead.text for lead in leads_of(hit, texts))}
        if only_sure:  # who asks for memory gets what is about it, though it might be chance elsewhere
            hits = [hit for hit in hits if hit.is_sure or hit.source in on_topic]
        recollections: list[RecalledMemory] = []
        for hit in hits:
            recollection = await self._recall_hit(context, hit, texts)
            if recollection is not None and recollection.memory not in closed_entries and len(recollections) < count:
                reasons = [Reason(kind=ReasonKind.ASKED_FOR), *recollection.because]
                asked_for = recollection.model_copy(update={"because": reasons})
                recollections.append(asked_for if hit.source in on_topic else recollection)
        return recollections

    async def _recall_hit(
        self, context: RecallContext, hit: RankedSource, texts: Mapping[int, Passage]
    ) -> RecalledMemory | None:
        """Return the recollection of a hit; None if its source is deleted or may not be recalled."""
        found = leads_of(hit, texts)
        leads, because = await self._add_successors(found), reasons_of(hit, found)
        evidence = {"leads": leads, "score": hit.score, "likelihood": hit.likelihood}
        if (memory := context.memories.by_guid.get(hit.source)) is not None:
            silent_types = () if context.is_search else self.preferences.current.silent_types
            is_allowed = memory.category not in silent_types and is_recallable(memory, context.moment)
            return recall_unit(memory, RecallWay.MEANING, because, **evidence) if is_allowed else None
        world_entry = context.session_worlds.find_entry(hit.source)
        if world_entry is not None:
            is_delayed = world_entry[1].delay > context.turn.message_count and not context.is_search
            if is_delayed or not is_recallable(world_entry[1], context.moment):
                return None
            return recall_entry(*world_entry, RecallWay.MEANING, because).model_copy(update=evidence)
        with suppress(StorageError):
            session = await self.session_store.session(hit.source)
            way = RecallWay.FACT if leads and leads[0].kind == PassageKind.FACT else RecallWay.MEANING
            omits_summary = session.guid in context.summarised_sessions
            text = format_session(session, leads, shows_dates=context.shows_dates, omits_summary=omits_summary)
            return recall_unit(session, way, because, text=text, position_index=DEPTH, **evidence)
        with suppress(StorageError):
            fact = await self.fact_store.get(hit.source)
            if context.prefix is None or all(fact.guid != known.guid for known in context.prefix.facts):
                values = {"memory": fact.guid, "category": MemoryType.GENERAL, "text": one_line(fact.fact), **evidence}
                return RecalledMemory.model_validate({"way": RecallWay.FACT, "because": because, **values})
        return None

    async def _add_successors(self, leads: Sequence[RecallLead]) -> list[RecallLead]:
        """Return the leads, outdated ones last, after the facts that superseded them."""
        successors = await self.fact_store.successors_of([lead.origin for lead in leads if lead.kind == PassageKind.MESSAGE])
        current_leads = [lead for lead in leads if lead.origin not in successors]
        origins = {lead.origin for lead in leads}
        successor_facts = {fact.guid: fact for fact in successors.values() if fact.guid not in origins}
        return [
            *current_leads,
            *(RecallLead(kind=PassageKind.FACT.value, text=fact.fact, origin=guid) for guid, fact in successor_facts.items()),
            *(lead.model_copy(update={"is_outdated": True}) for lead in leads if lead.origin in successors),
        ]

    # By time

    async def _choose_sessions(
        self, request: TimeRequest, sessions: Sequence[SessionSummary], context: RecallContext
    ) -> _ChosenSessions:
        days, found = None, list(sessions)
        if request.times:
            days, found = await self._select_sessions_at(request.times[0], sessions)
            for time in request.times[1:]:
                found += [summary for summary in (await self._select_sessions_at(time, sessions))[1] if summary not in found]
        if request.topic is None:
            return _ChosenSessions(tuple(_sort_sessions(request, found, days)), days)
        leads = await self._find_topic_leads(context, request, [summary.guid for summary in found])
        on_topic = [summary for summary in found if summary.guid in leads]
        if request.edge is None and not on_topic:  # asked about something, on days on which other things were said
            return _ChosenSessions(tuple(_sort_sessions(request, found, days)), days)
        return _ChosenSessions(tuple(_sort_sessions(request, on_topic, days)), days, leads)

    async def _select_sessions_at(
        self, time: TimeExpression, sessions: Sequence[SessionSummary]
    ) -> tuple[Range, list[SessionSummary]]:
        """Return the likeliest days of a time that have sessions, and those sessions."""
        for days in time.ranges:
            if found := [summary for summary in sessions if await self._has_messages_on(summary, days, is_night=time.is_night)]:
                return days, found
        return time.ranges[0], []

    async def _has_messages_on(self, summary: SessionSummary, days: Range, *, is_night: bool) -> bool:
        started, ended = summary.started.astimezone(), summary.last_activity
        if is_night and started.date() == days[1] + timedelta(days=1) and started.hour < NIGHT_END_HOUR:
            return True
        first, last = local_date(summary.started), local_date(ended)
        if first > days[1] or last < days[0]:
            return False
        return days[0] <= first or bool(await self._load_messages_on(summary, days))

    async def _load_messages_on(self, summary: SessionSummary, days: Range) -> list[Message]:
        """Return the messages of these days; a message after midnight without a pause belongs to the evening before."""
        found: list[Message] = []
        day, previous_time = None, None
        for message in await self.session_store.page(summary.guid, 0, summary.messages):
            if message.hidden:
                continue
            time, calendar_day = message.time.astimezone(), local_date(message.time)
            is_past_midnight = (
                previous_time is not None and message.time - previous_time < DAY_BREAK and time.hour < NIGHT_END_HOUR
            )
            day = day if is_past_midnight and day is not None else calendar_day
            previous_time = message.time
            if days[0] <= day <= days[1]:
                found.append(message)
        return found

    async def _has_current_messages_on(self, current_session: ChatSession, days: Range) -> bool:
        """Return whether the current session has messages on these days; then no remark says that there was no session."""
        first = local_date(current_session.added)
        return (
            first <= days[1]
            and current_session.leaf_id is not None
            and days[0] <= local_date((await self.session_store.newest_messages(current_session.guid, 1))[0].time)
        )

    async def _find_topic_leads(
        self, context: RecallContext, request: TimeRequest, guids: Sequence[UUID]
    ) -> dict[UUID, list[RecallLead]]:
        """Return the lines about the topic by session, for those of the sessions that have any."""
        if request.topic is None or not guids:
            return {}
        found = await self.memory_index.search(
            [context.session.persona_id],
            context.query,
            limit=len(guids),
            at=context.moment,
            allowed_sources=set(guids),
            embedding=context.embedding,
            participants=context.speaker_names,
        )
        texts = await self.passages.read([lead.passage for hit in found.hits for lead in hit.leads])
        leads = {hit.source: leads_of(hit, texts) for hit in found.hits}
        return {guid: lines for guid, lines in leads.items() if request.topic.is_covered_by(line.text for line in lines)}

    # Text of the results

    async def _recall_session(self, summary: SessionSummary, chosen: _ChosenSessions, request: TimeRequest) -> RecalledMemory:
        record, leads = await self._load_summarised(summary, chosen.days), chosen.leads.get(summary.guid, [])
        words = request.times[0].words if request.times else "the first" if request.edge is TimelineEnd.FIRST else "the last"
        return recall_unit(
            record,
            RecallWay.TIME,
            [Reason(kind=ReasonKind.ASKED_TIME, values={"words": words})],
            text=format_session(record, leads, shows_dates=True),
            leads=leads,
            priority=max(record.priority, MIN_PRIORITY),
            position_index=DEPTH,
        )

    async def _load_summarised(self, session_summary: SessionSummary, days: Range | None) -> ChatSession:
        """Return the session with a summary; for one of several days, of the days asked for."""
        record = await self.session_store.session(session_summary.guid)
        is_long = days is not None and session_summary.last_activity - session_summary.started > timedelta(days=1)
        messages = await self._load_messages_on(session_summary, days) if is_long and days is not None else []
        if messages:
            summary = await asyncio.to_thread(digest.build_summary, to_utterances(messages))
            return record.model_copy(update={"content": summary, "added": messages[0].time, "end_time": messages[-1].time})
        if not record.content.strip():
            lines = to_utterances(await self.session_store.page(session_summary.guid, 0, session_summary.messages))
            record = record.model_copy(update={"content": await asyncio.to_thread(digest.build_summary, lines)})
        return record

    def _build_remark(
        self, request: TimeRequest, chosen: _ChosenSessions, sessions: Sequence[SessionSummary], count: int, *, is_current: bool
    ) -> str:
        """Return the remark that there was no session on a day, or which other sessions there were; empty if there is
        nothing to add.
        """
        if chosen.sessions:
            further = chosen.sessions[count:][:MAX_LISTED_SESSIONS] if chosen.days is not None else ()
            titles = [f"“{one.title or 'untitled'}” ({spell_date(local_date(one.started))})" for one in further]
            return f"Other conversations of that time: {', '.join(titles)}." if titles else ""
        if is_current or (request.edge is not None and request.topic is not None):
            return ""
        if not sessions:
            return "This is the first conversation; there was none before it."
        if not request.is_exact or chosen.days is None:
            return ""
        day, first = chosen.days[0], local_date(sessions[0].started)
        if day < first - MAX_DAYS_BEFORE:  # too far back to be meant of conversations
            return ""
        first_session_note = f" The first one was on {spell_date(first)}." if day < first else ""
        return f"There was no conversation on {spell_day(day)}.{first_session_note}"


def is_recallable(memory: MemoryUnit, moment: datetime) -> bool:
    """Return whether the memory may be recalled at `moment`: it is enabled, due, and its insertion is by trigger."""
    return memory.enabled and memory.is_due(moment) and memory.insertion is MemoryInsertion.TRIGGER


def recall_unit(memory: MemoryUnit, way: RecallWay, because: Sequence[Reason], **fields: object) -> RecalledMemory:
    """Return a memory as it goes into the prompt. `fields` are those of the recollection that are not taken from it."""
    text = truncate_to_sentences(format_memory(memory, dates=True), MAX_MEMORY_CHARACTERS)
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
    return "\n".join([format_memory(head, dates=shows_dates), *lines])


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


def reasons_of(hit: RankedSource, leads: Sequence[RecallLead]) -> list[Reason]:
    """Return the reasons of a hit: the words of the message in its `leads`, then the signals that these confirm, strongest
    first.
    """
    kinds = {lead.kind for lead in leads}
    reasons = [
        Reason(kind=ReasonKind.SIGNAL, values={"signal": reason.name}, value=round(reason.value, 4))
        for reason in hit.reasons
        if not kinds.isdisjoint(_KINDS_OF_SIGNALS.get(reason.name, kinds))
    ][:MAX_REASONS]
    if shared := list(dict.fromkeys(word for lead in leads for word in lead.words)):
        words = Reason(kind=ReasonKind.SHARED_WORDS, values={"words": ", ".join(shared), "count": len(shared)})
        reasons = [words, *reasons]
    return [Reason(kind=ReasonKind.TIME, values={"words": hit.time_words}), *reasons] if hit.time_words else reasons


def _sort_sessions(request: TimeRequest, sessions: Sequence[SessionSummary], days: Range | None) -> list[SessionSummary]:
    """Return the sessions in order: only the first or last if asked for; those of one day by time; for “two weeks ago” the
    nearest first; else the newest first.
    """
    ordered = sorted(sessions, key=lambda summary: summary.started)
    if request.edge is TimelineEnd.FIRST:
        return ordered[:1]
    if request.edge is TimelineEnd.LAST:
        return ordered[::-1][request.skipped : request.skipped + 1]
    if days is None or days[0] == days[1]:
        return ordered
    if request.times[0].words.endswith(("ago", "back")):
        middle = days[0] + (days[1] - days[0]) / 2
        return sorted(ordered, key=lambda summary: abs((local_date(summary.started) - middle).days))
    return ordered[::-1]
