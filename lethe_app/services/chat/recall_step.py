"""What comes before a reply: everything the user's last words bring to mind, and what they ask to have looked up."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message, Role
from lethe_app.domain.model import LoadedModel
from lethe_app.services.events import NoteAdded, Recalled, Searching, Withdrawn
from lethe_app.services.memory.recall import RecallService
from lethe_app.services.participants import Participants
from lethe_app.services.web.chat_lookup import looked_up
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.memory.turn_memories import TurnMemories

LOOK_BACK = 64
"""Messages among which the user's last words are looked for: replies and hidden lines may lie behind them."""
LookUp = Callable[[ChatSession, Participants, Message], AsyncGenerator[Searching | NoteAdded]]


async def _nothing(_session: ChatSession, _cast: Participants, _message: Message) -> AsyncGenerator[Searching | NoteAdded]:
    return
    yield


class RecallStep:
    """Once for each message of the user's: for a reply that is written anew, it is the same as the first time.

    Unless the user has said it in other words since then: that is a new message, and what was looked up for the old one goes.
    """

    def __init__(self, chats: Chats, turns: TurnMemories, recollecting: RecallService) -> None:
        self._chats = chats
        self._turns = turns
        self._recollecting = recollecting
        self.look_up: LookUp = _nothing
        """Searches the internet where the message wants it; set by `composition`."""

    async def of_turn(
        self, session: ChatSession, cast: Participants, before: UUID | None, model: LoadedModel
    ) -> AsyncGenerator[Searching | NoteAdded | Withdrawn | Recalled]:
        """For the reply after the newest message, or after the history above `before`."""
        asked = await self._last_words(session, before)
        if asked is None:
            return
        known = await self._recollecting.again(asked.id)
        if known is not None:
            yield Recalled(asked.id, known)
            return
        is_reworded = await self._turns.is_reworded(asked.id)
        if is_reworded and (stale := await self._looked_up_above(asked)):
            await self._chats.delete_message(*stale)
            yield Withdrawn(stale)
        remembered = await self._recollecting.of_turn(session, cast, asked, model)
        if remembered.note is not None:
            yield NoteAdded(remembered.note, asked.id)
        yield Recalled(asked.id, remembered.memory)
        if before is not None and not is_reworded:
            return  # another wording of a reply: what was looked up stands there already
        async with aclosing(self.look_up(session, cast, asked)) as looking:
            async for event in looking:
                yield event

    async def _looked_up_above(self, asked: Message) -> tuple[UUID, ...]:
        """The hidden lines right above a message that tell what was looked up for it."""
        found: list[UUID] = []
        for line in reversed(await self._chats.tail(asked.session_id, LOOK_BACK, asked.id)):
            if not line.hidden:
                break
            if looked_up(line) is not None:
                found.append(line.id)
        return tuple(found)

    async def _last_words(self, session: ChatSession, before: UUID | None) -> Message | None:
        """The user's newest message above the reply to be."""
        for message in reversed(await self._chats.tail(session.guid, LOOK_BACK, before)):
            if message.role is Role.USER and not message.hidden:
                return message
        return None
