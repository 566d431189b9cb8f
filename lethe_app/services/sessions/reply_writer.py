"""Storage of a reply during generation: with its first words, twice a second, and at its end. One that was
interrupted stays incomplete."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from enum import Enum, auto
from functools import partial

from lethe_app.domain.chat import Alternative, Degradation, DegradationKind, Message
from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.services.sessions.languages import describe_text
from lethe_app.storage.chats.receipts import ReplyReceipt
from lethe_app.storage.chats.sessions import SessionStore

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

    def __init__(
        self,
        session_store: SessionStore,
        message: Message,
        kind: ReplyKind,
        requested_at: float,
        on_complete: Callable[[Message], None] = lambda _message: None,
    ) -> None:
        """Create a writer of a reply that was requested at the time `requested_at` of `time.monotonic`; `on_complete` receives
        the message at the end of generation.
        """
        self._session_store = session_store
        self._on_complete = on_complete
        self._requested_at = requested_at
        self._first_text_at: float | None = None
        self._degradations: list[Degradation] = []
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

    def note_degradation(self, kind: DegradationKind, **values: str | int) -> None:
        """Record once that something was left out of the reply, or failed."""
        degradation = Degradation(kind=kind, values=values)
        if degradation not in self._degradations:
            self._degradations.append(degradation)

    async def checkpoint(self, alternative: Alternative) -> None:
        """Store the alternative unless that was done less than `CHECKPOINT_SECONDS` ago."""
        self._first_text_at = self._first_text_at or time.monotonic()
        if time.monotonic() - self._stored_at >= CHECKPOINT_SECONDS:
            await self.store_alternative(alternative)

    async def store_generated(self, alternative: Alternative, receipt: ReplyReceipt | None) -> None:
        """Store what was generated, with what its text tells, its latency, and what was left out."""
        ended_at = time.monotonic()
        measured = {
            "first_token_ms": round(1000 * ((self._first_text_at or ended_at) - self._requested_at)),
            "total_ms": round(1000 * (ended_at - self._requested_at)),
            "degradations": list(self._degradations),
        }
        await self.store_alternative(describe_text(alternative).model_copy(update=measured), receipt)
        self._on_complete(self.message)

    async def store_alternative(self, alternative: Alternative, receipt: ReplyReceipt | None = None) -> None:
        """Store the alternative; the last call also stores the receipt of its prompt.

        A write under way is awaited first, because a stop may arrive during it.
        """
        if self._write_task is not None:
            await asyncio.wait([self._write_task])
        self._write_task = asyncio.ensure_future(self._write(alternative, receipt))
        await asyncio.shield(self._write_task)

    async def _write(self, alternative: Alternative, receipt: ReplyReceipt | None) -> None:
        if not self.is_stored:  # on a slow computer the first words come minutes after the request
            self.message = self.message.model_copy(update={"time": now()})
        store = partial(
            self._session_store.store_reply, self.message, self._position, alternative, is_new=self._kind is ReplyKind.REPLY
        )
        try:
            self.message, self._position = await store(receipt=receipt)
        except LetheError as error:
            if receipt is None:
                raise
            log.warning("The receipt of a reply could not be stored: %s", error)  # the reply itself matters more
            self.message, self._position = await store()
        self._stored_at = time.monotonic()
