"""Reading of a document in a process of its own, within limits of time and memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil

from lethe_app.errors import FileError
from lethe_app.interchange.documents import worker
from lethe_app.interchange.documents.worker import ReadingResult

STALL_SECONDS = 60.0
"""Time without progress after which reading ends."""
TOTAL_SECONDS = 900.0
"""Time after which reading ends in any case."""
MAX_MEMORY = 1024 * 1024 * 1024
"""Memory of the process in bytes above which reading ends."""
POLL_SECONDS = 0.05
JOIN_SECONDS = 2.0
"""Time that an ended process may take to disappear."""


async def read_file(path: Path, on_progress: Callable[[float], None]) -> ReadingResult:
    """Return the text of a document. `on_progress` receives the fraction read, 0 to 1. Cancelling ends the process at once.

    Raise FileError if the file is missing, cannot be read, or takes too much time or memory.
    """
    if not await asyncio.to_thread(path.is_file):
        raise FileError(path, "does not exist")
    context = multiprocessing.get_context("spawn")
    parent_end, child_end = context.Pipe(duplex=False)
    process = context.Process(target=worker.run, args=(child_end, str(path)), daemon=True, name="lethe-document")
    process.start()
    child_end.close()
    started = last_progress = time.monotonic()
    try:
        while True:
            if await asyncio.to_thread(parent_end.poll, POLL_SECONDS):
                received = await asyncio.to_thread(parent_end.recv)
                if isinstance(received, ReadingResult):
                    break
                on_progress(float(received))
                last_progress = time.monotonic()
            elif time.monotonic() - last_progress > STALL_SECONDS or time.monotonic() - started > TOTAL_SECONDS:
                raise FileError(path, "takes too long to read")
            elif _memory_of(process) > MAX_MEMORY:
                raise FileError(path, "needs too much memory")
    except (EOFError, OSError) as error:
        raise FileError(path, "cannot be read; the process that read it has ended") from error
    finally:
        process.kill()
        await asyncio.to_thread(process.join, JOIN_SECONDS)
        parent_end.close()
    if received.problem:
        raise FileError(path, received.problem, remedy=received.remedy)
    return received


def _memory_of(process: BaseProcess) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended."""
    with suppress(psutil.Error):
        return int(psutil.Process(process.pid).memory_info().rss)
    return 0
