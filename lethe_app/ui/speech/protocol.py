"""Messages between the window and the sound process."""

from __future__ import annotations

from dataclasses import dataclass

from lethe_app.services.speech.voices import Voice


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
