"""Dictation of ten sentences that espeak-ng speaks, by a Whisper model: how much is wrong, and how long one waits.

`--model` is the path of a ggml model; espeak-ng must be installed. The voice is a machine's, which Whisper understands less
well than a person's. The sound arrives as from a microphone: in pieces of 100 ms, as fast as it is spoken.

Keys: `wer` (wrong, missing and additional words in percent of those spoken), `first_partial_ms` (from the beginning of speech
to the first provisional words), `final_ms` (from the detected end of speech to its text), both medians, `rtf` (time of final
texts in proportion to the speech), `load_ms` (from the press of the button to the loaded model, process included) and
`memory_mb` (proportional set size of the process).
"""

from __future__ import annotations

import asyncio
import re
import statistics
import subprocess
import tempfile
import time
import wave
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lethe_app.speech.recognition.audio import PcmConverter, SampleType, duration_of
from lethe_app.speech.recognition.client import RecognitionClient
from lethe_app.speech.recognition.protocol import (
    ListeningEnded,
    RecogniserLoaded,
    RecognitionFailed,
    RecognitionReport,
    SpeechEnded,
    SpeechStarted,
    SpeechText,
)
from tests.bench.report import Measured, run

SENTENCES = (
    "My sister lives in a small house near the river.",
    "Tomorrow morning we take the early train to the city.",
    "Please remember that I do not eat fish or nuts.",
    "The old captain told us a story about the storm.",
    "I have been learning to play the piano since March.",
    "Could you tell me what the weather will be like tonight?",
    "There are seven apples and two oranges in the basket.",
    "He opened the window because the room was too warm.",
    "We walked along the beach until the sun went down.",
    "She wrote a long letter to her friend in London.",
)
CHUNK_SECONDS = 0.1
PAUSE_MS = 800


@dataclass
class Stream:
    """What was heard of one sentence, and when."""

    texts: list[str] = field(default_factory=list)
    loaded: float = 0.0
    started: float = 0.0
    first_partial: float = 0.0
    ended: float = 0.0
    final: float = 0.0
    is_over: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, report: RecognitionReport) -> None:
        now = time.perf_counter()
        match report:
            case RecogniserLoaded():
                self.loaded = now
            case SpeechStarted():
                self.started = self.started or now
            case SpeechText(text=text, is_final=True):
                self.texts.append(text)
                self.final = now
            case SpeechText():
                self.first_partial = self.first_partial or now
            case SpeechEnded():
                self.ended = now
            case ListeningEnded():
                self.is_over.set()
            case RecognitionFailed(message=message):
                raise SystemExit(message)


def spoken(sentence: str, folder: Path) -> bytes:
    """The sentence as sound, with half a second before and more than the pause after it."""
    path = folder / "sentence.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", str(path), sentence], check=True)
    with wave.open(str(path)) as file:
        converter = PcmConverter(file.getframerate(), file.getnchannels(), SampleType.INT16)
        pcm = converter.convert(file.readframes(file.getnframes()))
    return bytes(16_000) + pcm + bytes(40_000)


async def dictate(client: RecognitionClient, model: Path, pcm: bytes, language: str) -> Stream:
    stream, size = Stream(), round(32_000 * CHUNK_SECONDS)
    client.start_listening(model, language, PAUSE_MS, stream)
    begin = time.perf_counter()
    for number, start in enumerate(range(0, len(pcm), size), start=1):
        client.send_audio(pcm[start : start + size])
        await asyncio.sleep(max(0.0, begin + number * CHUNK_SECONDS - time.perf_counter()))
    client.finish_listening()
    await stream.is_over.wait()
    return stream


def words_of(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


def count_errors(spoken_words: list[str], heard: list[str]) -> int:
    """Levenshtein distance in words."""
    row = list(range(len(heard) + 1))
    for number, word in enumerate(spoken_words, start=1):
        before, row = row, [number]
        for place, other in enumerate(heard, start=1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (word != other)))
    return row[-1]


async def measure(model: Path, language: str) -> Measured:
    """Dictate every sentence; what was understood wrongly is a row of the table."""
    client = RecognitionClient()
    begin = time.perf_counter()
    first = await dictate(client, model, bytes(32_000), language)
    load_ms = 1000 * (first.loaded - begin)
    streams: list[Stream] = []
    rows: list[tuple[str, object]] = []
    errors, seconds = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for sentence in SENTENCES:
            pcm = spoken(sentence, Path(folder))
            seconds += duration_of(pcm) - 1.75
            stream = await dictate(client, model, pcm, language)
            streams.append(stream)
            wrong = count_errors(words_of(sentence), words_of(" ".join(stream.texts)))
            errors += wrong
            rows += [(sentence, " ".join(stream.texts) or "–")] if wrong else []
    memory = max(process.memory_full_info().pss for process in psutil.Process().children()) / 1e6
    await client.close()
    figures = {
        "wer": 100 * errors / sum(len(words_of(sentence)) for sentence in SENTENCES),
        "first_partial_ms": statistics.median(1000 * (one.first_partial - one.started) for one in streams if one.first_partial),
        "final_ms": statistics.median(1000 * (one.final - one.ended) for one in streams if one.final),
        "rtf": sum(one.final - one.ended for one in streams if one.final) / seconds,
        "load_ms": load_ms,
        "memory_mb": memory,
    }
    return rows, figures


if __name__ == "__main__":
    run(
        __doc__,
        lambda wanted: measure(wanted.model, wanted.language),
        ("--model", {"required": True, "type": Path, "help": "Whisper model in the ggml format"}),
        ("--language", {"default": "en", "help": "ISO 639-1 code, or auto"}),
    )
