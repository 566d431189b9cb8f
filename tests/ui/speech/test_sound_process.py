"""The sound process: voices of Qt's soundless engine, stop, its end, and what it says where a library is missing."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
import time

import pytest

from lethe_app.errors import SpeechUnavailable
from lethe_app.services.speech.voices import PreparedSentence, SpokenSentence
from lethe_app.ui.speech.sound_process import SoundProcess, SystemVoices
from lethe_app.ui.speech.worker import explain_import_error


def can_import(module: str) -> bool:
    """Whether a module of Qt and the libraries of the system that it needs are here; asked in a process of its own."""
    if importlib.util.find_spec(module) is None:
        return False
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


HAS_QT_SPEECH = can_import("PySide6.QtTextToSpeech")
needs_qt_speech = pytest.mark.skipif(not HAS_QT_SPEECH, reason="Qt's speech or a library that it needs is not installed")


@pytest.fixture
async def sound():
    process = SoundProcess("mock")
    yield process
    await process.close()
    assert not process.is_running


@needs_qt_speech
async def test_the_voices_of_all_languages_are_listed(sound):
    voices = await SystemVoices(sound).list_voices()

    assert {"Bob", "Anne", "Kjersti", "Mary"} <= {voice.name for voice in voices}
    assert {voice.language for voice in voices} >= {"en-GB", "nb"}
    assert len({voice.voice_id for voice in voices}) == len(voices)


@needs_qt_speech
async def test_a_sentence_is_spoken_to_its_end(sound):
    engine, started = SystemVoices(sound), []
    sound.on_started = lambda: started.append(True)
    voice = (await engine.list_voices())[-1]

    await engine.play(await engine.prepare(SpokenSentence("One two three.", voice.voice_id, rate=2.0, volume=0.5)))

    assert started == [True]


@needs_qt_speech
async def test_a_stopped_sentence_ends_before_its_time(sound):
    engine = SystemVoices(sound)
    await engine.list_voices()
    started = asyncio.Event()
    sound.on_started = started.set
    playing = asyncio.create_task(engine.play(PreparedSentence(SpokenSentence("word " * 5000, ""))))
    await started.wait()

    engine.stop()
    await playing  # eight minutes of words

    await engine.play(PreparedSentence(SpokenSentence("One.", "")))


@needs_qt_speech
async def test_a_sentence_that_was_stopped_before_its_turn_is_never_spoken(sound):
    engine, started = SystemVoices(sound), []
    sound.on_started = lambda: started.append(True)
    playing = asyncio.create_task(engine.play(PreparedSentence(SpokenSentence("word " * 5000, ""))))
    await asyncio.sleep(0)

    engine.stop()
    await playing

    assert started == []


@needs_qt_speech
async def test_the_process_ends_when_it_is_idle_and_starts_again():
    sound = SoundProcess("mock", idle_timeout=0.05)
    engine = SystemVoices(sound)
    await engine.list_voices()
    end = time.monotonic() + 60
    while sound.is_running and time.monotonic() < end:  # noqa: ASYNC110 - nothing tells when a process has ended
        await asyncio.sleep(0.01)
    assert not sound.is_running

    await engine.play(PreparedSentence(SpokenSentence("One.", "")))
    await sound.close()


@needs_qt_speech
async def test_the_end_of_the_process_ends_the_sentence_with_an_error(sound):
    engine = SystemVoices(sound)
    started = asyncio.Event()
    sound.on_started = started.set
    playing = asyncio.create_task(engine.play(PreparedSentence(SpokenSentence("word " * 5000, ""))))
    await started.wait()

    sound._process.kill()

    with pytest.raises(SpeechUnavailable, match="stopped working"):
        await playing


async def test_the_lack_of_voices_or_of_a_sound_output_is_an_error_with_a_remedy():
    sound = SoundProcess("no such engine")
    with pytest.raises(SpeechUnavailable) as raised:
        await sound.list_voices()

    assert raised.value.message
    await sound.close()


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        (
            "libpulse.so.0: cannot open shared object file: No such file or directory",
            "Speech needs the system library libpulse.so.0, which is missing.",
            "Install it with: sudo apt-get install libpulse0",
        ),
        ("No module named 'PySide6.QtTextToSpeech'", "Speech needs the package PySide6-Addons, which is missing.", ""),
        ("libfoo.so.3: cannot open", "Speech needs the system library libfoo.so.3, which is missing.", ""),
    ],
)
def test_a_missing_library_is_named_with_its_package(text: str, message: str, remedy: str):
    failure = explain_import_error(ImportError(text))

    assert (failure.message, failure.remedy) == (message, remedy)


def test_the_window_loads_no_sound_library():
    loaded = "[name for name in sys.modules if 'QtMultimedia' in name or 'QtTextToSpeech' in name]"
    probe = f"import sys, lethe_app.ui.controllers.speech; print({loaded})"

    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"
