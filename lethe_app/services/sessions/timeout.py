"""Session timeout: a session is archived after the set minutes without a message or an input of the user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.clock import now
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.loop import BackgroundLoop, BackgroundPriority
from lethe_app.services.sessions.archive_parts import MIN_WORDS
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.storage.chats.sessions import SessionStore

CHECK_INTERVAL = 30.0
"""Seconds between two checks for sessions that have timed out."""


@dataclass
class _Inputs:
    """Times of the first and last in a run of inputs, between which no gap reaches the timeout."""

    first: datetime
    last: datetime


class SessionTimeout:
    """Check for timed-out sessions every `CHECK_INTERVAL` seconds, and at the start for those that timed out while the program
    was closed. It needs no model.

    The timeout counts from the last message, or from the last input while the session was displayed. Sessions are not
    archived while any reply is being generated or a message of theirs is being edited.
    """

    def __init__(
        self, session_store: SessionStore, archive_queue: ArchiveQueue, preferences: Preferences, priority: BackgroundPriority
    ) -> None:
        self._session_store, self._archive_queue, self._preferences, self._priority = (
            session_store,
            archive_queue,
            preferences,
            priority,
        )
        self._edited_session: UUID | None = None
        self._inputs: dict[UUID, _Inputs] = {}
        self._restart_times: dict[UUID, datetime] = {}
        """Time at which a session was reopened, or one of its messages was last edited."""
        self._too_short: dict[UUID, int] = {}
        """Number of messages of sessions in which nothing is worth archiving; they are checked again when there are more."""
        self._one_at_a_time = asyncio.Lock()
        self.background = BackgroundLoop(self.archive_timed_out, CHECK_INTERVAL)

    def set_edited_session(self, session_id: UUID | None) -> None:
        """Set the session of which a message is open in an editor; None if there is none."""
        self._edited_session = session_id

    def note_input(self, session_id: UUID) -> None:
        """Record a key, click or scroll in the displayed session; an input after the timeout does not extend it."""
        moment, limit, inputs = now(), self._limit, self._inputs.get(session_id)
        if session_id == self._edited_session:
            self._restart_times[session_id] = moment
        if inputs is not None and (limit is None or moment - inputs.last < limit):
            inputs.last = moment
        else:
            self._inputs[session_id] = _Inputs(moment, moment)
            self.background.wake()  # it may come after the timeout

    async def find_ended_session(self, persona_id: str) -> UUID | None:
        """Return the newest session of a persona if it has timed out, so that the user's next message in it begins a new
        one; else None.
        """
        newest = await self._session_store.newest_session(persona_id)
        return newest.guid if newest is not None and self.has_timed_out(newest) else None

    async def reopen(self, session: ChatSession) -> ChatSession:
        """Continue a session: the timeout counts from now, and it is archived again at its next end."""
        async with self._one_at_a_time:
            self._restart_times[session.guid] = now()
            self._inputs.pop(session.guid, None)
            self._too_short.pop(session.guid, None)
            return await self._session_store.change_session(session.guid, archived=False) if session.archived else session

    async def archive(self, session_id: UUID, *, at_once: bool, even_if_short: bool = False) -> bool:
        """Archive a session that is not archived yet; return False if it is archived or too short. With `even_if_short`, one
        word of the user is enough.
        """
        async with self._one_at_a_time:
            is_open = not (await self._session_store.session(session_id)).archived
            return is_open and await self._archive_queue.archive_session(
                session_id, at_once=at_once, even_if_short=even_if_short
            )

    async def archive_timed_out(self) -> None:
        """Archive every session that has timed out. For the newest one of each persona, the parts by rules are stored on
        return.
        """
        personas: set[str] = set()
        for summary in await self._timed_out():
            await self._priority.wait_for_turn_end()
            if summary.guid in [
                timed_out.guid for timed_out in await self._timed_out()
            ]:  # not if somebody wrote in it meanwhile
                is_newest = summary.persona_id not in personas
                personas.add(summary.persona_id)
                if not await self.archive(summary.guid, at_once=is_newest):
                    self._too_short[summary.guid] = summary.messages

    async def is_settled(self, persona_id: str) -> bool:
        """Return whether all parts of the persona's newest session that can be made now are made."""
        newest = await self._session_store.newest_session(persona_id)
        return newest is None or not await self._archive_queue.is_pending(newest.guid)

    @property
    def _limit(self) -> timedelta | None:
        minutes = self._preferences.current.rotation_minutes
        return timedelta(minutes=minutes) if minutes else None

    async def _timed_out(self) -> list[SessionSummary]:
        return [
            summary
            for summary in await self._session_store.unarchived_sessions()
            if self._too_short.get(summary.guid) != summary.messages and self.has_timed_out(summary)
        ]

    def has_timed_out(self, summary: SessionSummary) -> bool:
        """Return whether a session has been inactive for longer than the setting allows."""
        limit = self._limit
        may_end = summary.messages > 2 or len(summary.first_words.split()) >= MIN_WORDS  # see `is_worth_archiving`
        if limit is None or not may_end or summary.guid == self._edited_session:
            return False
        times = (summary.last_activity, self._restart_times.get(summary.guid, summary.last_activity))
        since = max((time for time in times if time <= now()), default=now())
        inputs = self._inputs.get(summary.guid)
        if inputs is not None and inputs.last <= since:
            del self._inputs[summary.guid]  # a message came after them
        elif inputs is not None and inputs.first - since < limit:
            since = inputs.last
        return now() - since >= limit
