"""What stands still around a conversation in its prompts: earlier sessions, what they came to, what is known.

A frame is made when a session begins, kept with it word for word, and made anew only when the history is cut, when something
in it is forgotten or edited, or when the user wishes; between these the beginning of the prompt stays the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lethe_app.brain import digest, ledger
from lethe_app.brain.said import aloud
from lethe_app.brain.snippets import Form, Title, one_line, snippet
from lethe_app.domain.chat import ChatSession, Message, SessionSummary
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.prompt import Part
from lethe_app.errors import StorageError
from lethe_app.prompt.budget import CAPS
from lethe_app.prompt.sections import Extras
from lethe_app.services.casting import Cast
from lethe_app.services.counting import Counting
from lethe_app.services.preferences import Preferences
from lethe_app.settings import SessionHandling
from lethe_app.storage.chats import Chats
from lethe_app.storage.facts import Facts
from lethe_app.storage.state import SessionState

FRAME = "frame"
"""Key of a session's state."""
EARLIER = 0.4
"""Part of the context that earlier conversations may have word for word."""
ROLLING = 0.2
"""Characters of the rolling summary per token of the context."""
LEAST_ROLLING = 240


class Frozen(BaseModel):
    """A text as it stands in the prompt, and whose it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    guid: UUID
    text: str


class Frame(BaseModel):
    """Everything in a prompt that stays the same from turn to turn, besides the persona."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: int
    """Of the model it was made for; with another one the history begins anew."""
    stale: bool = False
    """Something in it was forgotten or edited."""
    earlier: list[UUID] = Field(default_factory=list)
    """Sessions that are there word for word, oldest first."""
    summaries: list[Frozen] = Field(default_factory=list)
    """Of sessions that are not, newest first."""
    facts: list[Frozen] = Field(default_factory=list)
    first: UUID | None = None
    """The message of this session with which its history begins; None is its first one."""
    rolling: str = ""
    """What was said before that message."""

    @property
    def in_view(self) -> set[UUID]:
        """Sessions that need not be brought up, for they are there word for word."""
        return set(self.earlier)

    def extras(self, world: Sequence[str] = ()) -> Extras:
        """What of it stands in the system prompt. The present conversation is the newest of the summaries."""
        present = [f"Earlier in this conversation:\n{self.rolling}"] if self.rolling else []
        return Extras(world, [*present, *(one.text for one in self.summaries)], [one.text for one in self.facts])


class Frames:
    """Makes frames, keeps them, and moves their edge when the history is cut."""

    def __init__(self, chats: Chats, facts: Facts, state: SessionState, preferences: Preferences, counting: Counting) -> None:
        self._chats = chats
        self._facts = facts
        self._state = state
        self._preferences = preferences
        self._counting = counting

    async def of(self, session: ChatSession, cast: Cast, model: LoadedModel) -> Frame:
        """The one the session has, or a new one."""
        kept = await self.kept(session.guid)
        fits = kept is not None and kept.context == model.context
        if kept is not None and fits and not kept.stale:
            return kept
        first, rolling = (kept.first, kept.rolling) if kept is not None and fits else (None, "")
        return await self._keep(session, await self._make(session, cast, model, first, rolling))

    async def kept(self, session_id: UUID) -> Frame | None:
        """The frame as it was last made, if it can still be understood."""
        try:
            return Frame.model_validate(await self._state.get(session_id, FRAME))
        except ValidationError:
            return None

    async def renew(self, persona_id: str) -> None:
        """Something was forgotten or edited: what stands still is made anew with the next prompt. History stays cut."""
        for session_id, value in (await self._state.of_persona(persona_id, FRAME)).items():
            if isinstance(value, dict):
                await self._state.set(session_id, FRAME, {**value, "stale": True})

    async def cut(
        self, session: ChatSession, cast: Cast, model: LoadedModel, frame: Frame, history: Sequence[Message], dropped: int
    ) -> Frame:
        """The oldest `dropped` messages have no room: earlier sessions leave whole, the present one is summed up."""
        left, stays = history[:dropped], history[dropped]
        if stays.session_id != session.guid:  # only earlier sessions are affected; none is cut in two
            gone = {message.session_id for message in left}
            earlier = [guid for guid in frame.earlier if guid not in gone]
            return await self._keep(session, await self._make(session, cast, model, frame.first, frame.rolling, earlier))
        lines = aloud([message for message in left if message.session_id == session.guid])
        longest = max(LEAST_ROLLING, int(model.context * ROLLING))
        rolling = await asyncio.to_thread(digest.rolling, lines, frame.rolling, longest)
        return await self._keep(session, await self._make(session, cast, model, stays.id, rolling, []))

    async def set_rolling(self, session_id: UUID, before: str, after: str) -> None:
        """Put a better wording in the place of one that still stands."""
        frame = await self.kept(session_id)
        if frame is not None and frame.rolling == before:
            await self._state.set(session_id, FRAME, frame.model_copy(update={"rolling": after}).model_dump(mode="json"))

    async def _keep(self, session: ChatSession, frame: Frame) -> Frame:
        await self._state.set(session.guid, FRAME, frame.model_dump(mode="json"))
        return frame

    async def _make(
        self,
        session: ChatSession,
        cast: Cast,
        model: LoadedModel,
        first: UUID | None,
        rolling: str,
        earlier: Sequence[UUID] | None = None,
    ) -> Frame:
        """`earlier`: the sessions that are to be there word for word; None lets it choose."""
        before = await self._before(session)
        if earlier is None:
            earlier = await self._fitting(before, int(model.context * EARLIER)) if first is None else []
        rest = [summary for summary in before if summary.guid not in earlier]
        return Frame(
            context=model.context,
            earlier=list(earlier),
            summaries=await self._summaries(rest, cast, int(model.context * CAPS[Part.SUMMARIES])),
            facts=await self._core(cast, int(model.context * CAPS[Part.FACTS])),
            first=first,
            rolling=rolling,
        )

    async def _before(self, session: ChatSession) -> list[SessionSummary]:
        """Sessions of the persona that began before this one, newest first."""
        every = await self._chats.sessions(session.persona_id)
        older = [one for one in every if one.guid != session.guid and one.started <= session.added and one.messages > 0]
        return sorted(older, key=lambda one: one.started, reverse=True)

    async def _fitting(self, before: Sequence[SessionSummary], room: int) -> list[UUID]:
        """The newest of them that fit whole and without a gap, oldest first."""
        chosen: list[UUID] = []
        if self._preferences.current.session_handling is SessionHandling.CURRENT_ONLY:
            return chosen
        for one in before:
            if one.messages > room // 4:
                break
            messages = await self._chats.page(one.guid, 0, room // 4)
            room -= sum(await self._counting.count([message.content for message in messages])) + 8 * len(messages)
            if room < 0:
                break
            chosen.append(one.guid)
        return chosen[::-1]

    async def _summaries(self, sessions: Sequence[SessionSummary], cast: Cast, most: int) -> list[Frozen]:
        """As many as there is room for, the sticky ones first; those that have none yet are passed over."""
        settings = self._preferences.current
        if not settings.session_memory_system:
            return []
        room = min(settings.session_reserved_tokens, most)
        wanted: list[Frozen] = []
        order = {one.guid: place for place, one in enumerate(sessions)}
        for one in sorted(sessions, key=lambda each: not each.sticky):
            if room < 24:
                break
            record = await self._session(one.guid)
            if record is None or not record.content.strip():
                continue
            text = summarised(record, one.last_activity, dated=cast.persona.dates_in_session_summaries)
            tokens = (await self._counting.count([text]))[0]
            if tokens <= room:
                room -= tokens
                wanted.append(Frozen(guid=one.guid, text=text))
        return sorted(wanted, key=lambda frozen: order[frozen.guid])

    async def _core(self, cast: Cast, most: int) -> list[Frozen]:
        """What she knows of others; of herself her persona tells enough, and what is pinned."""
        settings = self._preferences.current
        if not settings.fact_retrieval:
            return []
        facts = [
            fact
            for fact in await self._facts.of(cast.persona.unique_name)
            if not fact.superseded and (fact.pinned or not fact.fact.startswith(cast.persona.name))
        ]
        facts = sorted(facts, key=lambda fact: (not fact.pinned, -ledger.importance(fact, now())))[:200]
        counts = await self._counting.count([fact.fact for fact in facts])
        tokens = {fact.guid: count + 2 for fact, count in zip(facts, counts, strict=True)}
        chosen = ledger.core(facts, now(), min(settings.core_facts_tokens, most), tokens)
        return [Frozen(guid=fact.guid, text=one_line(fact.fact)) for fact in chosen]

    async def _session(self, guid: UUID) -> ChatSession | None:
        try:
            return await self._chats.session(guid)
        except StorageError:
            return None  # deleted meanwhile


def summarised(session: ChatSession, until: datetime, *, dated: bool) -> str:
    """A session as it stands among the previous ones."""
    return snippet(session, Form(Title.H2, dated=dated), until=until)
