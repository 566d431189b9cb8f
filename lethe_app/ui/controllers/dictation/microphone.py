"""The microphone of this computer, through Qt. Its library is loaded when the microphone is first opened."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QCoreApplication, QIODevice, QMicrophonePermission, QObject, Qt

from lethe_app.errors import DictationError
from lethe_app.services.speech.dictation import SoundFormat

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QAudioDevice, QAudioFormat, QAudioSource

BUFFER_MS = 200
"""Sound that Qt may hold back before it is read, in milliseconds."""


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

    async def open(self, on_sound: Callable[[bytes], None], on_failure: Callable[[DictationError], None]) -> SoundFormat:
        """Begin to deliver sound, and return its format. Raise DictationError if there is no microphone, no permission to
        use it, or no library of the system for it.
        """
        self.close()
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
        opened.readyRead.connect(lambda: on_sound(bytes(opened.readAll().data())))
        self._source.stateChanged.connect(lambda _state: self._report_failure(on_failure))
        return sound_format

    def close(self) -> None:
        """Stop; does nothing if the microphone is not open."""
        source, self._source, self._device = self._source, None, None
        if source is not None:
            source.stop()
            source.deleteLater()

    async def _load_library(self) -> None:
        try:
            await asyncio.to_thread(importlib.import_module, "PySide6.QtMultimedia")
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

    def _report_failure(self, on_failure: Callable[[DictationError], None]) -> None:
        """Report the end of the sound, for instance because the microphone was unplugged."""
        from PySide6.QtMultimedia import QtAudio  # noqa: PLC0415 - loaded when the microphone was opened

        if self._source is not None and self._source.error() is not QtAudio.Error.NoError:
            self.close()
            remedy = self.tr("Check that it is connected, and dictate again.")
            on_failure(DictationError(self.tr("The microphone stopped working."), remedy))


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
