"""Remembers which memories were told in a conversation, so that nothing is brought up that stands there word for word."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.errors import StorageError
from lethe_app.services.prompting.stable_prefix import StablePrefix
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import SessionState

TOLD = "told"
"""Key of a session's state: memories, and the hidden line in which each was told last."""
_TOLD = TypeAdapter(dict[UUID, UUID])


class AnnouncedMemories:
    """What has left the prompt, or was deleted, counts as told no longer: it may be brought up as any other memory."""

    def __init__(self, chats: Chats, state: SessionState) -> None:
        self._chats = chats
        self._state = state

    async def noted(self, session_id: UUID, memories: Collection[UUID], line: Message) -> dict[str, object]:
        """The session's state once these memories are told in this hidden line; nothing is stored."""
        told = {**await self._lines(session_id), **dict.fromkeys(memories, line.id)}
        return {TOLD: _TOLD.dump_python(told, mode="json") or None}

    async def in_sight(
        self, session: ChatSession, frame: StablePrefix | None, before: UUID | None, history: Sequence[Message]
    ) -> frozenset[UUID]:
        """The memories whose lines are in the prompt of a message; `history` is the newest part of what stands above it.

        `before` is that message, None if it is not stored.
        """
        told = await self._lines(session.guid)
        near = {message.id for message in history}
        first = frame.first if frame else None
        if told and (first in near or not near.issuperset(told.values())):  # else none of it can have left
            near = await self._visible(session.guid, first, before)
        earlier = [await self._lines(guid) for guid in (frame.earlier if frame else ())]
        return frozenset({memory for memory, line in told.items() if line in near}.union(*earlier))

    async def _visible(self, session_id: UUID, first: UUID | None, before: UUID | None) -> set[UUID]:
        """The messages of a conversation from the one with which its history begins."""
        try:
            ids = [message.id for message in await self._chats.outline(session_id)]
        except StorageError:
            return set()
        end = ids.index(before) if before in ids else len(ids)
        start = ids.index(first) if first in ids[:end] else 0
        return set(ids[start:end])

    async def _lines(self, session_id: UUID) -> dict[UUID, UUID]:
        """The line of each memory."""
        try:
            return _TOLD.validate_python(await self._state.get(session_id, TOLD) or {})
        except ValidationError:
            return {}
