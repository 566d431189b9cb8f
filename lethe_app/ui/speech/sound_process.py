"""Client of the sound process: starts it when it is first needed, sends requests, and notices its end."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from lethe_app.errors import SpeechUnavailable
from lethe_app.services.speech.voices import SYSTEM_PREFIX, PreparedSentence, SpokenSentence, Voice
from lethe_app.ui.speech import worker
from lethe_app.ui.speech.protocol import (
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

TERMINATE_TIMEOUT = 2.0
"""Seconds the process may take to end before it is killed."""
IDLE_TIMEOUT = 300.0
"""Seconds without a request after which the process is ended; the next request starts it again."""
CRASH_MESSAGE = "The sound process stopped working."


class SoundProcess:
    """Sound output in a process of its own, for all engines. Use it from one event loop."""

    def __init__(self, engine_name: str = "", idle_timeout: float = IDLE_TIMEOUT) -> None:
        """`engine_name` chooses one of Qt's speech engines, empty for the system's."""
        self._engine_name, self._idle_timeout = engine_name, idle_timeout
        self._jobs = itertools.count(1)
        self._last_job = 0
        self._pending: dict[int, asyncio.Future[SoundReport]] = {}
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self.on_started: Callable[[], None] | None = None
        """Called when the first sound of a sentence was handed to the system; for measurements."""

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

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
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if process is not None and pipe is not None:
            await asyncio.to_thread(_terminate, process)
        self._fail_pending()

    def _next_job(self) -> int:
        self._last_job = next(self._jobs)
        return self._last_job

    async def _request(self, request: SoundRequest) -> SoundReport:
        if not self.is_running:
            await self._start()
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

    async def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # not `fork`, which would copy Qt and its threads into it
        parent_end, child_end = context.Pipe()
        process = context.Process(target=worker.run, args=(child_end, self._engine_name), daemon=True, name="lethe-sound")
        process.start()
        child_end.close()  # otherwise recv would never report the end of the pipe after a crash
        self._process, self._pipe = process, parent_end
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read_reports, args=(parent_end, loop), daemon=True, name="sound-reports").start()

    def _read_reports(self, pipe: Connection, loop: asyncio.AbstractEventLoop) -> None:
        """Pass every report to the event loop until the pipe ends. Runs in the reader thread."""
        try:
            while True:
                loop.call_soon_threadsafe(self._deliver, pipe.recv())
        except (EOFError, OSError, RuntimeError):  # RuntimeError: the loop is closed
            pipe.close()
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._handle_exit, pipe)

    def _deliver(self, report: SoundReport) -> None:
        if isinstance(report, SoundStarted):
            if self.on_started is not None:
                self.on_started()
            return
        answer = self._pending.get(report.job)
        if answer is not None and not answer.done():
            answer.set_result(report)

    def _handle_exit(self, pipe: Connection) -> None:
        if pipe is self._pipe:
            self._process = self._pipe = None
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
        process, self._process, self._pipe = self._process, None, None
        assert process is not None
        threading.Thread(target=_terminate, args=(process,), daemon=True, name="sound-end").start()


def _terminate(process: BaseProcess) -> None:
    process.terminate()
    process.join(TERMINATE_TIMEOUT)
    if process.is_alive():
        process.kill()
        process.join()


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
