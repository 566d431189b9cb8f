"""Offload long work to threads, with progress reports; cancelled work either completes or is rolled back, never in between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")
Told = Callable[[float], None]
"""Progress callback with a fraction from 0 to 1, called in the event loop."""
STEP = 0.01
"""Minimum change of the fraction between two reports."""


def silent(_done: float) -> None:
    """Ignore progress."""


class WorkCancelled(Exception):
    """Raised in a worker thread to leave work that the user cancelled."""


class CancelToken:
    """Connect the event loop with a worker thread: progress in one direction, cancellation in the other."""

    def __init__(self, told: Told) -> None:
        self._told, self._loop = told, asyncio.get_running_loop()
        self._wish, self._last = threading.Event(), -1.0

    @property
    def is_wanted(self) -> bool:
        return self._wish.is_set()

    def want(self) -> None:
        self._wish.set()

    def check(self, done: float) -> None:
        """Report progress from the worker thread. Raise WorkCancelled if cancellation was requested."""
        if self.is_wanted:
            raise WorkCancelled
        if done - self._last >= STEP or done >= 1.0:
            self._last = done
            self._loop.call_soon_threadsafe(self._told, done)


async def until_done(work: Awaitable[T], stop: CancelToken) -> T:
    """Return the result of `work`, which checks `stop`. If the caller is cancelled, wait until the work has stopped early or
    completed; completed work is returned as if nothing had happened.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except WorkCancelled:
        raise asyncio.CancelledError from None
    except asyncio.CancelledError:
        stop.want()
        await asyncio.wait({task})
        if task.cancelled() or isinstance(task.exception(), WorkCancelled):
            raise
        return task.result()


async def whole(work: Coroutine[None, None, T]) -> T:
    """Return the result of `work`. If the caller is cancelled, the work is completed first: a half-stored turn would leave
    inconsistent records.
    """
    task = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def beside(work: Callable[[], T]) -> T:
    """Return the result of `work`, run in a thread. If the caller is cancelled, wait for the thread all the same."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


MANY = 500
"""Number of records above which processing them in the event loop would delay the window noticeably."""


async def apart(records: int, work: Callable[[], T]) -> T:
    """Return the result of `work`, in a thread if it processes at least `MANY` records. It must not modify shared objects."""
    return work() if records < MANY else await asyncio.to_thread(work)
