"""Messages that cross the pipe between the main process and the recognition process: frozen, picklable values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class RecognitionRequest:
    """Call of a method of the process, see `RecognitionWorker`. A stream is everything that is heard between two presses of the
    microphone button.
    """

    method: Literal["load", "start", "hear", "finish", "cancel"]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class RecognitionReport:
    """Report of the process about a stream."""

    stream: int


@dataclass(frozen=True)
class RecogniserLoaded(RecognitionReport):
    """A model file is loaded, for whatever stream; the number is 0."""


@dataclass(frozen=True)
class SpeechStarted(RecognitionReport):
    """Somebody begins to speak."""


@dataclass(frozen=True)
class SpeechEnded(RecognitionReport):
    """A pause; the text of the segment follows."""


@dataclass(frozen=True)
class SpeechText(RecognitionReport):
    """Text of a segment: provisional while it lasts, final once after its end. A final text is empty if nothing was
    understood.
    """

    text: str
    language: str
    is_final: bool


@dataclass(frozen=True)
class ListeningEnded(RecognitionReport):
    """Everything that was heard in a stream is recognised."""


@dataclass(frozen=True)
class RecognitionFailed(RecognitionReport):
    """A stream ended with an error; `kind` is the name of its class."""

    kind: str
    message: str
    remedy: str = ""
