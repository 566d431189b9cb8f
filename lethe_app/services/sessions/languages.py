"""Languages of messages: detected when a message is stored, by the language model of the detector a moment later."""

from __future__ import annotations

import asyncio
import logging

from lethe_app.brain.languages.detection import detect_by_words, detect_language
from lethe_app.brain.languages.identifier import release_model
from lethe_app.brain.languages.requests import find_requested_language
from lethe_app.brain.text.identifiers import redact_identifiers
from lethe_app.domain.chat import Alternative, Message, Role
from lethe_app.errors import LetheError
from lethe_app.services.scheduling.loop import IdleTimer
from lethe_app.storage.chats.session_events import SessionEvents
from lethe_app.storage.database import Database

log = logging.getLogger(__name__)

RELEASE_AFTER = 60.0
"""Seconds without a detection after which the language model is freed: it takes 65 MB, and a second to load."""


class MessageLanguages:
    """Detects the languages of messages and records when a session switches to another one.

    What frequent words do not tell is asked of a language model in a thread, after the message was stored: neither storing nor
    the reply waits for it. The persona is not told of a switch: the newest message is the nearest to the reply and is written
    in the new language, or asks for it, while a line in the system prompt would have the whole prompt evaluated again.
    """

    def __init__(self, database: Database) -> None:
        self._events = SessionEvents(database)
        self._detections: set[asyncio.Task[None]] = set()
        self._model = IdleTimer(_release_model)
        self.events_of = self._events.events_of
        """Return the switches of mode and language in a session. Raise StorageError."""

    def note_stored(self, message: Message) -> None:
        """Detect the language of the displayed text of a stored message in the background, if its words do not tell it."""
        if message.hidden or message.current.language or detect_by_words(message.content) is not None:
            return
        task = asyncio.create_task(self._detect(message))
        self._detections.add(task)
        task.add_done_callback(self._detections.discard)

    async def finish(self) -> None:
        """Wait until the languages of all stored messages are known."""
        while self._detections:
            await asyncio.wait(set(self._detections))

    async def _detect(self, message: Message) -> None:
        with self._model.in_use(lambda: RELEASE_AFTER):
            try:
                language = await asyncio.to_thread(detect_language, message.content)
                if language:
                    requested = find_requested_language(message.content) if message.role is Role.USER else ""
                    await self._events.set_language(message.id, message.content, language, requested)
            except (LetheError, ImportError, OSError) as error:
                log.info("The language of a message could not be detected: %s", error)


async def _release_model() -> None:
    release_model()


def describe_text(alternative: Alternative) -> Alternative:
    """Return the alternative with what its text tells: the language, as far as frequent words show it, and whether it contains
    what identifies a person.
    """
    text = alternative.content
    return alternative.model_copy(
        update={"language": detect_by_words(text) or "", "is_sensitive": redact_identifiers(text) != text}
    )
