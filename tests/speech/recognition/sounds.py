"""Sound to test with: sentences spoken by espeak-ng (tests/data/speech), silence, noise and the clicks of a keyboard."""

from __future__ import annotations

import random
import wave
from array import array
from pathlib import Path

from lethe_app.speech.recognition.audio import SAMPLE_RATE

FOLDER = Path(__file__).parents[2] / "data" / "speech"


def spoken(name: str) -> bytes:
    """“captain”: The old captain told us a story. “window”: Please open the window."""
    with wave.open(str(FOLDER / f"{name}.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (SAMPLE_RATE, 1, 2)
        return file.readframes(file.getnframes())


def silence(seconds: float) -> bytes:
    return bytes(2 * round(SAMPLE_RATE * seconds))


def noise(seconds: float, amplitude: float = 1500.0) -> bytes:
    """White noise."""
    chance = random.Random(7)
    return array("h", (round(chance.gauss(0, amplitude)) for _ in range(round(SAMPLE_RATE * seconds)))).tobytes()


def typing(seconds: float) -> bytes:
    """Short clicks, five a second."""
    chance = random.Random(7)
    samples = array("h", silence(seconds))
    for start in range(0, len(samples) - 400, SAMPLE_RATE // 5):
        for offset in range(160):
            samples[start + offset] = max(-32_768, min(32_767, round(chance.gauss(0, 6000) * 0.97**offset)))
    return samples.tobytes()


def mixed(first: bytes, second: bytes) -> bytes:
    """Both at once, as long as the first; the second is repeated."""
    one, other = array("h", first), array("h", second)
    return array("h", (max(-32_768, min(32_767, a + other[i % len(other)])) for i, a in enumerate(one))).tobytes()


def tone(seconds: float, amplitude: int = 16_000) -> bytes:
    """Loud square wave of 250 Hz, which the scripted recogniser takes for speech."""
    half = [amplitude] * 32 + [-amplitude] * 32
    return array("h", half * round(seconds * SAMPLE_RATE / 64)).tobytes()


def chunks(pcm: bytes, seconds: float = 0.1) -> list[bytes]:
    """Pieces as a microphone delivers them."""
    size = 2 * round(SAMPLE_RATE * seconds)
    return [pcm[start : start + size] for start in range(0, len(pcm), size)]
