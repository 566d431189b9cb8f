"""Searches a persona's memory for what a message asks for: the conversations of a time it names, and what its words lead to."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from lethe_app.brain.dates.arithmetic import local_date
from lethe_app.brain.dates.day_ranges import Range
from lethe_app.brain.dates.past_times import PastTime
from lethe_app.brain.recall.time_requests import Edge, TimeRequest, time_request
from lethe_app.brain.summary import digest
from lethe_app.brain.text.utterance import aloud
from lethe_app.domain.chat import ChatSession, Message, SessionSummary
from lethe_app.domain.clock import spell_date, spell_day
from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import Because, RecallLead, RecallWay, Recollection
from lethe_app.retrieval.memory_index import Recall
from lethe_app.services.memory.search import DEPTH, MemoryQuery, MemorySearch, leads_of, session_text
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.index.passages import Passages
from lethe_app.storage.memory.facts import FactStore

ALL = 100_000
"""Sessions read for a request; there are never so many."""
MORNING = 5
"""The hour up to which a conversation that goes on past midnight belongs to the day before."""
PAUSE = timedelta(hours=6)
"""After a longer one, words belong to the day on which they are said."""
MOST_NAMED = 6
"""Further conversations of the time that are named."""
HALF_A_YEAR = timedelta(days=183)
AT_LEAST = 10
"""Priority of what was asked for by its time: other memories leave first where there is no room."""


@dataclass(frozen=True)
class TimeSearchResult:
    """What a message brings up."""

    recollections: list[Recollection] = field(default_factory=list)
    remark: str = ""
    """What is to be said of the time that was asked for, such as that nothing was said then."""


@dataclass(frozen=True)
class _Chosen:
    """The sessions that a request is about."""

    sessions: tuple[SessionSummary, ...] = ()
    days: Range | None = None
    """The days asked for, where there are any."""
    leads: dict[UUID, list[RecallLead]] = field(default_factory=dict)
    """Lines that tell of the topic, by session."""


class TimeSearch:
    """Changes nothing."""

    def __init__(self, recall: Recall, passages: Passages, chats: Chats, facts: FactStore, preferences: Preferences) -> None:
        self._reminding = MemorySearch(recall, passages, chats, facts, preferences)
        self._recall = recall
        self._passages = passages
        self._chats = chats

    async def search(
        self, asking: MemoryQuery, count: int, *, only_sure: bool = True, session: ChatSession | None = None
    ) -> TimeSearchResult:
        """The best `count` of what the text asks for or reminds of; `session` is the one in which it is said.

        Where single days are asked for, no conversation of another day comes.
        """
        request = time_request(asking.text, asking.moment.astimezone().date(), asking.present)
        if request is None or count == 0:
            return TimeSearchResult(await self._reminding.search(asking, count, only_sure=only_sure))
        here = session or ChatSession(persona_id=asking.persona_id, added=asking.moment)
        held = await self._held(here, asking.moment)
        chosen = await self._chosen(request, held, asking)
        of_time = [await self._recollection(one, chosen, request) for one in chosen.sessions[:count]]
        others = await self._reminding.search(asking, count, only_sure=only_sure)
        if chosen.sessions or (request.times and request.is_exact and request.topic is None):
            others = [one for one in others if one.category is not MemoryType.CHAT_SESSION]
        is_here = chosen.days is not None and await self._is_in(here, chosen.days)
        remark = self._remark(request, chosen, held, count, is_here=is_here)
        return TimeSearchResult([*of_time, *others][:count], remark)

    async def _held(self, here: ChatSession, moment: datetime) -> list[SessionSummary]:
        """All earlier conversations, oldest first."""
        earlier = await self._chats.before(here.model_copy(update={"added": moment}), ALL)
        return sorted(earlier, key=lambda one: one.started)

    # Which conversations

    async def _chosen(self, request: TimeRequest, held: Sequence[SessionSummary], asking: MemoryQuery) -> _Chosen:
        days, found = None, list(held)
        if request.times:
            days, found = await self._at(request.times[0], held)
            for time in request.times[1:]:
                found += [one for one in (await self._at(time, held))[1] if one not in found]
        if request.topic is None:
            return _Chosen(tuple(_ordered(request, found, days)), days)
        leads = await self._leads(asking, request, [one.guid for one in found])
        met = [one for one in found if one.guid in leads]
        if request.edge is None and not met:  # asked about something, on days on which other things were said
            return _Chosen(tuple(_ordered(request, found, days)), days)
        return _Chosen(tuple(_ordered(request, met, days)), days, leads)

    async def _at(self, time: PastTime, held: Sequence[SessionSummary]) -> tuple[Range, list[SessionSummary]]:
        """The likeliest days on which anything was said, and the conversations held on them."""
        for days in time.ranges:
            if found := [one for one in held if await self._is_held(one, days, is_night=time.is_night)]:
                return days, found
        return time.ranges[0], []

    async def _is_held(self, one: SessionSummary, days: Range, *, is_night: bool) -> bool:
        began, ended = one.started.astimezone(), one.last_activity
        if is_night and began.date() == days[1] + timedelta(days=1) and began.hour < MORNING:
            return True
        first, last = local_date(one.started), local_date(ended)
        if first > days[1] or last < days[0]:
            return False
        return days[0] <= first or bool(await self._said(one, days))

    async def _said(self, one: SessionSummary, days: Range) -> list[Message]:
        """What was said on these days; what is said past midnight without a pause belongs to the evening."""
        found: list[Message] = []
        day, before = None, None
        for message in await self._chats.page(one.guid, 0, one.messages):
            if message.hidden:
                continue
            time, own = message.time.astimezone(), local_date(message.time)
            goes_on = before is not None and message.time - before < PAUSE and time.hour < MORNING
            day = day if goes_on and day is not None else own
            before = message.time
            if days[0] <= day <= days[1]:
                found.append(message)
        return found

    async def _is_in(self, here: ChatSession, days: Range) -> bool:
        """Was any of the present conversation held on these days? Then they are not without one."""
        first = local_date(here.added)
        return first <= days[1] and here.leaf_id is not None and days[0] <= local_date((await self._newest(here)).time)

    async def _newest(self, here: ChatSession) -> Message:
        return (await self._chats.tail(here.guid, 1))[0]

    async def _leads(self, asking: MemoryQuery, request: TimeRequest, guids: Sequence[UUID]) -> dict[UUID, list[RecallLead]]:
        """Of these sessions those that tell of the topic, with the lines that do."""
        if request.topic is None or not guids:
            return {}
        found = await self._recall.search(
            [asking.persona_id],
            asking.text,
            limit=len(guids),
            at=asking.moment,
            only=set(guids),
            meaning=asking.meaning,
            present=asking.present,
        )
        texts = await self._passages.read([lead.passage for hit in found.hits for lead in hit.leads])
        leads = {hit.source: leads_of(hit, texts) for hit in found.hits}
        return {guid: lines for guid, lines in leads.items() if request.topic.is_met(line.text for line in lines)}

    # What is told of them

    async def _recollection(self, one: SessionSummary, chosen: _Chosen, request: TimeRequest) -> Recollection:
        record, leads = await self._told(one, chosen.days), chosen.leads.get(one.guid, [])
        words = request.times[0].words if request.times else "the first" if request.edge is Edge.FIRST else "the last"
        return Recollection(
            memory=record.guid,
            category=MemoryType.CHAT_SESSION,
            title=record.name,
            text=session_text(record, leads, dates=True, told=False),
            way=RecallWay.TIME,
            because=[Because(what=f"the conversation of that time was asked for: {words}")],
            leads=leads,
            priority=max(record.priority, AT_LEAST),
            position_index=DEPTH,
        )

    async def _told(self, one: SessionSummary, days: Range | None) -> ChatSession:
        """The session with a summary; of one that went on for days, of the days asked for."""
        record = await self._chats.session(one.guid)
        is_long = days is not None and one.last_activity - one.started > timedelta(days=1)
        said = await self._said(one, days) if is_long and days is not None else []
        if said:
            summary = await asyncio.to_thread(digest.summary, aloud(said))
            return record.model_copy(update={"content": summary, "added": said[0].time, "end_time": said[-1].time})
        if not record.content.strip():
            lines = aloud(await self._chats.page(one.guid, 0, one.messages))
            record = record.model_copy(update={"content": await asyncio.to_thread(digest.summary, lines)})
        return record

    def _remark(
        self, request: TimeRequest, chosen: _Chosen, held: Sequence[SessionSummary], count: int, *, is_here: bool
    ) -> str:
        """That nothing was said on a day, or what else was; empty where there is nothing to add."""
        if chosen.sessions:
            return _further(chosen.sessions[count:]) if chosen.days is not None else ""
        if is_here or (request.edge is not None and request.topic is not None):
            return ""
        if not held:
            return "This is the first conversation; there was none before it."
        if not request.is_exact or chosen.days is None:
            return ""
        day, first = chosen.days[0], local_date(held[0].started)
        if day < first - HALF_A_YEAR:  # too far back to be meant of conversations
            return ""
        began = f" The first one was on {spell_date(first)}." if day < first else ""
        return f"There was no conversation on {spell_day(day)}.{began}"


def _ordered(request: TimeRequest, found: Sequence[SessionSummary], days: Range | None) -> list[SessionSummary]:
    """The one at the edge; or all: of a day in their order, of “two weeks ago” the nearest first, else the newest first."""
    ordered = sorted(found, key=lambda one: one.started)
    if request.edge is Edge.FIRST:
        return ordered[:1]
    if request.edge is Edge.LAST:
        return ordered[::-1][request.skipped : request.skipped + 1]
    if days is None or days[0] == days[1]:
        return ordered
    if request.times[0].words.endswith(("ago", "back")):
        middle = days[0] + (days[1] - days[0]) / 2
        return sorted(ordered, key=lambda one: abs((local_date(one.started) - middle).days))
    return ordered[::-1]


def _further(sessions: Collection[SessionSummary]) -> str:
    """Conversations of the time for which there is no room, by title."""
    named = [f"“{one.title or 'untitled'}” ({spell_date(local_date(one.started))})" for one in list(sessions)[:MOST_NAMED]]
    return f"Other conversations of that time: {', '.join(named)}." if named else ""
