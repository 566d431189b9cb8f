"""Storage of a reply during generation: with its first words, every few seconds, and at its end."""

from __future__ import annotations

import asyncio
import logging
import time
from enum import Enum, auto
from functools import partial

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.participants import Participants
from lethe_app.storage.chats.replies import Replies, ReplyReceipt

log = logging.getLogger(__name__)

CHECKPOINT_SECONDS = 0.5
"""Seconds of generated text that a crash of the machine may lose."""


class ReplyKind(Enum):
    """Type of what is generated."""

    REPLY = auto()
    """New message."""
    ALTERNATIVE = auto()
    """Another alternative of an existing message."""
    CONTINUATION = auto()
    """Continuation of the displayed alternative."""


class ReplyWriter:
    """Store one reply during generation. Nothing is stored before the first word."""

    def __init__(self, replies: Replies, message: Message, kind: ReplyKind) -> None:
        self._replies = replies
        self.message = message
        """Message as it is stored, or as it will be."""
        self._kind = kind
        self._position = message.shown if kind is ReplyKind.CONTINUATION else None
        self._stored_at = 0.0
        self._write_task: asyncio.Task[None] | None = None

    @property
    def is_stored(self) -> bool:
        """True if the message is stored, with or without this alternative."""
        return self._kind is not ReplyKind.REPLY or self._position is not None

    def set_speaker(self, persona: Persona) -> None:
        """Set the speaker's name of a new reply."""
        if self._kind is ReplyKind.REPLY:
            self.message = self.message.model_copy(update={"speaker_name": persona.name})

    async def checkpoint(self, alternative: Alternative) -> None:
        """Store the alternative unless that was done less than `CHECKPOINT_SECONDS` ago."""
        if time.monotonic() - self._stored_at >= CHECKPOINT_SECONDS:
            await self.store_alternative(alternative)

    async def store_alternative(self, alternative: Alternative, receipt: ReplyReceipt | None = None) -> None:
        """Store the alternative; the last call also stores the receipt of its prompt.

        A write under way is awaited first, because a stop may arrive during it.
        """
        if self._write_task is not None:
            await asyncio.wait([self._write_task])
        self._write_task = asyncio.ensure_future(self._write(alternative, receipt))
        await asyncio.shield(self._write_task)

    async def _write(self, alternative: Alternative, receipt: ReplyReceipt | None) -> None:
        store = partial(self._replies.store, self.message, self._position, alternative, is_new=self._kind is ReplyKind.REPLY)
        try:
            self.message, self._position = await store(receipt=receipt)
        except LetheError as error:
            if receipt is None:
                raise
            log.warning("The receipt of a reply could not be stored: %s", error)  # the reply itself matters more
            self.message, self._position = await store()
        self._stored_at = time.monotonic()


def create_user_message(session: ChatSession, participants: Participants, text: str) -> Message:
    """Return a message of the user, to be stored."""
    return Message(
        session_id=session.guid,
        role=Role.USER,
        speaker=participants.user.unique_name,
        speaker_name=participants.user.name,
        alternatives=[Alternative(content=text)],
    )
