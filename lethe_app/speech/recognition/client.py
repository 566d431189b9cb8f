"""Client of the recognition process: starts it at its first use, sends sound, receives texts, and ends it when it is idle."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue

from lethe_app.errors import RecognitionCrashed
from lethe_app.process_client import ProcessClient
from lethe_app.speech.recognition.protocol import (
    ListeningEnded,
    RecognitionFailed,
    RecognitionReport,
    RecognitionRequest,
)

IDLE_SECONDS = 180.0
"""Seconds without a stream after which the process ends, and its memory is free again."""
MAX_THREADS = 4
"""Threads of recognition; more are hardly faster, and a reply may be generated at the same time."""

ReportListener = Callable[[RecognitionReport], None]


class RecognitionClient(ProcessClient):
    """One stream at a time is heard; those before it may still be recognised."""

    def __init__(self, kind: str = "whisper", idle_seconds: float = IDLE_SECONDS) -> None:
        super().__init__()
        self._kind, self._idle_seconds = kind, idle_seconds
        self._outbox: SimpleQueue[RecognitionRequest | None] = SimpleQueue()
        """Requests for the process, which a thread sends: a pipe blocks as soon as nobody reads it. None ends the thread."""
        self._loaded_path: Path | None = None
        self._stream = 0
        """Number of the last stream."""
        self._is_heard = False
        """True while the last stream takes sound."""
        self._listeners: dict[int, ReportListener] = {}
        """Listeners of the streams that have not ended."""
        self._idle_timer: asyncio.TimerHandle | None = None
        self._terminations: set[asyncio.Task[None]] = set()

    @property
    def is_listening(self) -> bool:
        """Return whether a stream has not ended."""
        return bool(self._listeners)

    def start_listening(self, path: Path, language: str, pause_ms: int, on_report: ReportListener) -> None:
        """Begin a stream with the model at `path`; the process starts and the model is loaded if necessary. What is heard
        meanwhile is kept. A stream that is heard is cancelled, one that is being finished is not.

        `on_report` is called in the event loop, for the last time with `ListeningEnded` or `RecognitionFailed`.
        """
        if self._is_heard:
            self.cancel_listening()
        self._stop_idle_timer()
        self._stream += 1
        self._listeners[self._stream], self._is_heard = on_report, True
        if not self.is_running:
            from lethe_app.speech.recognition import worker  # noqa: PLC0415 - the program at rest does without its modules

            pipe = self._start_process(worker.run, "recognition", self._kind)
            self._outbox, self._loaded_path = SimpleQueue(), None
            sending = threading.Thread(
                target=_send_requests, args=(pipe, self._outbox), daemon=True, name="recognition-requests"
            )
            sending.start()
        if self._loaded_path != path:
            self._loaded_path = path
            self._send(RecognitionRequest("load", (path, min(MAX_THREADS, os.cpu_count() or 1))))
        self._send(RecognitionRequest("start", (self._stream, language, pause_ms)))

    def send_audio(self, pcm: bytes) -> None:
        """Pass the next sound of the stream on."""
        if self._is_heard:
            self._send(RecognitionRequest("hear", (self._stream, pcm)))

    def finish_listening(self) -> None:
        """End the sound of the stream; texts still follow, then `ListeningEnded`."""
        if self._is_heard:
            self._is_heard = False
            self._send(RecognitionRequest("finish", (self._stream,)))

    def cancel_listening(self) -> None:
        """End all streams without another report."""
        if self._listeners:
            self._listeners.clear()
            self._is_heard = False
            self._send(RecognitionRequest("cancel", (self._stream,)))
            self._start_idle_timer()

    async def close(self) -> None:
        """Terminate the process and wait for its end."""
        self._listeners.clear()
        self._stop_idle_timer()
        self._terminate_process()
        await asyncio.gather(*self._terminations)

    # Process.

    def _deliver(self, report: RecognitionReport) -> None:
        stream = report.stream or self._stream
        on_report = self._listeners.get(stream)
        if on_report is None:
            return
        if isinstance(report, ListeningEnded):
            del self._listeners[stream]
            if not self._listeners:
                self._start_idle_timer()
        elif isinstance(report, RecognitionFailed):
            self._loaded_path = None
            self.cancel_listening()
        on_report(report)

    def _start_idle_timer(self) -> None:
        self._stop_idle_timer()
        self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._terminate_process)

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _send(self, request: RecognitionRequest) -> None:
        if self._pipe is not None:
            self._outbox.put(request)

    def _handle_exit(self, _exit_code: int | None) -> None:
        """End all streams with an error: the next one starts another process."""
        self._outbox.put(None)
        self._loaded_path = None
        listeners, self._is_heard = dict(self._listeners), False
        self._listeners.clear()
        for stream, on_report in listeners.items():
            message = "Speech recognition stopped working."
            on_report(RecognitionFailed(stream, RecognitionCrashed.__name__, message, "Dictate again to restart it."))

    def _terminate_process(self) -> None:
        self._outbox.put(None)
        self._loaded_path = None
        if (task := self._begin_termination()) is not None:
            self._terminations.add(task)
            task.add_done_callback(self._terminations.discard)


def _send_requests(pipe: Connection, outbox: SimpleQueue[RecognitionRequest | None]) -> None:
    """Send requests until None comes or the pipe is broken, whose end the reader thread reports. Runs in a thread."""
    with suppress(OSError):
        while (request := outbox.get()) is not None:
            pipe.send(request)
