"""Engine of Piper's voice files, with the stand-in for its command line and a sound output that makes no sound."""

from __future__ import annotations

import asyncio
import os

import pytest

from lethe_app.errors import SpeechUnavailable
from lethe_app.services.speech.piper_engine import PiperEngine
from lethe_app.services.speech.voices import SpokenSentence, Voice
from tests.speech.test_piper import STAND_IN, write_voice

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")


class SilentOutput:
    """Sound output that notes what it is given."""

    def __init__(self) -> None:
        self.played: list[tuple[int, int, int, float]] = []
        self.stops = 0

    async def play_samples(self, samples: bytes, sample_rate: int, channels: int, volume: float) -> None:
        self.played.append((len(samples), sample_rate, channels, volume))

    def stop(self) -> None:
        self.stops += 1


@pytest.fixture
async def program(tmp_path):
    path = tmp_path / "piper"
    path.write_text(f'#!/bin/sh\nexec {STAND_IN[0]} {STAND_IN[1]} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


async def test_the_voices_of_the_chosen_folder_speak(services, tmp_path, program):
    for name in ("en_US-joe-medium", "en_GB-ada-low", "de_DE-eva-low"):
        write_voice(tmp_path, name)
    await services.preferences.set(piper_folder=str(tmp_path), piper_program=str(program))
    output = SilentOutput()
    engine = PiperEngine(services.preferences, output)

    voices = await engine.list_voices()
    for voice in voices:
        await engine.play(await engine.prepare(SpokenSentence("0123456789", voice.voice_id, volume=0.5)))

    assert voices[2] == Voice("piper:en_US-joe-medium.onnx", "Joe medium", "en-US")
    assert output.played == [(2 * 2205, 22050, 1, 0.5)] * 3
    running = [process for process in engine._processes.values() if process.is_running]
    assert len(running) == 2
    await engine.close()
    assert not any(process.is_running for process in running)


async def test_without_a_folder_there_is_no_voice_and_no_problem(services):
    assert list(await PiperEngine(services.preferences, SilentOutput()).list_voices()) == []


async def test_a_missing_voice_file_or_program_is_named(services, tmp_path, program):
    write_voice(tmp_path)
    await services.preferences.set(piper_folder=str(tmp_path), piper_program=str(program))
    engine = PiperEngine(services.preferences, SilentOutput())
    with pytest.raises(SpeechUnavailable, match=r"gone\.onnx"):
        await engine.prepare(SpokenSentence("Yes.", "piper:gone.onnx"))

    await services.preferences.set(piper_program=str(tmp_path / "missing"))
    with pytest.raises(SpeechUnavailable, match="does not exist"):
        await engine.list_voices()


async def test_a_voice_that_is_not_used_any_more_is_unloaded_and_loaded_again(services, tmp_path, program):
    write_voice(tmp_path)
    await services.preferences.set(piper_folder=str(tmp_path), piper_program=str(program))
    engine = PiperEngine(services.preferences, SilentOutput(), idle_timeout=0.01)
    sentence = SpokenSentence("0123456789", "piper:en_US-joe-medium.onnx")
    await engine.prepare(sentence)
    (process,) = engine._processes.values()

    while process.is_running:  # noqa: ASYNC110 - nothing tells when a process has ended
        await asyncio.sleep(0.01)

    assert (await engine.prepare(sentence)).audio is not None
    await engine.close()
