"""Where speech begins and ends, from the probability of speech in each frame of sound; pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from lethe_app.speech.recognition.audio import FRAME_SAMPLES, SAMPLE_RATE

FRAME_MS = 1000 * FRAME_SAMPLES / SAMPLE_RATE


def frames_of(milliseconds: float) -> int:
    """Return the number of frames of a duration, at least 1."""
    return max(1, round(milliseconds / FRAME_MS))


@dataclass(frozen=True)
class EndpointOptions:
    """Thresholds of the beginning and the end of speech. Two probabilities, so that a value between them changes nothing."""

    start_probability: float = 0.5
    end_probability: float = 0.35
    start_frames: int = frames_of(96)
    """Frames of speech in a row with which speech begins; a click or a cough is shorter."""
    pause_frames: int = frames_of(800)
    """Hang-over: frames without speech after which speech has ended."""
    max_frames: int = frames_of(28_000)
    """Frames after which speech is cut in any case: Whisper hears 30 seconds at once."""


class SpeechEvent(StrEnum):
    """Change in a stream of sound."""

    STARTED = "started"
    ENDED = "ended"


@dataclass(frozen=True)
class EndpointState:
    """State between two frames."""

    is_speaking: bool = False
    speech_run: int = 0
    """Frames of speech in a row before speech has begun."""
    silent_run: int = 0
    """Frames without speech in a row since speech has begun."""
    length: int = 0
    """Frames since speech has begun."""


def advance(state: EndpointState, probability: float, options: EndpointOptions) -> tuple[EndpointState, SpeechEvent | None]:
    """Return the state after a frame with this probability of speech, and what began or ended with it."""
    if not state.is_speaking:
        run = state.speech_run + 1 if probability >= options.start_probability else 0
        if run < options.start_frames:
            return EndpointState(speech_run=run), None
        return EndpointState(is_speaking=True, length=run), SpeechEvent.STARTED
    silent_run = _advance_silence(state, probability, options)
    following = replace(state, silent_run=silent_run, length=state.length + 1)
    if silent_run >= options.pause_frames or following.length >= options.max_frames:
        return EndpointState(), SpeechEvent.ENDED
    return following, None


def _advance_silence(state: EndpointState, probability: float, options: EndpointOptions) -> int:
    if probability >= options.start_probability:
        return 0
    if probability < options.end_probability or state.silent_run:
        return state.silent_run + 1
    return 0
