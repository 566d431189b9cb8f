"""Memory search that also answers requests for a time: sessions of a date the message names, then the results by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from lethe_app.brain.recall.time_requests import TimelineEnd, TimeRequest, find_time_request
from lethe_app.brain.summary import digest
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.dates.arithmetic import local_date
from lethe_app.dates.expressions import TimeExpression
from lethe_app.dates.ranges import Range
from lethe_app.domain.chat import ChatSession, Message, SessionSummary
from lethe_app.domain.clock import spell_date, spell_day
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import Reason, ReasonKind, RecalledMemory, RecallLead, RecallWay
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.memory.search import DEPTH, MemoryQuery, MemorySearch, format_session, leads_of, recall_unit
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.index.passages import Passages

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
class TimeSearchResult:
    """Result of a search for one message."""

    recollections: list[RecalledMemory] = field(default_factory=list)
    remark: str = ""
    """Remark for the prompt about the time asked for, such as that there was no session."""


@dataclass(frozen=True)
class _ChosenSessions:
    """Sessions that match a request."""

    sessions: tuple[SessionSummary, ...] = ()
    days: Range | None = None
    """Days asked for, if any."""
    leads: dict[UUID, list[RecallLead]] = field(default_factory=dict)
    """Lines about the topic, by session."""


class TimeSearch:
    """Search memories by time and meaning. Nothing is changed."""

    def __init__(
        self, memory_search: MemorySearch, memory_index: MemoryIndex, passages: Passages, session_store: SessionStore
    ) -> None:
        self._memory_search = memory_search
        self._memory_index = memory_index
        self._passages = passages
        self._session_store = session_store

    async def search(
        self, query: MemoryQuery, count: int, *, only_sure: bool = True, session: ChatSession | None = None
    ) -> TimeSearchResult:
        """Return the best `count` results for the text; `session` is the one in which the message was written.

        If the message asks for single days, sessions of other days are left out.
        """
        request = find_time_request(query.text, query.moment.astimezone().date(), query.speaker_names)
        if request is None or count == 0:
            return TimeSearchResult(await self._memory_search.search(query, count, only_sure=only_sure))
        current_session = session or ChatSession(persona_id=query.persona_id, added=query.moment)
        before_now = current_session.model_copy(update={"added": query.moment})
        earlier_sessions = await self._session_store.sessions_before(before_now, MAX_SESSIONS)
        sessions = sorted(earlier_sessions, key=lambda summary: summary.started)
        chosen = await self._choose_sessions(request, sessions, query)
        dated_recollections = [await self._recall_session(summary, chosen, request) for summary in chosen.sessions[:count]]
        others = await self._memory_search.search(query, count, only_sure=only_sure)
        if chosen.sessions or (request.times and request.is_exact and request.topic is None):
            others = [recollection for recollection in others if recollection.category is not MemoryType.CHAT_SESSION]
        is_current = chosen.days is not None and await self._has_current_messages_on(current_session, chosen.days)
        remark = self._build_remark(request, chosen, sessions, count, is_current=is_current)
        return TimeSearchResult([*dated_recollections, *others][:count], remark)

    # Choice of the sessions

    async def _choose_sessions(
        self, request: TimeRequest, sessions: Sequence[SessionSummary], query: MemoryQuery
    ) -> _ChosenSessions:
        days, found = None, list(sessions)
        if request.times:
            days, found = await self._select_sessions_at(request.times[0], sessions)
            for time in request.times[1:]:
                found += [summary for summary in (await self._select_sessions_at(time, sessions))[1] if summary not in found]
        if request.topic is None:
            return _ChosenSessions(tuple(_sort_sessions(request, found, days)), days)
        leads = await self._find_topic_leads(query, request, [summary.guid for summary in found])
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
        for message in await self._session_store.page(summary.guid, 0, summary.messages):
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
            and days[0] <= local_date((await self._session_store.newest_messages(current_session.guid, 1))[0].time)
        )

    async def _find_topic_leads(
        self, query: MemoryQuery, request: TimeRequest, guids: Sequence[UUID]
    ) -> dict[UUID, list[RecallLead]]:
        """Return the lines about the topic by session, for those of the sessions that have any."""
        if request.topic is None or not guids:
            return {}
        found = await self._memory_index.search(
            [query.persona_id],
            query.text,
            limit=len(guids),
            at=query.moment,
            allowed_sources=set(guids),
            embedding=query.embedding,
            participants=query.speaker_names,
        )
        texts = await self._passages.read([lead.passage for hit in found.hits for lead in hit.leads])
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
        record = await self._session_store.session(session_summary.guid)
        is_long = days is not None and session_summary.last_activity - session_summary.started > timedelta(days=1)
        messages = await self._load_messages_on(session_summary, days) if is_long and days is not None else []
        if messages:
            summary = await asyncio.to_thread(digest.build_summary, to_utterances(messages))
            return record.model_copy(update={"content": summary, "added": messages[0].time, "end_time": messages[-1].time})
        if not record.content.strip():
            lines = to_utterances(await self._session_store.page(session_summary.guid, 0, session_summary.messages))
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
