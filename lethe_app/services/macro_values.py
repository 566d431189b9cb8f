"""Values of the macros that have to be looked up: `{{memory:title}}` and `{{idle_duration}}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from lethe_app.brain.dates import elapsed
from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryUnit
from lethe_app.prompt.macros import Scene
from lethe_app.services.casting import Cast
from lethe_app.services.foreign import Foreign
from lethe_app.services.holdings import Holdings
from lethe_app.services.lore import LoreKeeping
from lethe_app.storage.chats import Chats

NEAR_END = 64
"""Messages from the end of a conversation among which the user's newest one is looked for."""
_TITLED = re.compile(r"\{\{\s*memory\s*(?:::?|\s)\s*([^{}]+?)\s*\}\}", re.IGNORECASE)
_IDLE = re.compile(r"\{\{\s*idle_duration\s*\}\}", re.IGNORECASE)


class Fill(Protocol):
    """Completes a scene with the values that its texts ask for."""

    async def __call__(
        self, scene: Scene, session: ChatSession, cast: Cast, texts: Iterable[str], asked: Message | None = None
    ) -> Scene:
        """`asked` is the user's message that is answered; None where it is not stored yet."""


async def unfilled(
    scene: Scene, _session: ChatSession, _cast: Cast, _texts: Iterable[str], _asked: Message | None = None
) -> Scene:
    """Leaves the scene as it is."""
    return scene


class MacroValues:
    """Reads nothing for texts that do not use these macros."""

    def __init__(self, chats: Chats, holdings: Holdings, keeping: LoreKeeping, foreign: Foreign) -> None:
        self._chats = chats
        self._holdings = holdings
        self._keeping = keeping
        self._foreign = foreign

    async def fill(
        self, scene: Scene, session: ChatSession, cast: Cast, texts: Iterable[str], asked: Message | None = None
    ) -> Scene:
        """The scene with the memories that the texts name and the time since the user wrote before."""
        whole = "\n".join(texts)
        titles = list(dict.fromkeys(_TITLED.findall(whole)))
        if titles:
            scene = replace(scene, memory=await self._memories(session, cast, titles))
        if _IDLE.search(whole):
            scene = replace(scene, idle=await self._idle(session, asked))
        return scene

    async def _idle(self, session: ChatSession, asked: Message | None) -> timedelta:
        """From the user's message before `asked`, in whatever conversation with the persona; zero where there is none."""
        if asked is not None:
            before = (await self._chats.standing(asked.id)).heard_before
            return max(timedelta(), elapsed(before, asked.time)) if before is not None else timedelta()
        said = await self._chats.tail(session.guid, NEAR_END) if session.leaf_id is not None else []
        times = [message.time for message in said if message.role is Role.USER and not message.hidden]
        times = times[-1:] or [one.last_activity for one in await self._chats.before(session, 1)]
        return max(timedelta(), elapsed(max(times), now())) if times else timedelta()

    async def _memories(self, session: ChatSession, cast: Cast, titles: Sequence[str]) -> Callable[[str], str | None]:
        """Finds the text of the named memories; a title may be a part of the whole one."""
        bound = await self._keeping.bound(cast, session.guid)
        entries = [entry for world in bound.worlds.values() for entry in world.entries]
        held = [*entries, *await self._holdings.of(session.persona_id)]
        found: dict[str, str] = {}
        for title in titles:
            wanted = title.casefold()
            memory = _best(wanted, [(one.name, one) for one in held])
            talks = [one for one in await self._chats.sessions(session.persona_id) if one.guid != session.guid]
            talk = _best(wanted, [(one.title, one) for one in reversed(talks)])
            is_nearer = memory is None or (talk is not None and talk.title.casefold() == wanted != memory.name.casefold())
            if talk is not None and is_nearer:
                found[wanted] = (await self._chats.session(talk.guid)).content
            elif memory is not None:
                found[wanted] = await self._told(memory)
        return lambda title: found.get(title.casefold())

    async def _told(self, memory: MemoryUnit) -> str:
        return await self._foreign.told(memory) if memory.is_from_web else memory.content


def _best[T](wanted: str, named: Sequence[tuple[str, T]]) -> T | None:
    """The one of that very title, or else the first with it in its title."""
    same = (one for name, one in named if name.casefold() == wanted)
    return next(same, next((one for name, one in named if wanted in name.casefold()), None))
