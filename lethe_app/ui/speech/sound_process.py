"""Client of the sound process, which starts it when it is first needed and notices its end, and the speech engines over it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress

from lethe_app.errors import SpeechUnavailable
from lethe_app.process_client import ProcessClient
from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.piper_engine import PiperEngine
from lethe_app.services.speech.voices import SYSTEM_PREFIX, PreparedSentence, SpeechEngine, SpokenSentence, Voice
from lethe_app.ui.speech import worker
from lethe_app.ui.speech.worker import (
    ListVoices,
    PlayAudio,
    SayText,
    SilenceAll,
    SoundFailed,
    SoundReport,
    SoundRequest,
    SoundStarted,
    VoicesListed,
)

IDLE_TIMEOUT = 300.0
"""Seconds without a request after which the process is ended; the next request starts it again."""
CRASH_MESSAGE = "The sound process stopped working."


class SoundProcess(ProcessClient):
    """Sound output in a process of its own, for all engines."""

    def __init__(self, engine_name: str = "", idle_timeout: float = IDLE_TIMEOUT) -> None:
        """`engine_name` chooses one of Qt's speech engines, empty for the system's."""
        super().__init__()
        self._engine_name, self._idle_timeout = engine_name, idle_timeout
        self._jobs = itertools.count(1)
        self._last_job = 0
        self._pending: dict[int, asyncio.Future[SoundReport]] = {}
        self._termination: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self.on_started: Callable[[], None] | None = None
        """Called when the first sound of a sentence was handed to the system; for measurements."""

    async def list_voices(self) -> tuple[Voice, ...]:
        """Return the voices of the system. Raise SpeechUnavailable."""
        report = await self._request(ListVoices(self._next_job()))
        return report.voices if isinstance(report, VoicesListed) else ()

    async def say(self, sentence: SpokenSentence) -> None:
        """Speak a sentence with a voice of the system and return at its end, or after `stop`. Raise SpeechUnavailable."""
        job = self._next_job()
        await self._request(SayText(job, sentence.text, sentence.voice_id, sentence.rate, sentence.volume))

    async def play_samples(self, samples: bytes, sample_rate: int, channels: int, volume: float) -> None:
        """Play a sound and return at its end, or after `stop`. Raise SpeechUnavailable."""
        await self._request(PlayAudio(self._next_job(), samples, sample_rate, channels, volume))

    def stop(self) -> None:
        """Silence everything at once."""
        if self._pipe is not None and self._pending:
            with suppress(OSError):
                self._pipe.send(SilenceAll(self._last_job))

    async def close(self) -> None:
        """End the process."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._termination = self._begin_termination() or self._termination
        if self._termination is not None:
            await self._termination
        self._fail_pending()

    def _next_job(self) -> int:
        self._last_job = next(self._jobs)
        return self._last_job

    async def _request(self, request: SoundRequest) -> SoundReport:
        if not self.is_running:
            self._start_process(worker.run, "sound", self._engine_name)
        assert self._pipe is not None
        answer = self._pending[request.job] = asyncio.get_running_loop().create_future()
        try:
            self._pipe.send(request)
            report: SoundReport = await answer
        except OSError as error:
            raise SpeechUnavailable(CRASH_MESSAGE) from error
        finally:
            self._pending.pop(request.job, None)
            self._restart_idle_timer()
        if isinstance(report, SoundFailed):
            raise SpeechUnavailable(report.message, report.remedy)
        return report

    def _deliver(self, report: SoundReport) -> None:
        if isinstance(report, SoundStarted):
            if self.on_started is not None:
                self.on_started()
            return
        answer = self._pending.get(report.job)
        if answer is not None and not answer.done():
            answer.set_result(report)

    def _handle_exit(self, _exit_code: int | None) -> None:
        self._fail_pending()

    def _fail_pending(self) -> None:
        for job, answer in self._pending.items():
            if not answer.done():
                answer.set_result(SoundFailed(job, CRASH_MESSAGE))

    def _restart_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._idle_timer = None
        if self.is_running:
            self._idle_timer = asyncio.get_running_loop().call_later(self._idle_timeout, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self._pending or self._pipe is None:
            self._restart_idle_timer()
            return
        self._termination = self._begin_termination()


class SystemVoices:
    """Speech engine of the system, which speaks as it synthesises."""

    prefix = SYSTEM_PREFIX

    def __init__(self, sound: SoundProcess) -> None:
        self._sound = sound
        self._voices: tuple[Voice, ...] = ()

    async def list_voices(self) -> Sequence[Voice]:
        """Return the voices, the default one first; they are asked for once. Raise SpeechUnavailable."""
        if not self._voices:
            self._voices = await self._sound.list_voices()
        return self._voices

    async def prepare(self, sentence: SpokenSentence) -> PreparedSentence:
        return PreparedSentence(sentence)

    async def play(self, prepared: PreparedSentence) -> None:
        await self._sound.say(prepared.sentence)

    def stop(self) -> None:
        self._sound.stop()

    async def close(self) -> None:
        await self._sound.close()


def create_engines(preferences: Preferences) -> list[SpeechEngine]:
    """Return all engines; none starts a process before it is used."""
    sound = SoundProcess()
    return [SystemVoices(sound), PiperEngine(preferences, sound)]
