"""Values of the macros that read from memory: `{{memory:title}}` and `{{idle_duration}}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from lethe_app.brain.dates.arithmetic import elapsed
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.prompt.macros import MacroContext
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.lore import LoreService
from lethe_app.services.participants import Participants
from lethe_app.services.prompting.macro_values import MacroPosition
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.chats.sessions import SessionStore

T = TypeVar("T")

NEAR_END = 64
"""Messages from the end of a session among which the user's newest message is looked for."""
_TITLED = re.compile(r"\{\{\s*memory\s*(?:::?|\s)\s*([^{}]+?)\s*\}\}", re.IGNORECASE)
_IDLE = re.compile(r"\{\{\s*idle_duration\s*\}\}", re.IGNORECASE)


class MacroValues:
    """Look up macro values. Texts that do not use these macros cost no read."""

    def __init__(
        self, session_store: SessionStore, memory_cache: MemoryCache, lore: LoreService, untrusted_memories: UntrustedMemories
    ) -> None:
        self._session_store = session_store
        self._memory_cache = memory_cache
        self._lore = lore
        self._untrusted_memories = untrusted_memories
        self._begun: dict[UUID, timedelta] = {}
        """Idle time before each session as its first prompt had it, by session, so that the stable prefix does not change."""

    async def fill(self, scene: MacroContext, place: MacroPosition, texts: Iterable[str]) -> MacroContext:
        """Return the macro context with the memories that the texts name, and the time since the user's previous message."""
        whole = "\n".join(texts)
        titles = list(dict.fromkeys(_TITLED.findall(whole)))
        if titles:
            scene = replace(scene, memory=await self._memories(place.session, place.cast, titles))
        if _IDLE.search(whole):
            known = self._begun.get(place.session.guid) if place.at_beginning else None
            scene = replace(scene, idle=await self._idle(place) if known is None else known)
            if place.at_beginning:
                self._begun[place.session.guid] = scene.idle
        return scene

    async def _idle(self, place: MacroPosition) -> timedelta:
        """Return the time since the user's message before this one, in any session with the persona; zero if there is none."""
        session = place.session
        asked = None if place.at_beginning else await self._newest(session, place.before)
        if asked is not None and place.is_answer:
            before, until = (await self._session_store.standing_of(asked.id)).previous_user_time, asked.time
        elif asked is not None:
            before, until = asked.time, now()
        else:
            earlier = [
                await self._newest(await self._session_store.session(one.guid))
                for one in await self._session_store.sessions_before(session, 1)
            ]
            times = [message.time for message in earlier if message is not None]
            before, until = max(times, default=None), session.added
        return max(timedelta(), elapsed(before, until)) if before is not None else timedelta()

    async def _newest(self, session: ChatSession, before: UUID | None = None) -> Message | None:
        """Return the user's newest message above `before`; None if it is not near the end."""
        said = await self._session_store.newest_messages(session.guid, NEAR_END, before) if session.leaf_id is not None else []
        return next((one for one in reversed(said) if one.role is Role.USER and not one.hidden), None)

    async def _memories(self, session: ChatSession, cast: Participants, titles: Sequence[str]) -> Callable[[str], str | None]:
        """Return a function that finds a memory's text by a part of its title: of several the oldest, so that a new one does
        not change existing prompts.
        """
        bound = await self._lore.bound(cast, session.guid)
        entries = [entry for world in bound.worlds.values() for entry in world.entries]
        held = [*entries, *reversed(await self._memory_cache.memories_of(session.persona_id))]
        talks = [one for one in await self._session_store.sessions(session.persona_id) if one.guid != session.guid]
        found: dict[str, str] = {}
        for title in titles:
            wanted = title.casefold()
            memory = _best(wanted, [(one.name, one) for one in held])
            talk = _best(wanted, [(one.title, one) for one in reversed(talks)])
            # A session with exactly that title takes precedence over a memory whose title only contains it.
            is_nearer = memory is None or (talk is not None and talk.title.casefold() == wanted != memory.name.casefold())
            if talk is not None and is_nearer:
                found[wanted] = (await self._session_store.session(talk.guid)).content
            elif memory is not None:
                found[wanted] = await self._told(memory)
        return lambda title: found.get(title.casefold())

    async def _told(self, memory: MemoryUnit) -> str:
        return await self._untrusted_memories.quoted_text(memory) if memory.is_from_web else memory.content


def _best(wanted: str, named: Sequence[tuple[str, T]]) -> T | None:
    """Return the item with exactly that title, or else the first whose title contains it."""
    same = (one for name, one in named if name.casefold() == wanted)
    return next(same, next((one for name, one in named if wanted in name.casefold()), None))
