"""How long from the first sentence of a reply to its first sound, and from a key press to silence, in the real window.

By default with Qt's soundless engine, in the sound process as always; `--voice system` speaks with the system's voices, and
`--voice piper --folder … --program …` with Piper. The first sound is when the system was given it, silence when the system has
confirmed that it was stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.piper_engine import PiperEngine
from lethe_app.services.speech.voices import PreparedSentence, SpeechEngine, SpokenSentence, Voice
from lethe_app.ui.speech.sound_process import SoundProcess, SystemVoices
from tests.bench.report import Figures, run
from tests.ui.window_scene import Scene, opened, until

TRIES = 6
REPLY = (
    "You are late, Captain. The galley was on fire again, and nobody told me about the oil. We sail with the tide. " * 3
).strip()


class TimedEngine:
    """Engine that notes when a sentence is wanted, when it sounds, and when it has ended."""

    def __init__(self, engine: SpeechEngine, sound: SoundProcess) -> None:
        self._engine, self.prefix = engine, engine.prefix
        self.wanted = self.started = self.ended = 0.0
        sound.on_started = self._note_start

    def _note_start(self) -> None:
        if self.wanted and not self.started:
            self.started = time.perf_counter()

    def forget(self) -> None:
        self.wanted = self.started = self.ended = 0.0

    async def list_voices(self) -> Sequence[Voice]:
        return await self._engine.list_voices()

    async def prepare(self, sentence: SpokenSentence) -> PreparedSentence:
        if sentence.volume and not self.wanted:  # not the word that loads the voice
            self.wanted = time.perf_counter()
        return await self._engine.prepare(sentence)

    async def play(self, prepared: PreparedSentence) -> None:
        try:
            await self._engine.play(prepared)
        finally:
            self.ended = time.perf_counter()

    def stop(self) -> None:
        self._engine.stop()

    async def close(self) -> None:
        await self._engine.close()


async def hear_reply(scene: Scene, engine: TimedEngine) -> tuple[float, float]:
    """Return the milliseconds from the first sentence to its sound, and from a key press to silence."""
    engine.forget()
    QTest.keyClicks(scene.draft, "Well?")
    QTest.keyClick(scene.draft, Qt.Key.Key_Return)
    await until(lambda: engine.started)
    first_sound = (engine.started - engine.wanted) * 1000
    for _ in range(20):
        QApplication.processEvents()
        await asyncio.sleep(0.02)
    engine.ended = 0.0
    pressed = time.perf_counter()
    QTest.keyClick(scene.draft, Qt.Key.Key_H)
    while not engine.ended:  # noqa: ASYNC110 - measured as exactly as the loop allows
        await asyncio.sleep(0.0005)
    silence = (engine.ended - pressed) * 1000
    await until(lambda: not scene.is_replying)
    scene.draft.clear()
    return first_sound, silence


async def measure(wanted: argparse.Namespace) -> Figures:
    """Measure in a window of its own."""
    application = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        figures = await measure_in(Path(folder), wanted.voice, wanted.folder, wanted.program)
    application.quit()
    return figures


async def measure_in(home: Path, voice: str, folder: str, program: str) -> Figures:
    """Medians and worst of some tries; the first, which connects the engine, by itself."""
    script = home / "echo.json"
    script.write_text(json.dumps({"replies": [REPLY] * (TRIES + 1), "delay": 0.005}), encoding="utf-8")
    sound = SoundProcess("mock" if voice == "mock" else "")
    engine = TimedEngine(SystemVoices(sound), sound)
    async with opened(home / "home", script, speech_engine=engine) as scene:
        preferences: Preferences = scene.services.preferences
        if voice == "piper":
            await preferences.set(piper_folder=folder, piper_program=program)
            engine._engine, engine.prefix = PiperEngine(preferences, sound), "piper:"
        await preferences.set(speak_replies=True)
        await scene.controller.speech_output.connect()
        first, _silence = await hear_reply(scene, engine)
        results = [await hear_reply(scene, engine) for _ in range(TRIES)]
        await engine.close()
    await sound.close()
    sounds, silences = zip(*results, strict=True)
    return {
        "first_sound_cold_ms": first,
        "first_sound_ms": statistics.median(sounds),
        "first_sound_ms_max": max(sounds),
        "silence_ms": statistics.median(silences),
        "silence_ms_max": max(silences),
    }


if __name__ == "__main__":
    run(
        __doc__,
        measure,
        ("--voice", {"choices": ["mock", "system", "piper"], "default": "mock", "help": "engine that speaks"}),
        ("--folder", {"default": "", "help": "folder with voice files of Piper"}),
        ("--program", {"default": "", "help": "program of Piper"}),
    )
