"""Sound of a sentence: PCM samples, and the WAV files in which synthesisers deliver them."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass

from lethe_app.errors import SpeechError

SAMPLE_WIDTH = 2
"""Bytes of a sample: 16-bit integers."""


@dataclass(frozen=True, slots=True)
class PcmAudio:
    """Sound as 16-bit little-endian samples, interleaved by channel."""

    samples: bytes
    sample_rate: int
    """Samples per second and channel."""
    channels: int = 1

    @property
    def seconds(self) -> float:
        return len(self.samples) / (SAMPLE_WIDTH * self.channels * self.sample_rate)


def read_wav(data: bytes) -> PcmAudio:
    """Return the sound of a WAV file. Raise SpeechError for another format."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            if file.getsampwidth() != SAMPLE_WIDTH:
                raise SpeechError(f"The synthesiser delivered {8 * file.getsampwidth()}-bit samples; 16 bits are needed.")
            return PcmAudio(file.readframes(file.getnframes()), file.getframerate(), file.getnchannels())
    except (wave.Error, EOFError) as error:
        raise SpeechError(f"The synthesiser delivered an unreadable WAV file: {error}.") from error
