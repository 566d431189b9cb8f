"""Messages that cross the pipe between the main process and the recognition process: frozen, picklable values only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# To the process. A stream is everything that is heard between two presses of the microphone button.


@dataclass(frozen=True)
class LoadRecogniser:
    """Load a model file."""

    path: Path
    threads: int


@dataclass(frozen=True)
class StartListening:
    """Begin a stream. Sound is taken even while the model is being loaded, and texts of the stream before may still follow."""

    stream: int
    language: str
    """ISO 639-1 code, or `AUTOMATIC`."""
    pause_ms: int
    """Milliseconds without speech that end a segment."""


@dataclass(frozen=True)
class AudioChunk:
    """Next PCM data of a stream."""

    stream: int
    pcm: bytes


@dataclass(frozen=True)
class FinishListening:
    """End a stream and recognise what was heard; answered by `ListeningEnded` after the last text."""

    stream: int


@dataclass(frozen=True)
class CancelListening:
    """End this and all earlier streams, and discard what was not recognised yet; not answered."""

    stream: int


# From the process.


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


RecognitionRequest = LoadRecogniser | StartListening | AudioChunk | FinishListening | CancelListening
