"""Base of the clients of worker processes: starts a process, passes its reports to the event loop, and terminates it."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, ClassVar

TERMINATE_TIMEOUT = 2.0
"""Seconds a process may take to terminate by itself before it is killed."""
STDERR = 2
"""File descriptor of the error output."""
MAX_ERROR_BYTES = 1 << 16
"""Bytes of error output that are read after a crash; a pipe holds no more."""


class ProcessClient(ABC):
    """Client of at most one process at a time. Use it from one event loop, and close it before that loop closes."""

    start_method: ClassVar[str] = "spawn"
    """How processes are started; not by `fork`, which would copy Qt and its threads into them."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._reader: threading.Thread | None = None
        self._error_output = ""
        """What the last process that ended unexpectedly wrote to stderr, as far as a pipe holds it; empty on Windows."""

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

    @abstractmethod
    def _deliver(self, report: Any) -> None:  # noqa: ANN401 - each client has reports of its own
        """Handle a report of the process. Called in the event loop."""

    @abstractmethod
    def _handle_exit(self, exit_code: int | None) -> None:
        """Handle the end of a process that this client did not terminate. Called in the event loop."""

    def _start_process(self, target: Callable[..., None], name: str, *args: str) -> Connection:
        """Start a process named `lethe-{name}` that runs `target(pipe, *args)`; return this end of the pipe."""
        context = multiprocessing.get_context(self.start_method)
        parent_end, child_end = context.Pipe()
        errors, child_errors = context.Pipe(duplex=False)
        # typeshed leaves `Process` out of the contexts' base class.
        process: BaseProcess = context.Process(  # type: ignore[attr-defined]
            target=run_with_error_pipe,
            args=(child_errors, target, child_end, *args),
            daemon=True,
            name=f"lethe-{name}",
        )
        process.start()
        # The process has its own copy. With this one open, recv would never report the end of the pipe after a crash.
        child_end.close()
        child_errors.close()
        reading = (parent_end, errors, process, asyncio.get_running_loop())
        self._process, self._pipe = process, parent_end
        self._reader = threading.Thread(target=self._read_reports, args=reading, daemon=True, name=f"{name}-reports")
        self._reader.start()
        return parent_end

    def _read_reports(
        self, pipe: Connection, errors: Connection, process: BaseProcess, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Pass every report to the event loop until the pipe ends. Runs in the reader thread."""
        with errors, suppress(RuntimeError):  # the loop is closed: nobody waits for the news
            try:
                while True:
                    loop.call_soon_threadsafe(self._deliver, pipe.recv())
            except (EOFError, OSError):
                process.join(TERMINATE_TIMEOUT)
                # The exit code is known only after the join above: the pipe ends slightly before the process does.
                loop.call_soon_threadsafe(self._notice_exit, pipe, process.exitcode, read_error_output(errors))

    def _notice_exit(self, pipe: Connection, exit_code: int | None, error_output: str) -> None:
        # A process that was replaced or terminated by this client also ends its pipe; only the current one counts.
        if pipe is self._pipe:
            self._process = self._pipe = self._reader = None
            pipe.close()
            self._error_output = error_output
            self._handle_exit(exit_code)

    def _begin_termination(self) -> asyncio.Task[None] | None:
        """Forget the process and terminate it in a thread; return the task, or None without a process. Nothing in it needs to
        be saved.
        """
        process, pipe, reader = self._process, self._pipe, self._reader
        self._process = self._pipe = self._reader = None
        if process is None or pipe is None or reader is None:
            return None
        return asyncio.get_running_loop().create_task(asyncio.to_thread(_terminate, process, reader, pipe))


def _terminate(process: BaseProcess, reader: threading.Thread, pipe: Connection) -> None:
    """Terminate a process, wait for it and for its reader thread, and close the pipe."""
    process.terminate()
    process.join(TERMINATE_TIMEOUT)
    if process.is_alive():
        process.kill()
        process.join()
    reader.join()
    pipe.close()  # not before the reader has ended, which may still be in recv


def run_with_error_pipe(errors: Connection, target: Callable[..., None], *args: object) -> None:
    """Run `target` in this process with stderr, also that of native libraries, led into a pipe that the parent reads after a
    crash. What does not fit the pipe is dropped, because nobody reads it before. Windows keeps its stderr.
    """
    if sys.platform != "win32":
        os.set_blocking(errors.fileno(), False)
        os.dup2(errors.fileno(), STDERR)
    target(*args)


def read_error_output(errors: Connection) -> str:
    """Return what a process that has ended wrote into its error pipe."""
    has_output = sys.platform != "win32" and errors.poll()  # a child of the process may still hold the other end open
    return os.read(errors.fileno(), MAX_ERROR_BYTES).decode("utf-8", "replace") if has_output else ""
