"""What stands still around a conversation in its prompts: earlier sessions, what they came to, what is known.

A frame is made when a session begins and kept with it. It is made anew only when the program starts, when the history is cut,
when something in it is forgotten or edited, or when its settings change: between these the beginning of the prompt is the same
to the letter, and what has left the history stays out of it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lethe_app.brain.summary import digest
from lethe_app.brain.text.reported_speech import shorten
from lethe_app.brain.text.utterance import Utterance, aloud
from lethe_app.config.options import SessionHandling
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.prompt import PromptPart
from lethe_app.errors import StorageError
from lethe_app.prompt.budget import CAPS
from lethe_app.prompt.sections import Extras
from lethe_app.services.events import Listeners
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.past_sessions import Frozen, NotebookSections, PastSessions
from lethe_app.services.token_counts import Counting
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.facts import FactStore

FRAME = "frame"
"""Key of a session's state."""
EARLIER = 0.4
"""Part of the context that earlier conversations may have word for word."""
ROLLING = 0.2
"""Characters of the rolling summary per token of the context."""
LEAST_ROLLING = 240
SHORTEST_TURN = 4
"""Tokens: a prompt reads no more messages than a context of such short ones could hold."""
PRESENT = "Earlier in this conversation:"
Explained = Callable[[Persona, LoadedModel], Awaitable[str]]
"""Tells how tools are used, to a model that is offered some for a persona."""


async def _nothing(_persona: Persona, _model: LoadedModel) -> str:
    return ""


class StablePrefix(BaseModel):
    """Everything in a prompt that stays the same from turn to turn, besides the persona."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: int
    """Of the model it was made for; with another one the history begins anew."""
    handling: SessionHandling = SessionHandling.FIT_ALL
    earlier: list[UUID] = Field(default_factory=list)
    """Sessions that are there word for word, oldest first."""
    summaries: list[Frozen] = Field(default_factory=list)
    """Of sessions that are not, newest first."""
    facts: list[Frozen] = Field(default_factory=list)
    notebook: str = ""
    """The notebook that was open when it was made."""
    lately: str = ""
    """What was spoken of lately."""
    tools: str = ""
    """How tools are used, where she has any."""
    first: UUID | None = None
    """The message of this session with which its history begins; None is its first one."""
    rolling: str = ""
    """What was said before that message."""
    recap: str = ""
    """The same, or the beginning of it, as a trusted model tells it; it takes the place of `rolling` with the next cut."""
    recapped: UUID | None = None
    """The message up to which `recap` reaches."""

    @property
    def in_view(self) -> set[UUID]:
        """Sessions that need not be brought up, for they are there word for word."""
        return set(self.earlier)

    @property
    def summaries_before(self) -> str:
        """What was said before `first`, in the best words there are."""
        return shorten(self.recap, longest(self.context)) if self.recap and self.recapped == self.first else self.rolling

    def extras(self, world: Sequence[str] = ()) -> Extras:
        """What of it stands in the system prompt. The present conversation is the newest of the summaries."""
        present = [f"{PRESENT}\n{self.rolling}"] if self.rolling else []
        beside = [text for text in (self.notebook, self.lately) if text]
        summaries = [*present, *beside, *(one.text for one in self.summaries)]
        return Extras(world, summaries, [one.text for one in self.facts], self.tools)


class StablePrefixes:
    """Makes frames, keeps them, and moves their edge when the history is cut. `cuts` names a session of which more left."""

    def __init__(
        self,
        chats: Chats,
        facts: FactStore,
        state: SessionState,
        preferences: Preferences,
        counting: Counting,
        standing: Callable[[ChatSession, int], Awaitable[NotebookSections]],
    ) -> None:
        """`standing` tells what of notebooks stands with a session in a context of so many tokens."""
        self._standing = standing
        self.cuts: Listeners[UUID] = Listeners()
        self.renewed: Listeners[str] = Listeners()
        """Told the persona of whom something was forgotten or edited."""
        self._chats = chats
        self._state = state
        self._preferences = preferences
        self._counting = counting
        self._hindsight = PastSessions(chats, facts, preferences, counting)
        self._renewals: Counter[str] = Counter()
        """How often what is known of a persona was changed by the user."""
        self._made: dict[UUID, object] = {}
        """What each session's frame was made under since the program started; one from before is made anew, for it may not
        know what was forgotten last."""
        self._writing = asyncio.Lock()
        self.explained: Explained = _nothing
        """Set by `composition`."""

    async def prefix_of(self, session: ChatSession, cast: Participants, model: LoadedModel) -> StablePrefix:
        """The one the session has, or a new one."""
        frame = await self._of(session, cast, model)
        return frame.model_copy(update={"tools": await self.explained(cast.persona, model)})

    async def _of(self, session: ChatSession, cast: Participants, model: LoadedModel) -> StablePrefix:
        kept = await self.kept(session.guid)
        if kept is None or kept.context != model.context or not await self._is_there(kept.first):
            fresh = await self._begun(session, model)
            return await self._make(session, cast, model, fresh, await self._chosen(session, model) if not fresh.first else [])
        if self._made.get(session.guid) == self._terms(session):
            return kept
        earlier = kept.earlier
        if kept.handling is not self._preferences.current.session_handling:
            earlier = await self._chosen(session, model) if kept.first is None else []
        return await self._make(session, cast, model, kept.model_copy(update={"rolling": kept.summaries_before}), earlier)

    async def kept(self, session_id: UUID) -> StablePrefix | None:
        """The frame as it was last made, if it can still be understood."""
        try:
            return StablePrefix.model_validate(await self._state.get(session_id, FRAME))
        except ValidationError:
            return None

    async def renew(self, persona_id: str) -> None:
        """Something was forgotten or edited: what stands still is made anew with the next prompt. History stays cut."""
        self._renewals[persona_id] += 1
        self.renewed.tell(persona_id)

    async def drop(self, session_id: UUID) -> None:
        """Words that had left the history were changed or deleted: nothing that was told of them stands, it begins anew."""
        async with self._writing:
            await self._state.set(session_id, FRAME, None)

    async def cut(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        frame: StablePrefix,
        history: Sequence[Message],
        dropped: int,
    ) -> StablePrefix:
        """The oldest `dropped` messages have no room: earlier sessions leave whole, the present one is summed up."""
        left, stays = history[:dropped], history[dropped]
        if stays.session_id != session.guid:  # only earlier sessions are affected; none is cut in two
            gone = {message.session_id for message in left}
            return await self._make(session, cast, model, frame, [guid for guid in frame.earlier if guid not in gone])
        lines = await self.between(session.guid, frame.first, stays.id)
        rolling = await asyncio.to_thread(digest.rolling, lines, frame.summaries_before, longest(model.context))
        made = await self._make(
            session, cast, model, frame.model_copy(update={"first": stays.id, "rolling": rolling}), [], was=frame.first
        )
        self.cuts.tell(session.guid)
        return made

    async def between(self, session_id: UUID, first: UUID | None, end: UUID) -> list[Utterance]:
        """What was said from one message on, or from the beginning, up to another one, which is left out."""
        places = {entry.id: place for place, entry in enumerate(await self._chats.outline(session_id))}
        begin = places.get(first, 0) if first is not None else 0
        return aloud(await self._chats.page(session_id, begin, max(places.get(end, 0) - begin, 0)))

    async def set_recap(self, session_id: UUID, reaches: UUID, text: str) -> None:
        """What a trusted model tells of all that was said before the message `reaches`. The prompt is not changed by it yet."""
        async with self._writing:
            frame = await self.kept(session_id)
            if frame is not None and frame.first is not None:
                better = frame.model_copy(update={"recap": text, "recapped": reaches})
                await self._state.set(session_id, FRAME, better.model_dump(mode="json"))

    async def _make(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        frame: StablePrefix,
        earlier: Sequence[UUID],
        was: UUID | None = None,
    ) -> StablePrefix:
        """The frame with all that stands still as it is now; `earlier` are the sessions that are there word for word."""
        terms = self._terms(session)
        before = await self._hindsight.before(session)
        there, whole = {one.guid for one in before}, set(earlier)
        rolling = (await self._counting.count([f"{PRESENT}\n{frame.rolling}"]))[0] + 2 if frame.rolling else 0
        rest = [one for one in before if one.guid not in whole]
        standing = await self._standing(session, model.context)
        room = int(model.context * CAPS[PromptPart.SUMMARIES]) - rolling - standing.tokens
        made = frame.model_copy(
            update={
                "handling": self._preferences.current.session_handling,
                "earlier": [guid for guid in earlier if guid in there],
                "summaries": await self._hindsight.summaries(rest, cast, room),
                "facts": standing.not_said(await self._core(session, cast, model)),
                "notebook": standing.notebook,
                "lately": standing.lately,
            }
        )
        async with self._writing:
            kept = await self.kept(session.guid)
            if kept is not None and kept.first == (was or made.first):  # a recap that came meanwhile is not lost
                made = made.model_copy(update={"recap": kept.recap, "recapped": kept.recapped})
            await self._state.set(session.guid, FRAME, made.model_dump(mode="json"))
            self._made[session.guid] = terms
        return made

    async def _core(self, session: ChatSession, cast: Participants, model: LoadedModel) -> list[Frozen]:
        return await self._hindsight.core(cast, int(model.context * CAPS[PromptPart.FACTS]), session.guid)

    async def _begun(self, session: ChatSession, model: LoadedModel) -> StablePrefix:
        """Where no history was cut yet. What is so far back that no prompt reads it is summed up all the same."""
        most = max(model.context // SHORTEST_TURN, 1)
        outline = await self._chats.outline(session.guid) if session.leaf_id else []
        if len(outline) <= most:
            return StablePrefix(context=model.context)
        first = outline[-most].id
        lines = await self.between(session.guid, None, first)
        rolling = await asyncio.to_thread(digest.rolling, lines, "", longest(model.context))
        return StablePrefix(context=model.context, first=first, rolling=rolling)

    async def _chosen(self, session: ChatSession, model: LoadedModel) -> list[UUID]:
        if self._preferences.current.session_handling is SessionHandling.CURRENT_ONLY:
            return []
        before = await self._hindsight.before(session)
        return await self._hindsight.fitting(before, int(model.context * EARLIER))

    async def _is_there(self, first: UUID | None) -> bool:
        """Can the history still begin with that message?"""
        if first is None:
            return True
        try:
            await self._chats.message(first)
        except StorageError:
            return False
        return True

    def _terms(self, session: ChatSession) -> object:
        """Whatever a change of makes frames anew."""
        settings = self._preferences.current
        return (
            self._renewals[session.persona_id],
            settings.session_handling,
            settings.session_memory_system,
            settings.session_reserved_tokens,
            settings.fact_retrieval,
            settings.core_facts_tokens,
            settings.notebooks,
        )


def longest(context: int) -> int:
    """Characters a rolling summary may have in a context of so many tokens."""
    return max(LEAST_ROLLING, int(context * ROLLING))
