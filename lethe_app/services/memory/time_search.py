"""Memory search that also answers requests for a time: sessions of a date the message names, then the results by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from lethe_app.brain.dates.arithmetic import local_date
from lethe_app.brain.dates.past_times import PastTime
from lethe_app.brain.recall.time_requests import TimelineEnd, TimeRequest, find_time_request
from lethe_app.brain.summary import digest
from lethe_app.brain.text.utterance import to_utterances
from lethe_app.dates.ranges import Range
from lethe_app.domain.chat import ChatSession, Message, SessionSummary
from lethe_app.domain.clock import spell_date, spell_day
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import Reason, ReasonKind, RecalledMemory, RecallLead, RecallWay
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.memory.search import DEPTH, MemoryQuery, MemorySearch, format_session, leads_of
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
        sessions = await self._earlier_sessions(current_session, query.moment)
        chosen = await self._choose_sessions(request, sessions, query)
        of_time = [await self._recollection(one, chosen, request) for one in chosen.sessions[:count]]
        others = await self._memory_search.search(query, count, only_sure=only_sure)
        if chosen.sessions or (request.times and request.is_exact and request.topic is None):
            others = [one for one in others if one.category is not MemoryType.CHAT_SESSION]
        is_current = chosen.days is not None and await self._has_current_messages_on(current_session, chosen.days)
        remark = self._remark(request, chosen, sessions, count, is_current=is_current)
        return TimeSearchResult([*of_time, *others][:count], remark)

    async def _earlier_sessions(self, current_session: ChatSession, moment: datetime) -> list[SessionSummary]:
        """Return all earlier sessions, oldest first."""
        earlier = await self._session_store.sessions_before(current_session.model_copy(update={"added": moment}), MAX_SESSIONS)
        return sorted(earlier, key=lambda one: one.started)

    # Choice of the sessions

    async def _choose_sessions(
        self, request: TimeRequest, sessions: Sequence[SessionSummary], query: MemoryQuery
    ) -> _ChosenSessions:
        days, found = None, list(sessions)
        if request.times:
            days, found = await self._sessions_at(request.times[0], sessions)
            for time in request.times[1:]:
                found += [one for one in (await self._sessions_at(time, sessions))[1] if one not in found]
        if request.topic is None:
            return _ChosenSessions(tuple(_sort_sessions(request, found, days)), days)
        leads = await self._leads(query, request, [one.guid for one in found])
        met = [one for one in found if one.guid in leads]
        if request.edge is None and not met:  # asked about something, on days on which other things were said
            return _ChosenSessions(tuple(_sort_sessions(request, found, days)), days)
        return _ChosenSessions(tuple(_sort_sessions(request, met, days)), days, leads)

    async def _sessions_at(self, time: PastTime, sessions: Sequence[SessionSummary]) -> tuple[Range, list[SessionSummary]]:
        """Return the likeliest days of a time that have sessions, and those sessions."""
        for days in time.ranges:
            if found := [one for one in sessions if await self._has_messages_on(one, days, is_night=time.is_night)]:
                return days, found
        return time.ranges[0], []

    async def _has_messages_on(self, one: SessionSummary, days: Range, *, is_night: bool) -> bool:
        began, ended = one.started.astimezone(), one.last_activity
        if is_night and began.date() == days[1] + timedelta(days=1) and began.hour < NIGHT_END_HOUR:
            return True
        first, last = local_date(one.started), local_date(ended)
        if first > days[1] or last < days[0]:
            return False
        return days[0] <= first or bool(await self._messages_on(one, days))

    async def _messages_on(self, one: SessionSummary, days: Range) -> list[Message]:
        """Return the messages of these days; a message after midnight without a pause belongs to the evening before."""
        found: list[Message] = []
        day, before = None, None
        for message in await self._session_store.page(one.guid, 0, one.messages):
            if message.hidden:
                continue
            time, own = message.time.astimezone(), local_date(message.time)
            goes_on = before is not None and message.time - before < DAY_BREAK and time.hour < NIGHT_END_HOUR
            day = day if goes_on and day is not None else own
            before = message.time
            if days[0] <= day <= days[1]:
                found.append(message)
        return found

    async def _has_current_messages_on(self, current_session: ChatSession, days: Range) -> bool:
        """Return whether the current session has messages on these days; then no remark says that there was no session."""
        first = local_date(current_session.added)
        return (
            first <= days[1]
            and current_session.leaf_id is not None
            and days[0] <= local_date((await self._newest_message(current_session)).time)
        )

    async def _newest_message(self, current_session: ChatSession) -> Message:
        return (await self._session_store.newest_messages(current_session.guid, 1))[0]

    async def _leads(self, query: MemoryQuery, request: TimeRequest, guids: Sequence[UUID]) -> dict[UUID, list[RecallLead]]:
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

    async def _recollection(self, one: SessionSummary, chosen: _ChosenSessions, request: TimeRequest) -> RecalledMemory:
        record, leads = await self._load_summarised(one, chosen.days), chosen.leads.get(one.guid, [])
        words = request.times[0].words if request.times else "the first" if request.edge is TimelineEnd.FIRST else "the last"
        return RecalledMemory(
            memory=record.guid,
            category=MemoryType.CHAT_SESSION,
            title=record.name,
            text=format_session(record, leads, shows_dates=True),
            way=RecallWay.TIME,
            because=[Reason(kind=ReasonKind.ASKED_TIME, values={"words": words})],
            leads=leads,
            priority=max(record.priority, MIN_PRIORITY),
            position_index=DEPTH,
        )

    async def _load_summarised(self, one: SessionSummary, days: Range | None) -> ChatSession:
        """Return the session with a summary; for one of several days, of the days asked for."""
        record = await self._session_store.session(one.guid)
        is_long = days is not None and one.last_activity - one.started > timedelta(days=1)
        said = await self._messages_on(one, days) if is_long and days is not None else []
        if said:
            summary = await asyncio.to_thread(digest.build_summary, to_utterances(said))
            return record.model_copy(update={"content": summary, "added": said[0].time, "end_time": said[-1].time})
        if not record.content.strip():
            lines = to_utterances(await self._session_store.page(one.guid, 0, one.messages))
            record = record.model_copy(update={"content": await asyncio.to_thread(digest.build_summary, lines)})
        return record

    def _remark(
        self, request: TimeRequest, chosen: _ChosenSessions, sessions: Sequence[SessionSummary], count: int, *, is_current: bool
    ) -> str:
        """Return the remark that there was no session on a day, or which other sessions there were; empty if there is
        nothing to add.
        """
        if chosen.sessions:
            return _list_further(chosen.sessions[count:]) if chosen.days is not None else ""
        if is_current or (request.edge is not None and request.topic is not None):
            return ""
        if not sessions:
            return "This is the first conversation; there was none before it."
        if not request.is_exact or chosen.days is None:
            return ""
        day, first = chosen.days[0], local_date(sessions[0].started)
        if day < first - MAX_DAYS_BEFORE:  # too far back to be meant of conversations
            return ""
        began = f" The first one was on {spell_date(first)}." if day < first else ""
        return f"There was no conversation on {spell_day(day)}.{began}"


def _sort_sessions(request: TimeRequest, found: Sequence[SessionSummary], days: Range | None) -> list[SessionSummary]:
    """Return the sessions in order: only the first or last if asked for; those of one day by time; for “two weeks ago” the
    nearest first; else the newest first.
    """
    ordered = sorted(found, key=lambda one: one.started)
    if request.edge is TimelineEnd.FIRST:
        return ordered[:1]
    if request.edge is TimelineEnd.LAST:
        return ordered[::-1][request.skipped : request.skipped + 1]
    if days is None or days[0] == days[1]:
        return ordered
    if request.times[0].words.endswith(("ago", "back")):
        middle = days[0] + (days[1] - days[0]) / 2
        return sorted(ordered, key=lambda one: abs((local_date(one.started) - middle).days))
    return ordered[::-1]


def _list_further(sessions: Collection[SessionSummary]) -> str:
    """Return the titles of sessions of the time that are not in the results, as a sentence."""
    named = [
        f"“{one.title or 'untitled'}” ({spell_date(local_date(one.started))})" for one in list(sessions)[:MAX_LISTED_SESSIONS]
    ]
    return f"Other conversations of that time: {', '.join(named)}." if named else ""
