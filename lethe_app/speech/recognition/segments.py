"""Cut a stream of sound into the segments in which somebody speaks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lethe_app.speech.recognition.audio import FRAME_BYTES
from lethe_app.speech.recognition.endpointing import EndpointOptions, EndpointState, SpeechEvent, advance, frames_of

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
