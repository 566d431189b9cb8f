"""Scripted recogniser: plays texts from a file, for tests of everything around recognition."""

from __future__ import annotations

import os
import time
from pathlib import Path

from pydantic import BaseModel

from lethe_app.speech.recognition.audio import duration_of, level_of
from lethe_app.speech.recognition.recogniser import AUTOMATIC, RecognisedText

SPEECH_LEVEL = 0.4
"""Level above which a frame counts as speech."""
SECONDS_PER_WORD = 0.3
POLL_SECONDS = 0.02


class RecognitionScript(BaseModel, extra="forbid"):
    """Texts of the segments in turn, after which it begins again."""

    texts: list[str]
    language: str = "en"
    dies_at: int = -1
    """Number of the segment at which the process ends, to test a crash."""
    waits_for: str = ""
    """Path of a file before whose existence no final text comes, to test what happens meanwhile."""


class ScriptedRecogniser:
    """Recogniser that needs no model; what it “hears” depends only on how long somebody speaks."""

    def __init__(self) -> None:
        self._script = RecognitionScript(texts=[])
        self._segment = 0

    def load(self, path: Path, threads: int) -> None:
        self._script = RecognitionScript.model_validate_json(path.read_text(encoding="utf-8"))
        self._segment = 0

    def transcribe(self, pcm: bytes, language: str, *, is_final: bool) -> RecognisedText:
        if is_final and self._segment == self._script.dies_at:
            os._exit(3)
        while is_final and self._script.waits_for and not Path(self._script.waits_for).exists():
            time.sleep(POLL_SECONDS)
        texts = self._script.texts
        words = texts[self._segment % len(texts)].split() if texts else []
        if is_final:
            self._segment += 1
        else:
            words = words[: int(duration_of(pcm) / SECONDS_PER_WORD)]
        return RecognisedText(" ".join(words), self._script.language if language == AUTOMATIC else language)

    def is_speech(self, frame: bytes) -> float:
        return 1.0 if level_of(frame) > SPEECH_LEVEL else 0.0

    def reset(self) -> None:
        """Begin a new stream."""
