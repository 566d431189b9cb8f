"""Sound process and its messages: it speaks with the voices of the system and plays sounds, so that the window never waits.

Connecting to a speech service takes up to five seconds, during which Qt holds the interpreter, and a missing library of the
system ends nothing but this process. It serves until the pipe ends, which also happens when the window is gone.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice, QLocale, QObject, QTimer, Signal

from lethe_app.services.speech.voices import SYSTEM_PREFIX, Voice

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QAudioSink
    from PySide6.QtTextToSpeech import QTextToSpeech, QVoice


from dataclasses import dataclass


@dataclass(frozen=True)
class ListVoices:
    """Request for the voices of the system."""

    job: int


@dataclass(frozen=True)
class SayText:
    """Request to speak a text with a voice of the system."""

    job: int
    text: str
    voice_id: str
    rate: float
    """Speaking rate, 1 for the voice's own."""
    volume: float
    """Loudness from 0 to 1."""


@dataclass(frozen=True)
class PlayAudio:
    """Request to play a sound of 16-bit samples."""

    job: int
    samples: bytes
    sample_rate: int
    channels: int
    volume: float


@dataclass(frozen=True)
class SilenceAll:
    """Request to end every job up to `job` at once."""

    job: int


@dataclass(frozen=True)
class VoicesListed:
    """Answer to `ListVoices`."""

    job: int
    voices: tuple[Voice, ...]


@dataclass(frozen=True)
class SoundStarted:
    """Report that the first sound of a job was handed to the system."""

    job: int


@dataclass(frozen=True)
class SoundEnded:
    """Report that a job has ended, or was silenced."""

    job: int


@dataclass(frozen=True)
class SoundFailed:
    """Report that a job cannot be done."""

    job: int
    message: str
    remedy: str = ""


SoundRequest = ListVoices | SayText | PlayAudio
SoundReport = VoicesListed | SoundStarted | SoundEnded | SoundFailed


DEBIAN_PACKAGES = {"libpulse.so.0": "libpulse0", "libGL.so.1": "libgl1", "libspeechd.so.2": "libspeechd2"}
"""Library of the system that Qt's sound needs → the Debian package that holds it."""
NO_SPEECH = "Install a speech service of your system (on Debian and Ubuntu: speech-dispatcher, espeak-ng and libspeechd2)."
NO_DEVICE = "Connect loudspeakers or headphones, or choose an output in the sound settings of your system."
NO_ANSWER = f"{NO_DEVICE} If there is sound elsewhere, restart the speech service of your system."
START_TIMEOUT_MS = 15_000
"""Time in which a speech service must begin to speak a sentence."""
_TESTED_ONLY = "mock"
"""Engine of Qt that makes no sound; used only where it is asked for."""


def run(pipe: Connection, engine_name: str = "") -> None:
    """Serve requests until the pipe ends. `engine_name` chooses one of Qt's speech engines, empty for the system's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is meant for the program, which then closes the pipe
    application = QCoreApplication(sys.argv[:1])
    worker = SoundWorker(pipe, engine_name)
    threading.Thread(target=worker.listen, daemon=True, name="requests").start()
    application.exec()


def explain_import_error(error: ImportError) -> SoundFailed:
    """Return the report for a module of Qt that cannot be loaded, with the package that is missing."""
    found = re.search(r"(lib\S+\.so\.?\d*)", str(error))
    package = DEBIAN_PACKAGES.get(found[1], "") if found else ""
    what = f"the system library {found[1]}" if found else "the package PySide6-Addons"
    remedy = f"Install it with: sudo apt-get install {package}" if package else ""
    return SoundFailed(0, f"Speech needs {what}, which is missing.", remedy)


class SoundWorker(QObject):
    """Server of the requests of one pipe; at most one job makes a sound."""

    request_received = Signal(object)
    pipe_ended = Signal()

    def __init__(self, pipe: Connection, engine_name: str) -> None:
        super().__init__()
        self._pipe = pipe
        self._silenced_job = 0
        """Last job that was silenced; set by the listening thread before the request is handled in its turn."""
        self._speech = SystemSpeech(engine_name, self._report, self._is_silenced)
        self._player = SoundPlayer(self._report)
        self.request_received.connect(self._handle)
        self.pipe_ended.connect(QCoreApplication.quit)

    def listen(self) -> None:
        """Pass every request to the main thread until the pipe ends. Runs in the listening thread."""
        try:
            while True:
                request = self._pipe.recv()
                if isinstance(request, SilenceAll):
                    self._silenced_job = request.job
                self.request_received.emit(request)
        except (EOFError, OSError):
            self.pipe_ended.emit()

    def _is_silenced(self, job: int) -> bool:
        return job <= self._silenced_job

    def _report(self, report: SoundReport) -> None:
        try:
            self._pipe.send(report)
        except OSError:
            QCoreApplication.quit()

    def _handle(self, request: SoundRequest | SilenceAll) -> None:
        if isinstance(request, SilenceAll):
            self._speech.stop()
            self._player.stop()
            return
        if self._is_silenced(request.job):
            self._report(SoundEnded(request.job))
            return
        try:
            match request:
                case ListVoices():
                    self._report(VoicesListed(request.job, self._speech.list_voices()))
                case SayText():
                    self._speech.say(request)
                case PlayAudio():
                    self._player.play(request)
        except ImportError as error:
            failure = explain_import_error(error)
            self._report(SoundFailed(request.job, failure.message, failure.remedy))
        except RuntimeError as error:
            self._report(SoundFailed(request.job, str(error.args[0]), *map(str, error.args[1:])))


class SystemSpeech:
    """Voices of the system through Qt, connected at the first use."""

    def __init__(self, engine_name: str, report: Callable[[SoundReport], None], is_silenced: Callable[[int], bool]) -> None:
        self._engine_name, self._report, self._is_silenced = engine_name, report, is_silenced
        self._engine: QTextToSpeech | None = None
        self._voices: dict[str, tuple[QLocale, QVoice]] = {}
        self._job = 0
        """Job that is speaking; 0 for none."""
        self._has_started = False
        """True once that job sounds. The end of a sentence that was stopped may be reported after the next one was begun."""
        self._start_timer = QTimer(singleShot=True, interval=START_TIMEOUT_MS)
        self._start_timer.timeout.connect(self._give_up)

    def _connect(self) -> QTextToSpeech:
        if self._engine is None:
            from PySide6.QtTextToSpeech import QTextToSpeech  # noqa: PLC0415 - needs libraries that may be missing

            names = [name for name in QTextToSpeech.availableEngines() if name != _TESTED_ONLY]
            chosen = self._engine_name or next(iter(names), "")
            engine = QTextToSpeech(chosen) if chosen else None
            if engine is None or engine.state() == QTextToSpeech.State.Error:
                reason = engine.errorString().rstrip(". ") if engine is not None else ""
                raise RuntimeError(f"The system has no voices{f': {reason}' if reason else ''}.", NO_SPEECH)
            engine.stateChanged.connect(self._on_state_changed)
            self._engine = engine
            self._voices = _collect_voices(engine)
        return self._engine

    def list_voices(self) -> tuple[Voice, ...]:
        """Return the voices, the default one first. Raise ImportError, and RuntimeError with message and remedy."""
        engine = self._connect()
        # Qt takes the first one by name from a speech dispatcher, which does not tell its default voice.
        default = _voice_id(engine.voice(), engine.locale()) if engine.engine() != "speechd" else ""
        language = QLocale.system().bcp47Name().partition("-")[0]
        found = [Voice(voice_id, voice.name(), locale.bcp47Name()) for voice_id, (locale, voice) in self._voices.items()]
        if not found:
            raise RuntimeError("The system has no voices.", NO_SPEECH)

        def rank(voice: Voice) -> tuple[bool, bool, str, str]:
            return voice.voice_id != default, voice.language.partition("-")[0] != language, voice.language, voice.name

        return tuple(sorted(found, key=rank))

    def say(self, request: SayText) -> None:
        """Speak a text. Raise as `list_voices`."""
        engine = self._connect()
        if self._is_silenced(request.job):  # while the engine was connected
            self._report(SoundEnded(request.job))
            return
        locale_and_voice = self._voices.get(request.voice_id)
        if locale_and_voice is not None and _voice_id(engine.voice(), engine.locale()) != request.voice_id:
            engine.setLocale(locale_and_voice[0])
            engine.setVoice(locale_and_voice[1])
        # Qt's rates go from -1 to 1, with 0 for the voice's own.
        engine.setRate(max(-1.0, min(request.rate - 1, 1.0)))
        engine.setVolume(request.volume)
        self._job, self._has_started = request.job, False
        self._start_timer.start()
        engine.say(request.text)

    def stop(self) -> None:
        if self._engine is not None and self._job:
            self._engine.stop()
            self._end()

    def _on_state_changed(self, state: QTextToSpeech.State) -> None:
        if not self._job or self._engine is None:
            return
        if state.name == "Speaking":
            self._has_started = True
            self._start_timer.stop()
            self._report(SoundStarted(self._job))
        elif state.name == "Error":
            self._fail(self._engine.errorString())
        elif state.name == "Ready" and self._has_started:
            self._end()

    def _give_up(self) -> None:
        if self._job:
            self._fail("it does not answer", NO_ANSWER)

    def _fail(self, reason: str, remedy: str = NO_SPEECH) -> None:
        self._start_timer.stop()
        job, self._job = self._job, 0
        self._report(SoundFailed(job, f"The speech service cannot speak: {reason}.", remedy))

    def _end(self) -> None:
        self._start_timer.stop()
        job, self._job = self._job, 0
        if job:
            self._report(SoundEnded(job))


def _voice_id(voice: QVoice, locale: QLocale) -> str:
    return f"{SYSTEM_PREFIX}{locale.bcp47Name()}:{voice.name()}"


def _collect_voices(engine: QTextToSpeech) -> dict[str, tuple[QLocale, QVoice]]:
    """Return the voices of all languages by id, and restore the default one. Variants of a voice are left out: espeak-ng has
    a hundred of each, named as “English+Adam”. So are languages that Qt does not know.
    """
    locale, voice = engine.locale(), engine.voice()
    found: dict[str, tuple[QLocale, QVoice]] = {}
    for other in engine.availableLocales():
        if other.language() is QLocale.Language.C:
            continue
        engine.setLocale(other)
        for one in engine.availableVoices():
            if "+" not in one.name():
                found[_voice_id(one, other)] = (other, one)
    engine.setLocale(locale)
    engine.setVoice(voice)
    return found


class SoundPlayer:
    """Player of one sound at a time on the default output."""

    def __init__(self, report: Callable[[SoundReport], None]) -> None:
        self._report = report
        self._sink: QAudioSink | None = None
        self._buffer: QBuffer | None = None
        self._job = 0

    def play(self, request: PlayAudio) -> None:
        """Play a sound. Raise ImportError, and RuntimeError with message and remedy."""
        from PySide6.QtMultimedia import QAudioFormat, QAudioSink, QMediaDevices  # noqa: PLC0415 - as above

        device = QMediaDevices.defaultAudioOutput()
        if device.isNull():
            raise RuntimeError("There is no sound output.", NO_DEVICE)
        sound_format = QAudioFormat()
        sound_format.setSampleRate(request.sample_rate)
        sound_format.setChannelCount(request.channels)
        sound_format.setSampleFormat(QAudioFormat.SampleFormat.Int16)
        if not device.isFormatSupported(sound_format):
            raise RuntimeError(f"The sound output cannot play {request.sample_rate} Hz.", NO_DEVICE)
        self.stop()
        self._buffer = QBuffer()
        self._buffer.setData(request.samples)
        self._buffer.open(QIODevice.OpenModeFlag.ReadOnly)
        sink = QAudioSink(device, sound_format)
        sink.setVolume(request.volume)
        self._sink, self._job = sink, request.job
        sink.stateChanged.connect(lambda: self._on_state_changed(sink))  # the state itself cannot be converted by PySide 6.11
        sink.start(self._buffer)

    def stop(self) -> None:
        if self._sink is not None and self._job:
            job, self._job = self._job, 0
            self._sink.reset()
            self._report(SoundEnded(job))
            self._sink = None

    def _on_state_changed(self, sink: QAudioSink) -> None:
        if sink is not self._sink or not self._job:
            return
        name = sink.state().name
        if name == "ActiveState":
            self._report(SoundStarted(self._job))
        elif name in {"IdleState", "StoppedState"}:
            job, self._job = self._job, 0
            failed = name == "StoppedState" and sink.error().name != "NoError"
            self._report(SoundFailed(job, "The sound output stopped.", NO_DEVICE) if failed else SoundEnded(job))
            QTimer.singleShot(0, sink.stop)
