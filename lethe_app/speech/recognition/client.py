"""Client of the recognition process: starts it at its first use, sends sound, receives texts, and ends it when it is idle."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from lethe_app.errors import RecognitionCrashed
from lethe_app.speech.recognition.protocol import (
    AudioChunk,
    CancelListening,
    FinishListening,
    ListeningEnded,
    ListeningReady,
    LoadRecogniser,
    RecognitionFailed,
    RecognitionReport,
    RecognitionRequest,
    StartListening,
)

START_METHOD: Literal["spawn"] = "spawn"
"""Start method of the process; not `fork`, which would copy Qt and its threads into it."""
IDLE_SECONDS = 180.0
"""Seconds without a stream after which the process ends, and its memory is free again."""
TERMINATE_TIMEOUT = 2.0
"""Seconds the process may take to terminate by itself before it is killed."""
MAX_THREADS = 4
"""Threads of recognition; more are hardly faster, and a reply may be generated at the same time."""

ReportListener = Callable[[RecognitionReport], None]


class RecognitionClient:
    """One stream at a time. Use it from one event loop, and close it before that loop closes."""

    def __init__(self, kind: str = "whisper", idle_seconds: float = IDLE_SECONDS) -> None:
        self._kind, self._idle_seconds = kind, idle_seconds
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._reader: threading.Thread | None = None
        self._outbox: SimpleQueue[RecognitionRequest | None] = SimpleQueue()
        """Requests for the process, which a thread sends: a pipe blocks as soon as nobody reads it. None ends the thread."""
        self._loaded_path: Path | None = None
        self._stream = 0
        self._on_report: ReportListener | None = None
        self._is_ready = False
        self._waiting_chunks: list[bytes] = []
        """Sound heard while the process starts; the pipe itself holds only two seconds of it."""
        self._is_finish_due = False
        self._idle_timer: asyncio.TimerHandle | None = None
        self._terminations: set[asyncio.Task[None]] = set()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

    @property
    def is_listening(self) -> bool:
        """Return whether a stream has begun and has not ended."""
        return self._on_report is not None

    def start_listening(self, path: Path, language: str, pause_ms: int, on_report: ReportListener) -> None:
        """Begin a stream with the model at `path`; the process starts and the model is loaded if necessary. What is heard
        meanwhile is kept.

        `on_report` is called in the event loop, for the last time with `ListeningEnded` or `RecognitionFailed`.
        """
        self.cancel_listening()
        self._stop_idle_timer()
        self._stream += 1
        self._on_report, self._is_ready, self._is_finish_due = on_report, False, False
        self._waiting_chunks.clear()
        if not self.is_running:
            self._start_process()
        if self._loaded_path != path:
            self._loaded_path = path
            self._send(LoadRecogniser(path, min(MAX_THREADS, os.cpu_count() or 1)))
        self._send(StartListening(self._stream, language, pause_ms))

    def send_audio(self, pcm: bytes) -> None:
        """Pass the next sound of the stream on."""
        if self._on_report is None or self._is_finish_due:
            return
        if self._is_ready:
            self._send(AudioChunk(self._stream, pcm))
        else:
            self._waiting_chunks.append(pcm)

    def finish_listening(self) -> None:
        """End the stream; texts still follow, then `ListeningEnded`."""
        if self._on_report is not None and not self._is_finish_due:
            self._is_finish_due = True
            if self._is_ready:
                self._send(FinishListening(self._stream))

    def cancel_listening(self) -> None:
        """End the stream without another report."""
        if self._on_report is not None:
            self._end_stream()
            self._send(CancelListening(self._stream))

    async def close(self) -> None:
        """Terminate the process and wait for its end."""
        self._on_report = None
        self._stop_idle_timer()
        self._terminate_process()
        await asyncio.gather(*self._terminations)

    # Process.

    def _start_process(self) -> None:
        from lethe_app.speech.recognition import worker  # noqa: PLC0415 - the program at rest does without its modules

        context = multiprocessing.get_context(START_METHOD)
        parent_end, child_end = context.Pipe()
        self._process = context.Process(target=worker.run, args=(child_end, self._kind), daemon=True, name="lethe-recognition")
        self._process.start()
        # The process has its own copy. With this one open, recv would never report the end of the pipe after a crash.
        child_end.close()
        self._pipe, self._loaded_path = parent_end, None
        loop = asyncio.get_running_loop()
        self._reader = threading.Thread(
            target=self._read_reports, args=(parent_end, self._process, loop), daemon=True, name="recognition-reports"
        )
        self._reader.start()
        self._outbox = SimpleQueue()
        threading.Thread(
            target=_send_requests, args=(parent_end, self._outbox), daemon=True, name="recognition-requests"
        ).start()

    def _read_reports(self, pipe: Connection, process: BaseProcess, loop: asyncio.AbstractEventLoop) -> None:
        """Pass every report to the event loop until the pipe ends. Runs in the reader thread."""
        try:
            while True:
                loop.call_soon_threadsafe(self._deliver, pipe.recv())
        except (EOFError, OSError):
            process.join(TERMINATE_TIMEOUT)
            with suppress(RuntimeError):  # the loop is closed: nobody waits for the news
                loop.call_soon_threadsafe(self._handle_exit, pipe)

    def _deliver(self, report: RecognitionReport) -> None:
        if self._on_report is None or (report.stream and report.stream != self._stream):
            return
        on_report = self._on_report
        if isinstance(report, ListeningReady):
            self._flush_waiting()
        elif isinstance(report, ListeningEnded):
            self._end_stream()
        elif isinstance(report, RecognitionFailed):
            self._loaded_path = None
            self.cancel_listening()
        on_report(report)

    def _flush_waiting(self) -> None:
        self._is_ready = True
        for pcm in self._waiting_chunks:
            self._send(AudioChunk(self._stream, pcm))
        self._waiting_chunks.clear()
        if self._is_finish_due:
            self._send(FinishListening(self._stream))

    def _end_stream(self) -> None:
        self._on_report = None
        self._waiting_chunks.clear()
        self._stop_idle_timer()
        self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._terminate_process)

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _send(self, request: RecognitionRequest) -> None:
        if self._pipe is not None:
            self._outbox.put(request)

    def _handle_exit(self, pipe: Connection) -> None:
        """Handle the end of a process that this client did not terminate: the next stream starts another."""
        if pipe is not self._pipe:
            return
        self._outbox.put(None)
        pipe.close()
        self._process = self._pipe = self._reader = self._loaded_path = None
        on_report = self._on_report
        if on_report is not None:
            self._on_report = None
            message = "Speech recognition stopped working."
            on_report(RecognitionFailed(self._stream, RecognitionCrashed.__name__, message, "Dictate again to restart it."))

    def _terminate_process(self) -> None:
        process, pipe, reader = self._process, self._pipe, self._reader
        self._outbox.put(None)
        self._process = self._pipe = self._reader = self._loaded_path = None
        if process is not None and pipe is not None and reader is not None:
            work = asyncio.to_thread(_terminate, process, pipe, reader)
            task = asyncio.get_running_loop().create_task(work)
            self._terminations.add(task)
            task.add_done_callback(self._terminations.discard)


def _send_requests(pipe: Connection, outbox: SimpleQueue[RecognitionRequest | None]) -> None:
    """Send requests until None comes or the pipe is broken, whose end the reader thread reports. Runs in a thread."""
    with suppress(OSError):
        while (request := outbox.get()) is not None:
            pipe.send(request)


def _terminate(process: BaseProcess, pipe: Connection, reader: threading.Thread) -> None:
    """Terminate a process and wait for it; nothing in it needs to be saved."""
    process.terminate()
    process.join(TERMINATE_TIMEOUT)
    if process.is_alive():
        process.kill()
        process.join()
    reader.join()
    pipe.close()  # not before the reader has ended, which may still be in recv
