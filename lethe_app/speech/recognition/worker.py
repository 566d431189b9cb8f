"""Recognition process: a listening thread reads the pipe and finds speech in the sound, the main thread recognises it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from lethe_app.errors import DictationError, LetheError
from lethe_app.speech.recognition.audio import duration_of
from lethe_app.speech.recognition.protocol import (
    ListeningEnded,
    RecogniserLoaded,
    RecognitionFailed,
    RecognitionReport,
    SpeechEnded,
    SpeechStarted,
    SpeechText,
)
from lethe_app.speech.recognition.recogniser import AUTOMATIC, Recogniser
from lethe_app.speech.recognition.segments import EndpointOptions, SpeechEvent, SpeechSegmenter, frames_of

MIN_PARTIAL_SECONDS = 0.7
"""Seconds of speech before the first provisional text, and between two of them."""
PARTIAL_SHARE = 0.5
"""Share of the time in which provisional texts may be computed; the final one of a segment waits for the one under way."""


def run(pipe: Connection, kind: str) -> None:
    """Serve requests until the pipe ends, which also happens when the main process is gone."""
    # Threads that wait for each other would spin: on a busy computer that tripled the time. Read when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is meant for the program, which then closes the pipe
    worker = RecognitionWorker(pipe, make_recogniser(kind))
    threading.Thread(target=worker.listen, daemon=True, name="sound").start()
    worker.serve()


def make_recogniser(kind: str) -> Recogniser:
    """Create the recogniser: `whisper`, or `scripted`, which plays a script. Each is imported only when used."""
    if kind == "scripted":
        from lethe_app.speech.recognition.scripted import ScriptedRecogniser  # noqa: PLC0415

        return ScriptedRecogniser()
    from lethe_app.speech.recognition.whisper import WhisperRecogniser  # noqa: PLC0415

    return WhisperRecogniser()


@dataclass(frozen=True)
class _ModelFile:
    """Model file to load."""

    path: Path
    threads: int


@dataclass(frozen=True)
class _Segment:
    """Segment to recognise; the last one of a stream ends it, and may be empty."""

    stream: int
    pcm: bytes
    language: str
    ends_stream: bool = False


class RecognitionWorker:
    """One stream at a time is heard. `listen` and `serve` run in threads of their own; one condition guards what they share."""

    def __init__(self, pipe: Connection, recogniser: Recogniser) -> None:
        self._pipe, self._recogniser = pipe, recogniser
        self._send_lock = threading.Lock()
        self._condition = threading.Condition()
        self._queue: deque[_ModelFile | _Segment] = deque()
        self._stream = 0
        """Number of the stream that is heard, or was heard last."""
        self._last_cancelled = 0
        """Number of the last stream that was cancelled, with all before it; nothing of them is reported."""
        self._language = AUTOMATIC
        self._segmenter: SpeechSegmenter | None = None
        self._reported_seconds = 0.0
        """Length of the current segment when its last provisional text was computed."""
        self._next_partial = 0.0
        """Time (monotonic) before which no provisional text is computed."""

    # Listening thread.

    def listen(self) -> None:
        """Read the pipe and find speech in the sound."""
        while True:
            try:
                request = self._pipe.recv()
            except (EOFError, OSError):
                os._exit(0)  # nobody is left to answer; the main thread may be deep in native code
            try:
                getattr(self, request.method)(*request.arguments)
            except Exception as error:  # the program must hear of any failure in here, as one of its own errors
                self._fail(self._stream, error)

    def load(self, path: Path, threads: int) -> None:
        """Load a model file."""
        self._enqueue(_ModelFile(path, threads))

    def start(self, stream: int, language: str, pause_ms: int) -> None:
        """Begin a stream, a segment of which ends with `pause_ms` milliseconds without speech; `language` is an ISO 639-1 code
        or `AUTOMATIC`. Sound is taken even while a model is loaded, and texts of the stream before may still follow.
        """
        self._recogniser.reset()
        options = replace(EndpointOptions(), pause_frames=frames_of(pause_ms))
        with self._condition:
            self._stream, self._language = stream, language
            self._segmenter = SpeechSegmenter(self._recogniser.is_speech, options)
            self._reported_seconds = 0.0

    def hear(self, stream: int, pcm: bytes) -> None:
        """Take the next PCM data of a stream; what arrives after its end is ignored."""
        if stream != self._stream:
            return
        with self._condition:
            events = list(self._segmenter.add(pcm)) if self._segmenter is not None else []
            self._condition.notify()  # a provisional text may be due
        for event in events:
            if event.kind is SpeechEvent.STARTED:
                self._send(SpeechStarted(self._stream))
            else:
                self._send(SpeechEnded(self._stream))
                self._enqueue(_Segment(self._stream, event.pcm, self._language))

    def finish(self, stream: int) -> None:
        """End a stream and recognise what was heard; answered by `ListeningEnded` after the last text."""
        if stream != self._stream:
            return
        with self._condition:
            events = list(self._segmenter.finish()) if self._segmenter is not None else []
            self._segmenter = None
        pcm = b"".join(event.pcm for event in events)
        self._enqueue(_Segment(self._stream, pcm, self._language, ends_stream=True))

    def cancel(self, stream: int) -> None:
        """End this and all earlier streams, and discard what was not recognised yet; not answered."""
        with self._condition:
            self._segmenter, self._last_cancelled = None, stream
            self._queue = deque(one for one in self._queue if isinstance(one, _ModelFile))

    def _enqueue(self, job: _ModelFile | _Segment) -> None:
        with self._condition:
            self._queue.append(job)
            if isinstance(job, _Segment):
                self._reported_seconds = 0.0
            self._condition.notify()

    # Main thread.

    def serve(self) -> None:
        """Load models and recognise segments for ever."""
        while True:
            job = self._next_job()
            try:
                if isinstance(job, _ModelFile):
                    self._recogniser.load(job.path, job.threads)
                    self._send(RecogniserLoaded(stream=0))
                elif isinstance(job, _Segment):
                    self._recognise(job)
                else:
                    self._recognise_part(*job)
            except Exception as error:  # the program must hear of any failure in here, as one of its own errors
                self._fail(self._stream, error)

    def _next_job(self) -> _ModelFile | _Segment | tuple[int, bytes, str]:
        """Wait for a request, for the end of a segment, or until a provisional text is due."""
        with self._condition:
            while True:
                if self._queue:
                    return self._queue.popleft()
                current = self._segmenter.current if self._segmenter is not None else b""
                is_due = duration_of(current) - self._reported_seconds >= MIN_PARTIAL_SECONDS
                if is_due and time.monotonic() >= self._next_partial:
                    self._reported_seconds = duration_of(current)
                    return self._stream, current, self._language
                self._condition.wait()

    def _recognise(self, segment: _Segment) -> None:
        if segment.pcm:
            result = self._recogniser.transcribe(segment.pcm, segment.language, is_final=True)
            self._send_current(SpeechText(segment.stream, result.text, result.language, is_final=True))
        if segment.ends_stream:
            self._send_current(ListeningEnded(segment.stream))

    def _recognise_part(self, stream: int, pcm: bytes, language: str) -> None:
        started = time.monotonic()
        result = self._recogniser.transcribe(pcm, language, is_final=False)
        ended = time.monotonic()
        with self._condition:
            self._next_partial = ended + (ended - started) * (1 - PARTIAL_SHARE) / PARTIAL_SHARE
            is_still_current = not self._queue
        if is_still_current and result.text:
            self._send_current(SpeechText(stream, result.text, result.language, is_final=False))

    def _send_current(self, report: SpeechText | ListeningEnded) -> None:
        """Send a report, unless its stream was cancelled."""
        if report.stream > self._last_cancelled:
            self._send(report)

    def _fail(self, stream: int, error: Exception) -> None:
        if isinstance(error, MemoryError):
            error = DictationError("There is not enough memory for speech recognition.", "Choose a smaller model.")
        elif not isinstance(error, LetheError):
            error = DictationError(f"Speech recognition failed: {type(error).__name__}: {error}")
        self._send(RecognitionFailed(stream, type(error).__name__, error.message, error.remedy))

    def _send(self, report: RecognitionReport) -> None:
        """Send a report, from either thread. If the pipe is broken, the listening thread notices it and ends the process."""
        with contextlib.suppress(BrokenPipeError, OSError), self._send_lock:
            self._pipe.send(report)
