"""Knows what stands in the system prompt whatever the user will say next, so that reading ahead reads the right beginning."""

from __future__ import annotations

from datetime import datetime

from lethe_app.domain.chat import ChatSession, Role
from lethe_app.domain.clock import now
from lethe_app.domain.recall import RecallWay, Recollection, TurnMemory
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.memory.lore import LoreKeeping, entry_recollection
from lethe_app.services.participants import Participants
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.memory.turn_memories import TurnMemories

SYSTEM = -1
"""Position of what stands in the system prompt."""
LASTING = frozenset({RecallWay.CONSTANT, RecallWay.ACTIVE})
NEAR_END = 4
"""Messages from the end among which the user's newest one is looked for."""


class ExpectedPrefix:
    """A guess that is right unless a word wakes or ends something in the system prompt, and costs nothing when it is wrong."""

    def __init__(self, chats: Chats, turns: TurnMemories, keeping: LoreKeeping) -> None:
        self._chats, self._turns, self._keeping = chats, turns, keeping

    async def prefix_of(self, session: ChatSession, cast: Participants) -> TurnMemory:
        """Of the newest turn what lasts; before the first one, what is always there."""
        tail = await self._chats.tail(session.guid, NEAR_END)
        newest = next((message for message in reversed(tail) if message.role is Role.USER), None)
        memory = await self._turns.get(newest.id) if newest is not None else None
        recalled = memory.recalled if memory is not None else await self._constants(session, cast)
        return TurnMemory(recalled=[one for one in recalled if one.position_index == SYSTEM and one.way in LASTING])

    async def _constants(self, session: ChatSession, cast: Participants) -> list[Recollection]:
        bound = await self._keeping.bound(cast, session.guid)
        moment = now()
        return [
            entry_recollection(world, entry, RecallWay.CONSTANT, [])
            for world in bound.worlds.values()
            for entry in world.entries
            if is_surely_there(entry, moment)
        ]


def is_surely_there(entry: WorldEntry, moment: datetime) -> bool:
    """Does it come in a conversation's first turn, whatever is said and drawn?"""
    return entry.sticky and entry.enabled and entry.is_due(moment) and entry.trigger_chance >= 1 and not entry.delay
