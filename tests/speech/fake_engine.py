"""Speech engine that makes no sound: it notes what is spoken, and each sentence lasts until the test ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from lethe_app.errors import SpeechError, SpeechUnavailable
from lethe_app.services.speech.voices import PreparedSentence, SpokenSentence, Voice

ADA, BEN = Voice("system:en:Ada", "Ada", "en"), Voice("system:de:Ben", "Ben", "de")


class FakeEngine:
    """Engine with two voices. With `is_instant` sentences end at once, otherwise by `end_sentence`."""

    prefix = "system:"

    def __init__(self, *, is_instant: bool = True, problem: SpeechUnavailable | None = None) -> None:
        self.is_instant, self.problem = is_instant, problem
        self.prepared: list[SpokenSentence] = []
        self.played: list[SpokenSentence] = []
        self.cut_off: list[str] = []
        """Sentences that were silenced."""
        self.unspeakable: set[str] = set()
        self.is_closed = False
        self._end: asyncio.Future[None] | None = None

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.played]

    @property
    def is_playing(self) -> bool:
        return self._end is not None

    async def list_voices(self) -> Sequence[Voice]:
        if self.problem is not None:
            raise self.problem
        return (ADA, BEN)

    async def prepare(self, sentence: SpokenSentence) -> PreparedSentence:
        self.prepared.append(sentence)
        if sentence.text in self.unspeakable:
            raise SpeechError("Unspeakable.")
        return PreparedSentence(sentence)

    async def play(self, prepared: PreparedSentence) -> None:
        self.played.append(prepared.sentence)
        if self.is_instant:
            return
        self._end = asyncio.get_running_loop().create_future()
        try:
            await self._end
        finally:
            self._end = None

    def end_sentence(self) -> None:
        self._end.set_result(None)

    def stop(self) -> None:
        if self._end is not None and not self._end.done():
            self.cut_off.append(self.played[-1].text)
            self._end.set_result(None)

    async def close(self) -> None:
        self.is_closed = True
