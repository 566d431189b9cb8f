"""Offload long work to threads, with progress reports; cancelled work either completes or is rolled back, never in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from lethe_app.errors import WorkCancelled

T = TypeVar("T")
ProgressCallback = Callable[[float], None]
"""Progress callback with a fraction from 0 to 1, called in the event loop."""
MIN_PROGRESS_STEP = 0.01
"""Minimum change of the fraction between two reports."""


def ignore_progress(_done: float) -> None:
    """Ignore progress."""


class CancelToken:
    """Connect the event loop with a worker thread: progress in one direction, cancellation in the other."""

    def __init__(self, on_progress: ProgressCallback) -> None:
        self._on_progress, self._loop = on_progress, asyncio.get_running_loop()
        self.cancel_event, self._last_fraction = threading.Event(), -1.0

    @property
    def is_cancelled(self) -> bool:
        return self.cancel_event.is_set()

    def cancel(self) -> None:
        self.cancel_event.set()

    def report_progress(self, fraction: float) -> None:
        """Report progress from the worker thread. Raise WorkCancelled if cancellation was requested."""
        if self.is_cancelled:
            raise WorkCancelled
        if fraction - self._last_fraction >= MIN_PROGRESS_STEP or fraction >= 1.0:
            self._last_fraction = fraction
            self._loop.call_soon_threadsafe(self._on_progress, fraction)


async def run_cancellable(work: Awaitable[T], token: CancelToken) -> T:
    """Return the result of `work`, which checks `token`. If the caller is cancelled, wait until the work has stopped early or
    completed; completed work is returned as if nothing had happened.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except WorkCancelled:
        raise asyncio.CancelledError from None
    except asyncio.CancelledError:
        token.cancel()
        await asyncio.wait({task})
        if task.cancelled() or isinstance(task.exception(), WorkCancelled):
            raise
        return task.result()


async def run_to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. If the caller is cancelled, the work is completed first: what is stored by half, or is not
    known to be stored, could not be taken back.
    """
    task = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # retrieved, since the cancellation says all there is to say
        raise


async def run_in_thread(work: Callable[[], T]) -> T:
    """Return the result of `work`, run in a thread. If the caller is cancelled, wait for the thread all the same."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


MIN_OFFLOADED_RECORDS = 500
"""Number of records above which processing them in the event loop would delay the window noticeably."""


async def offload_if_large(record_count: int, work: Callable[[], T]) -> T:
    """Return the result of `work`, in a thread if it processes at least `MIN_OFFLOADED_RECORDS` records. It must not modify
    shared objects.
    """
    return work() if record_count < MIN_OFFLOADED_RECORDS else await asyncio.to_thread(work)
