"""The microphone of this computer, through Qt. Its library is loaded when the microphone is first opened."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QCoreApplication, QIODevice, QMicrophonePermission, QObject, Qt, QTimer

from lethe_app.errors import DictationError
from lethe_app.services.speech.dictation import SoundFormat

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QAudioDevice, QAudioFormat, QAudioSource

BUFFER_MS = 200
"""Sound that Qt may hold back before it is read, in milliseconds."""
STALL_MS = 2500
"""Time in milliseconds without any sound, not even silence, after which the sound system counts as dead the second time. After
the first it may only be the computer that slept.
"""


class Microphone(Protocol):
    """Source of sound."""

    async def open(self, on_sound: Callable[[bytes], None], on_failure: Callable[[DictationError], None]) -> SoundFormat:
        """Begin to deliver sound, and return its format. Raise DictationError."""

    def close(self) -> None:
        """Stop; does nothing if it is not open."""


class SystemMicrophone(QObject):
    """Default microphone of the system; another one that becomes the default is used the next time."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source: QAudioSource | None = None
        self._device: QIODevice | None = None
        self._on_failure: Callable[[DictationError], None] = lambda _error: None
        self._has_stalled = False
        self._is_dead = False
        """True after the sound system died: Qt 6.11 then ends the program when a microphone is opened again."""
        self._stall_timer = QTimer(self, singleShot=True, interval=STALL_MS)
        self._stall_timer.timeout.connect(self._report_stall)

    async def open(self, on_sound: Callable[[bytes], None], on_failure: Callable[[DictationError], None]) -> SoundFormat:
        """Begin to deliver sound, and return its format. Raise DictationError if there is no microphone, no permission to
        use it, or no library of the system for it.
        """
        self.close()
        if self._is_dead:
            raise self._death_error()
        await self._load_library()
        if not await self._request_permission():
            raise DictationError(
                self.tr("Lethe may not use the microphone."), self.tr("Allow it in the privacy settings of the system.")
            )
        from PySide6.QtMultimedia import QAudioSource, QMediaDevices  # noqa: PLC0415 - loaded above, when first needed

        device = QMediaDevices.defaultAudioInput()
        if device.isNull():
            raise DictationError(self.tr("No microphone was found."), self.tr("Connect one, and dictate again."))
        audio_format, sound_format = _choose_format(device)
        self._source = QAudioSource(device, audio_format, self)
        self._source.setBufferSize(audio_format.bytesForDuration(1000 * BUFFER_MS))
        self._device = opened = self._source.start()
        if opened is None:
            self.close()
            raise DictationError(self.tr("The microphone cannot be opened."), self.tr("Another program may be using it."))

        def pass_on() -> None:
            self._has_stalled = False
            self._stall_timer.start()
            on_sound(bytes(opened.readAll().data()))

        opened.readyRead.connect(pass_on)
        self._on_failure = on_failure
        self._stall_timer.start()
        # Without the state as an argument, which PySide 6.11 cannot convert.
        self._source.stateChanged.connect(self._report_failure)
        return sound_format

    def close(self) -> None:
        """Stop; does nothing if the microphone is not open."""
        self._stall_timer.stop()
        source, self._source, self._device = self._source, None, None
        if source is not None:
            source.stop()
            source.deleteLater()

    async def _load_library(self) -> None:
        try:
            await asyncio.to_thread(importlib.import_module, "PySide6.QtMultimedia")
        except ModuleNotFoundError as error:
            message = self.tr("The microphone cannot be used, because Qt Multimedia is not installed.")
            raise DictationError(message, self.tr("Install Lethe again.")) from error
        except ImportError as error:
            raise DictationError(
                self.tr("The microphone cannot be used: {reason}.").format(reason=str(error).rstrip(".")),
                self.tr("Install the missing library; on Linux it is often libpulse0."),
            ) from error

    async def _request_permission(self) -> bool:
        """Return whether the microphone may be used; macOS and Windows ask the user the first time."""
        application, permission = QCoreApplication.instance(), QMicrophonePermission()
        assert application is not None
        status = application.checkPermission(permission)
        if status is Qt.PermissionStatus.Undetermined:
            answered: asyncio.Future[Qt.PermissionStatus] = asyncio.get_running_loop().create_future()

            def on_answer(_answer: object) -> None:
                if not answered.done():
                    answered.set_result(application.checkPermission(permission))

            application.requestPermission(permission, self, on_answer)
            status = await answered
        return status is Qt.PermissionStatus.Granted

    def _report_stall(self) -> None:
        """Report that the sound system delivers nothing any more, of which Qt says nothing."""
        if not self._has_stalled:
            self._has_stalled = True
            self._stall_timer.start()
            return
        self._is_dead = True
        self.close()
        self._on_failure(self._death_error())

    def _death_error(self) -> DictationError:
        return DictationError(self.tr("The sound system stopped working."), self.tr("Restart Lethe to dictate again."))

    def _report_failure(self) -> None:
        """Report the end of the sound, for instance because the microphone was unplugged."""
        from PySide6.QtMultimedia import QtAudio  # noqa: PLC0415 - loaded when the microphone was opened

        if self._source is not None and self._source.error() is not QtAudio.Error.NoError:
            self.close()
            remedy = self.tr("Check that it is connected, and dictate again.")
            self._on_failure(DictationError(self.tr("The microphone stopped working."), remedy))


def _choose_format(device: QAudioDevice) -> tuple[QAudioFormat, SoundFormat]:
    """Return the format of speech recognition if the device has it, or else the one that it prefers."""
    from PySide6.QtMultimedia import QAudioFormat  # noqa: PLC0415 - loaded when the microphone was opened

    names = {
        QAudioFormat.SampleFormat.UInt8: "uint8",
        QAudioFormat.SampleFormat.Int16: "int16",
        QAudioFormat.SampleFormat.Int32: "int32",
        QAudioFormat.SampleFormat.Float: "float32",
    }
    wanted = QAudioFormat()
    wanted.setSampleRate(SoundFormat.rate)
    wanted.setChannelCount(SoundFormat.channels)
    wanted.setSampleFormat(QAudioFormat.SampleFormat.Int16)
    if not device.isFormatSupported(wanted):
        wanted = device.preferredFormat()
    return wanted, SoundFormat(wanted.sampleRate(), wanted.channelCount(), names.get(wanted.sampleFormat(), "int16"))
