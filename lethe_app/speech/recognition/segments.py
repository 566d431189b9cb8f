"""Cut a stream of sound into the segments in which somebody speaks, by the probability of speech in each frame."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from lethe_app.speech.recognition.audio import FRAME_BYTES, FRAME_SAMPLES, SAMPLE_RATE

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


LEAD_IN_FRAMES = frames_of(320)
"""Frames before speech is detected that belong to it: its first sounds are too soft to be detected."""

SpeechDetector = Callable[[bytes], float]
"""Returns the probability of speech in a frame of `FRAME_BYTES`."""


@dataclass(frozen=True)
class SegmentEvent:
    """Beginning or end of a segment; at its end with the sound, from shortly before the first word to the pause."""

    kind: SpeechEvent
    pcm: bytes = b""


class SpeechSegmenter:
    """Segments of one stream. Chunks may be of any size."""

    def __init__(self, detect: SpeechDetector, options: EndpointOptions) -> None:
        self._detect, self._options = detect, options
        self._state = EndpointState()
        self._lead_in: deque[bytes] = deque(maxlen=LEAD_IN_FRAMES + options.start_frames)
        self._segment = bytearray()
        self._rest = b""

    @property
    def current(self) -> bytes:
        """Return the sound of the segment that has not ended yet; empty between segments."""
        return bytes(self._segment)

    def add(self, pcm: bytes) -> Iterator[SegmentEvent]:
        """Yield what begins and ends in the next chunk."""
        data = self._rest + pcm
        complete = len(data) // FRAME_BYTES * FRAME_BYTES
        self._rest = data[complete:]
        for start in range(0, complete, FRAME_BYTES):
            yield from self._add_frame(data[start : start + FRAME_BYTES])

    def finish(self) -> Iterator[SegmentEvent]:
        """Yield the end of the segment that has not ended yet, if there is one."""
        if self._state.is_speaking:
            yield self._end_segment()

    def _add_frame(self, frame: bytes) -> Iterator[SegmentEvent]:
        self._state, event = advance(self._state, self._detect(frame), self._options)
        if event is SpeechEvent.STARTED:
            self._lead_in.append(frame)
            self._segment = bytearray(b"".join(self._lead_in))
            self._lead_in.clear()
            yield SegmentEvent(event)
        elif event is SpeechEvent.ENDED:
            self._segment += frame
            yield self._end_segment()
        elif self._state.is_speaking:
            self._segment += frame
        else:
            self._lead_in.append(frame)

    def _end_segment(self) -> SegmentEvent:
        pcm, self._segment, self._state = bytes(self._segment), bytearray(), EndpointState()
        return SegmentEvent(SpeechEvent.ENDED, pcm)
