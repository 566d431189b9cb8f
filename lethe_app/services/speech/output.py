"""Spoken output: sentences of a reply, spoken one after the other while it is still being written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from lethe_app.config.options import SpokenActions
from lethe_app.errors import LetheError, SpeechError, SpeechUnavailable
from lethe_app.services.events import Listeners
from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.voices import PreparedSentence, SpeechEngine, SpokenSentence, Voice
from lethe_app.speech.markup import SegmentKind, SpeechSegment
from lethe_app.speech.sentence_cutter import SentenceCutter

log = logging.getLogger(__name__)

WARM_UP = "Yes."
"""Word that is synthesised but not heard, so that a voice is loaded."""


@dataclass(frozen=True)
class SpokenText:
    """Text that is being spoken."""

    message_id: UUID | None
    """Message that it belongs to; None for the sample of a voice."""
    voice_id: str
    """Voice of its speaker; empty for the default."""


class SpeechOutput:
    """Queue of texts and their sentences. The next sentence is synthesised while one is playing.

    Use it from one event loop, and close it before that loop closes.
    """

    def __init__(self, engines: Sequence[SpeechEngine], preferences: Preferences) -> None:
        self._engines, self._preferences = engines, preferences
        self.speaking_changed: Listeners[bool] = Listeners()
        """Emits True when a text begins to be spoken, and False when the last one has ended or was stopped."""
        self.failed: Listeners[LetheError] = Listeners()
        """Emits why a text cannot be spoken; the same reason once."""
        self._text: SpokenText | None = None
        """Text that is being added to; None if none is."""
        self._cutter = SentenceCutter()
        self._segments: asyncio.Queue[SpeechSegment | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        """Task that speaks that text, from its first sentence on."""
        self._tasks: dict[asyncio.Task[None], SpokenText] = {}
        """Texts that are being spoken or wait for their turn, in order."""
        self._playing: SpeechEngine | None = None
        self._problems: set[str] = set()

    # Texts

    @property
    def is_speaking(self) -> bool:
        """Return whether a text is being spoken."""
        return bool(self._tasks)

    def is_message_spoken(self, message_id: UUID) -> bool:
        """Return whether a message is being spoken, or added to."""
        texts = [*self._tasks.values(), *([self._text] if self._text is not None else [])]
        return any(text.message_id == message_id for text in texts)

    def begin_text(self, message_id: UUID | None, voice_id: str = "", *, follows: bool = False) -> None:
        """Begin a text, whose parts follow by `add_text`. What is being spoken is stopped, unless the text `follows` it."""
        if follows:
            self.end_text()
        else:
            self.stop_speaking()
        self._text, self._cutter = SpokenText(message_id, voice_id), SentenceCutter()
        self._segments, self._task = asyncio.Queue(), None

    def add_text(self, delta: str) -> None:
        """Speak the sentences that `delta` completes; ignored after a stop."""
        if self._text is not None:
            self._queue(self._text, self._cutter.feed(delta))

    def end_text(self) -> None:
        """Speak the rest of the text; ignored after a stop."""
        if self._text is not None:
            self._queue(self._text, self._cutter.finish())
            self._segments.put_nowait(None)
            self._text = None

    def speak_text(self, text: str, message_id: UUID | None = None, voice_id: str = "") -> None:
        """Speak a complete text; what is being spoken is stopped."""
        self.begin_text(message_id, voice_id)
        self.add_text(text)
        self.end_text()

    def stop_speaking(self) -> None:
        """Silence the voice at once and drop what was still to be spoken."""
        tasks, self._tasks, self._text = [*self._tasks], {}, None
        playing, self._playing = self._playing, None
        if playing is not None:
            playing.stop()
        for task in tasks:
            task.cancel()
        if tasks:
            self.speaking_changed.notify(False)

    async def close(self) -> None:
        """Stop and end the engines."""
        tasks = [*self._tasks]
        self.stop_speaking()
        if tasks:
            await asyncio.wait(tasks)
        for engine in self._engines:
            await engine.close()

    # Voices

    async def list_voices(self) -> list[Voice]:
        """Return the voices of all engines that can be used."""
        voices: list[Voice] = []
        for engine in self._engines:
            with suppress(SpeechUnavailable):
                voices += await engine.list_voices()
        return voices

    async def list_problems(self) -> dict[str, LetheError]:
        """Return why engines cannot be used, by the prefix of their voices."""
        problems: dict[str, LetheError] = {}
        for engine in self._engines:
            try:
                await engine.list_voices()
            except SpeechUnavailable as error:
                problems[engine.prefix] = error
        return problems

    async def connect(self, voice_id: str = "") -> None:
        """Connect the engine of a voice, or of the default one, so that the first sentence need not wait for it.

        Raise SpeechUnavailable if nothing can be spoken.
        """
        engine, voice_id = await self._choose_voice(voice_id, self._preferences.current.speech_voice)
        rate = self._preferences.current.speech_rate
        prepared = await engine.prepare(SpokenSentence(WARM_UP, voice_id, rate, volume=0.0))
        if prepared.audio is not None and not self.is_speaking:
            await engine.play(prepared)  # the first sound takes a second longer than later ones

    async def _choose_voice(self, *wanted_ids: str) -> tuple[SpeechEngine, str]:
        """Return the first of these voices that is available here, or else the default one. Raise SpeechUnavailable."""
        for voice_id in filter(None, wanted_ids):
            for engine in self._engines:
                if voice_id.startswith(engine.prefix):
                    with suppress(SpeechUnavailable):
                        if any(voice.voice_id == voice_id for voice in await engine.list_voices()):
                            return engine, voice_id
        problem: SpeechUnavailable | None = None
        for engine in self._engines:
            try:
                if voices := await engine.list_voices():
                    return engine, voices[0].voice_id
            except SpeechUnavailable as error:
                problem = problem or error
        raise problem or SpeechUnavailable("There is no voice on this computer.")

    # Speaking

    def _queue(self, text: SpokenText, segments: Sequence[SpeechSegment]) -> None:
        if self._preferences.current.spoken_actions is SpokenActions.LEAVE_OUT:
            segments = [segment for segment in segments if segment.kind is not SegmentKind.ACTION]
        for segment in segments:
            self._segments.put_nowait(segment)
        if segments and self._task is None:
            was_speaking, previous = self.is_speaking, next(reversed(self._tasks), None)
            task = self._task = asyncio.get_running_loop().create_task(self._speak(text, self._segments, previous))
            self._tasks[task] = text
            task.add_done_callback(self._on_done)
            if not was_speaking:
                self.speaking_changed.notify(True)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, LetheError):
                self._report(error)
            else:
                task.get_loop().call_exception_handler({"message": "speech failed", "exception": error, "task": task})
        if self._tasks.pop(task, None) is not None and not self._tasks:
            self._playing = None
            self.speaking_changed.notify(False)

    def _report(self, error: LetheError) -> None:
        """Report a problem; one that lasts is reported once."""
        if str(error) not in self._problems:
            self._problems.add(str(error))
            self.failed.notify(error)

    async def _speak(
        self, text: SpokenText, segments: asyncio.Queue[SpeechSegment | None], previous: asyncio.Task[None] | None
    ) -> None:
        """Play the sentences as they are ready, after the text before and until this one ends. Raise SpeechUnavailable."""
        ready: asyncio.Queue[tuple[SpeechEngine, PreparedSentence] | LetheError | None] = asyncio.Queue(maxsize=1)
        preparing = asyncio.get_running_loop().create_task(self._prepare_all(text, segments, ready))
        try:
            if previous is not None:
                await asyncio.wait([previous])
            while (item := await ready.get()) is not None:
                if isinstance(item, LetheError):
                    raise item
                self._playing, prepared = item
                await self._playing.play(prepared)
        finally:
            preparing.cancel()

    async def _prepare_all(
        self,
        text: SpokenText,
        segments: asyncio.Queue[SpeechSegment | None],
        ready: asyncio.Queue[tuple[SpeechEngine, PreparedSentence] | LetheError | None],
    ) -> None:
        """Synthesise the sentences in order; one that cannot be is left out."""
        try:
            while (segment := await segments.get()) is not None:
                try:
                    await ready.put(await self._prepare(text, segment))
                except SpeechUnavailable:
                    raise
                except SpeechError as error:
                    log.info("a sentence is left out: %s", error)
        except LetheError as error:
            await ready.put(error)
        else:
            await ready.put(None)

    async def _prepare(self, text: SpokenText, segment: SpeechSegment) -> tuple[SpeechEngine, PreparedSentence]:
        settings = self._preferences.current
        is_action = segment.kind is SegmentKind.ACTION
        wanted = (settings.narrator_voice,) if is_action else (text.voice_id,)
        engine, voice_id = await self._choose_voice(*wanted, settings.speech_voice)
        sentence = SpokenSentence(segment.text, voice_id, settings.speech_rate, settings.speech_volume)
        return engine, await engine.prepare(sentence)
