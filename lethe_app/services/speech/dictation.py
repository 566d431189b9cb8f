"""Dictation: which model recognises, and the texts of what is heard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lethe_app import errors
from lethe_app.errors import DictationError, LetheError, SpeechModelMissing, SpeechModelUnreadable
from lethe_app.paths import Paths
from lethe_app.services.preferences import Preferences
from lethe_app.speech.recognition.audio import PcmConverter, SampleType, level_of
from lethe_app.speech.recognition.client import RecognitionClient
from lethe_app.speech.recognition.protocol import (
    ListeningEnded,
    RecognitionFailed,
    RecognitionReport,
    SpeechStarted,
    SpeechText,
)
from lethe_app.speech.recognition.recogniser import find_missing_library
from lethe_app.speech.recognition.whisper_file import WhisperFile, read_whisper_file

MODEL_PATTERN = "ggml-*.bin"


@dataclass(frozen=True)
class SoundFormat:
    """Format of the sound of a microphone; channels are interleaved."""

    rate: int = 16_000
    """Samples per second."""
    channels: int = 1
    sample_type: str = "int16"
    """`uint8`, `int16`, `int32` or `float32`."""


@dataclass(frozen=True)
class SpeechBegan:
    """The user begins to speak."""


@dataclass(frozen=True)
class HeardText:
    """What the user says: provisional while they speak, final after each pause, when `text` may be empty."""

    text: str
    is_final: bool
    language: str = ""
    """ISO 639 code."""


@dataclass(frozen=True)
class DictationEnded:
    """Everything heard is recognised, or an error ended the dictation."""

    error: LetheError | None = None


DictationEvent = SpeechBegan | HeardText | DictationEnded


class Dictation:
    """Recognition of what the user says. Sound is passed on to the recognition process and stored nowhere."""

    def __init__(self, client: RecognitionClient, preferences: Preferences, paths: Paths, *, needs_libraries: bool) -> None:
        self._client, self._preferences, self._folder = client, preferences, paths.models
        self._needs_libraries = needs_libraries
        self._converter: PcmConverter | None = None
        self.close = client.close
        self.finish = self._client.finish_listening
        """Stop listening; what was heard is still recognised."""
        self.cancel = self._client.cancel_listening
        """Stop listening and discard what was not recognised yet; no event follows."""

    @property
    def is_listening(self) -> bool:
        return self._client.is_listening

    async def list_models(self) -> list[WhisperFile]:
        """Return the models in the models folder and the chosen one, largest first; damaged ones are left out."""
        return await asyncio.to_thread(self._find_models)

    async def find_model(self) -> Path:
        """Return the model that recognises: the chosen one, or else the largest in the models folder.

        Raise SpeechModelMissing, SpeechModelUnreadable, and DictationError if a library is missing.
        """
        if self._needs_libraries and (library := find_missing_library()):
            raise DictationError(f"Dictation needs the library {library}, which is not installed.", "Install Lethe again.")
        chosen = self._preferences.current.dictation_model
        if chosen:
            path = Path(chosen)
            if not await asyncio.to_thread(path.is_file):
                message = f"The speech recognition model {path.name} does not exist."
                raise SpeechModelMissing(message, "Choose another one on the page “Models”.")
            return path
        models = await self.list_models()
        if not models:
            raise SpeechModelMissing("Dictation needs a speech recognition model.", "Download one on the page “Models”.")
        return models[0].path

    def start(self, model: Path, sound_format: SoundFormat, on_event: Callable[[DictationEvent], None]) -> None:
        """Begin to listen to sound of a format; `on_event` is called until `DictationEnded`."""
        sample_type = SampleType[sound_format.sample_type.upper()]
        self._converter = PcmConverter(sound_format.rate, sound_format.channels, sample_type)
        settings = self._preferences.current
        pause_ms = round(1000 * settings.dictation_pause)
        self._client.start_listening(model, settings.dictation_language, pause_ms, lambda report: _notify(report, on_event))

    def add_sound(self, data: bytes) -> float:
        """Pass on sound and return its level for a meter, from 0 to 1."""
        pcm = self._converter.convert(data) if self._converter is not None else b""
        self._client.send_audio(pcm)
        return level_of(pcm)

    def _find_models(self) -> list[WhisperFile]:
        paths = sorted(self._folder.glob(MODEL_PATTERN))
        if self._preferences.current.dictation_model:
            paths.append(Path(self._preferences.current.dictation_model))
        found: dict[Path, WhisperFile] = {}
        for path in paths:
            try:
                found[path.resolve()] = read_whisper_file(path.resolve())
            except SpeechModelUnreadable:
                continue
        return sorted(found.values(), key=lambda model: model.size, reverse=True)


def _notify(report: RecognitionReport, on_event: Callable[[DictationEvent], None]) -> None:
    match report:
        case SpeechStarted():
            on_event(SpeechBegan())
        case SpeechText(text=text, language=language, is_final=is_final):
            on_event(HeardText(text, is_final, language))
        case ListeningEnded():
            on_event(DictationEnded())
        case RecognitionFailed(kind=kind, message=message, remedy=remedy):
            on_event(DictationEnded(getattr(errors, kind, DictationError)(message, remedy)))
        case _:
            pass
