"""Level of a chunk, and conversion of what microphones deliver."""

from __future__ import annotations

import itertools
import math
from array import array

import pytest

from lethe_app.speech.recognition.audio import PcmConverter, SampleType, duration_of, level_of
from tests.speech.recognition.sounds import silence, spoken, tone


def sine(rate: int, seconds: float, frequency: float = 440.0) -> list[float]:
    return [math.sin(2 * math.pi * frequency * number / rate) for number in range(round(rate * seconds))]


def crossings(pcm: bytes) -> int:
    samples = array("h", pcm)
    return sum(a < 0 <= b for a, b in itertools.pairwise(samples))


def test_silence_has_level_zero_and_full_scale_nearly_one():
    assert level_of(silence(0.1)) == level_of(b"") == 0.0
    assert level_of(tone(0.1, 32_767)) > 0.99


def test_speech_is_louder_than_a_whisper_of_it():
    loud = array("h", spoken("captain"))
    soft = array("h", (sample // 16 for sample in loud))

    assert 0.5 < level_of(loud.tobytes()) < 1
    assert level_of(loud.tobytes()) - level_of(soft.tobytes()) == pytest.approx(20 * math.log10(16) / 60, abs=0.02)


@pytest.mark.parametrize(
    ("rate", "channels", "kind", "scale", "offset"),
    [
        (48_000, 2, SampleType.FLOAT32, 0.5, 0),
        (44_100, 1, SampleType.INT16, 16_384, 0),
        (8_000, 1, SampleType.UINT8, 64, 128),
        (48_000, 1, SampleType.INT32, 1 << 30, 0),
        (16_000, 1, SampleType.INT16, 16_384, 0),
    ],
)
def test_a_tone_keeps_its_frequency_and_level_in_any_format(rate, channels, kind, scale, offset):
    values = [value * scale + offset for value in sine(rate, 1.0) for _ in range(channels)]
    data = array(kind.value, values if kind is SampleType.FLOAT32 else [round(value) for value in values]).tobytes()
    converter = PcmConverter(rate, channels, kind)

    pcm = b"".join(converter.convert(data[start : start + 1111]) for start in range(0, len(data), 1111))

    assert duration_of(pcm) == pytest.approx(1.0, abs=0.01)
    assert crossings(pcm) == pytest.approx(440, abs=2)
    assert max(array("h", pcm)) == pytest.approx(32_768 / 2, rel=0.03)


def test_opposite_channels_cancel_each_other():
    data = array("h", [sample for value in sine(16_000, 0.1) for sample in (round(9000 * value), -round(9000 * value))])

    assert level_of(PcmConverter(16_000, 2, SampleType.INT16).convert(data.tobytes())) == 0.0
