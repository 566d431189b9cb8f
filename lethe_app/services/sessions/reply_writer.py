"""Where a growing reply lies on disk: written with its first words, again every few seconds, and when it ends."""

from __future__ import annotations

import asyncio
import time
from enum import Enum, auto

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.persona import Persona
from lethe_app.services.participants import Participants
from lethe_app.storage.chats.sessions import Chats

CHECKPOINT_SECONDS = 2.0
"""What a crash of the whole machine may cost of a reply."""


class ReplyKind(Enum):
    """What is being written."""

    REPLY = auto()
    """A new message."""
    ALTERNATIVE = auto()
    """Another wording of a message that exists."""
    CONTINUATION = auto()
    """More of the wording on display."""


class ReplyWriter:
    """One reply on its way to disk. Nothing is stored before there is a word to store."""

    def __init__(self, chats: Chats, message: Message, kind: ReplyKind) -> None:
        self._chats = chats
        self.message = message
        self._kind = kind
        self._position = message.shown if kind is ReplyKind.CONTINUATION else -1
        self._kept_at = 0.0
        self._underway: asyncio.Task[None] | None = None

    @property
    def is_stored(self) -> bool:
        """Is its message on disk, with or without this wording?"""
        return self._kind is not ReplyKind.REPLY or self._position >= 0

    def speak_as(self, persona: Persona) -> None:
        """A new reply bears the name that its speaker has when it begins."""
        if self._kind is ReplyKind.REPLY:
            self.message = self.message.model_copy(update={"speaker_name": persona.name})

    async def checkpoint(self, wording: Alternative) -> None:
        """Store the wording unless that was done a moment ago."""
        if time.monotonic() - self._kept_at >= CHECKPOINT_SECONDS:
            await self.store_wording(wording)

    async def store_wording(self, wording: Alternative) -> None:
        """Store the wording now, after whatever is still on its way to disk: a stop may come in the middle of a write."""
        if self._underway is not None:
            await asyncio.wait([self._underway])
        self._underway = asyncio.ensure_future(self._write(wording))
        await asyncio.shield(self._underway)

    async def _write(self, wording: Alternative) -> None:
        if self._position >= 0:
            await self._chats.replace_alternative(self.message.id, self._position, wording)
        elif self._kind is ReplyKind.REPLY:
            self.message = await self._chats.add_message(self.message.model_copy(update={"alternatives": [wording]}))
            self._position = 0
        else:
            self._position = await self._chats.save_alternative(self.message.id, wording)
        self._kept_at = time.monotonic()

    async def stored(self) -> Message:
        """The message as it is on disk now."""
        return await self._chats.message(self.message.id)


def spoken_by_user(session: ChatSession, cast: Participants, text: str) -> Message:
    """The user's message as it is stored."""
    return Message(
        session_id=session.guid,
        role=Role.USER,
        speaker=cast.user.unique_name,
        speaker_name=cast.user.name,
        alternatives=[Alternative(content=text)],
    )
