"""PCM samples: the format of speech recognition, the level of a chunk, and the conversion from other formats."""

from __future__ import annotations

import math
from array import array
from enum import StrEnum

SAMPLE_RATE = 16_000
"""Samples per second of everything that is recognised; mono, signed 16-bit, in the machine's byte order."""
SAMPLE_BYTES = 2
FRAME_SAMPLES = 512
"""Samples that voice activity detection looks at together: 32 ms."""
FRAME_BYTES = FRAME_SAMPLES * SAMPLE_BYTES
FULL_SCALE = 32_768
QUIETEST_DECIBELS = -60.0
"""Level in dBFS that is shown as silence."""


class SampleType(StrEnum):
    """Type of a sample as microphones deliver it; the value is its code in the module `array`."""

    UINT8 = "B"
    INT16 = "h"
    INT32 = "i"
    FLOAT32 = "f"


_OFFSET_AND_SCALE = {
    SampleType.UINT8: (128, 256.0),
    SampleType.INT16: (0, 1.0),
    SampleType.INT32: (0, 1 / 65_536),
    SampleType.FLOAT32: (0, 32_767.0),
}


def duration_of(pcm: bytes) -> float:
    """Return the duration of PCM data in seconds."""
    return len(pcm) / (SAMPLE_RATE * SAMPLE_BYTES)


def level_of(pcm: bytes) -> float:
    """Return the level of PCM data for a meter, from 0 (below −60 dBFS) to 1 (full scale)."""
    samples = array("h", pcm[: len(pcm) // SAMPLE_BYTES * SAMPLE_BYTES])
    if not samples:
        return 0.0
    effective = math.sqrt(math.fsum(sample * sample for sample in samples) / len(samples))
    if effective < 1:
        return 0.0
    return min(1.0, max(0.0, 1 - 20 * math.log10(effective / FULL_SCALE) / QUIETEST_DECIBELS))


class PcmConverter:
    """Converts a stream of samples to the format of speech recognition: channels are averaged, then samples interpolated.

    Interpolation without a low-pass filter folds what lies above 8 kHz into the band; microphones deliver little of it, and
    the energy of speech lies below 4 kHz.
    """

    def __init__(self, rate: int, channels: int, sample_type: SampleType) -> None:
        self._step, self._channels, self._sample_type = rate / SAMPLE_RATE, channels, sample_type
        self._is_same = rate == SAMPLE_RATE and channels == 1 and sample_type is SampleType.INT16
        self._rest = b""
        """Bytes of a frame of samples that is not complete yet."""
        self._last: float | None = None
        """Last sample of the chunk before; None at the beginning."""
        self._position = 0.0
        """Position of the next output sample, in input samples after `_last`."""

    def convert(self, data: bytes) -> bytes:
        """Return the PCM data of the next chunk; a chunk may end anywhere."""
        data = self._rest + data
        frame_size = array(self._sample_type.value).itemsize * self._channels
        complete = len(data) // frame_size * frame_size
        data, self._rest = data[:complete], data[complete:]
        if self._is_same:
            return data
        samples = self._mix(array(self._sample_type.value, data))
        return self._resample(samples).tobytes()

    def _mix(self, samples: array[int] | array[float]) -> list[float]:
        offset, scale = _OFFSET_AND_SCALE[self._sample_type]
        channels = [samples[channel :: self._channels] for channel in range(self._channels)]
        factor = scale / self._channels
        return [(sum(values) - offset * self._channels) * factor for values in zip(*channels, strict=True)]

    def _resample(self, samples: list[float]) -> array[int]:
        result: array[int] = array("h")
        if not samples:
            return result
        source = [samples[0] if self._last is None else self._last, *samples]
        position, last_index = self._position, len(source) - 1
        while position < last_index:
            index = int(position)
            before, after = source[index], source[index + 1]
            value = before + (after - before) * (position - index)
            result.append(max(-FULL_SCALE, min(FULL_SCALE - 1, round(value))))
            position += self._step
        self._position, self._last = position - last_index, source[-1]
        return result
