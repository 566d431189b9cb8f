"""Voices of all speech engines, and what an engine and a sound output have to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lethe_app.speech.pcm import PcmAudio

SYSTEM_PREFIX, PIPER_PREFIX = "system:", "piper:"
"""Beginnings of the ids of voices, by engine."""


@dataclass(frozen=True)
class Voice:
    """Voice that can be chosen."""

    voice_id: str
    """Unique id, which begins with the prefix of its engine."""
    name: str
    language: str
    """BCP 47 tag, such as en-GB; empty if unknown."""


@dataclass(frozen=True)
class SpokenSentence:
    """Sentence with the voice that speaks it."""

    text: str
    voice_id: str
    rate: float = 1.0
    """Speaking rate, 1 for the voice's own."""
    volume: float = 1.0
    """Loudness from 0 to 1."""


@dataclass(frozen=True)
class PreparedSentence:
    """Sentence that can be played at once; without audio its engine speaks as it synthesises."""

    sentence: SpokenSentence
    audio: PcmAudio | None = None


class SpeechEngine(Protocol):
    """Engine that speaks sentences. Its methods do not block the event loop and raise SpeechError."""

    @property
    def prefix(self) -> str:
        """Beginning of the ids of its voices."""
        ...

    async def list_voices(self) -> Sequence[Voice]:
        """Return the voices; the first is the default. Raise SpeechUnavailable if the engine cannot be used."""
        ...

    async def prepare(self, sentence: SpokenSentence) -> PreparedSentence:
        """Synthesise a sentence, as far as the engine does that before it plays."""
        ...

    async def play(self, prepared: PreparedSentence) -> None:
        """Play a sentence and return at its end, or after `stop`."""
        ...

    def stop(self) -> None:
        """Silence the sentence that is playing, at once."""
        ...

    async def close(self) -> None:
        """End the engine's processes."""
        ...


class SoundOutput(Protocol):
    """Output of sound."""

    async def play_samples(self, samples: bytes, sample_rate: int, channels: int, volume: float) -> None:
        """Play a sound of 16-bit samples and return at its end, or after `stop`. Raise SpeechUnavailable without a device."""
        ...

    def stop(self) -> None:
        """Silence the sound that is playing, at once."""
        ...
