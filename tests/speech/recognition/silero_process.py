"""Silero's network for a process of its own, as in the program: its libraries are called as llama.cpp's, which tests load."""

from __future__ import annotations

from lethe_app.speech.recognition.audio import FRAME_BYTES


def speech_probabilities(pcm: bytes) -> list[float]:
    """The probability of speech in each complete frame of a new stream."""
    from lethe_app.speech.recognition.whisper import WhisperRecogniser  # noqa: PLC0415 - only there

    recogniser = WhisperRecogniser()
    starts = range(0, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES)
    return [recogniser.is_speech(pcm[start : start + FRAME_BYTES]) for start in starts]
