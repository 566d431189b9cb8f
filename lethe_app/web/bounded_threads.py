"""Blocking calls in daemon threads that can be abandoned: they do not delay program exit, and their number is limited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import BoundedSemaphore, Thread
from typing import TypeVar

T = TypeVar("T")
MAX_THREADS = 4
"""Maximum concurrent threads, including abandoned ones that are still running."""
_slots = BoundedSemaphore(MAX_THREADS)
DNS_SLOTS = BoundedSemaphore(16)
"""Separate limit for DNS lookups, of which several are needed at once and each may be slow."""


async def run_in_bounded_thread(work: Callable[[], T], seconds: float, slots: BoundedSemaphore = _slots) -> T:
    """Return or raise the outcome of `work`, which runs in a thread.

    Raise TimeoutError after `seconds` (the thread continues), or at once if too many threads are still running.
    """
    if not slots.acquire(blocking=False):
        raise TimeoutError
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Callable[[], T]] = loop.create_future()

    def set_outcome(outcome: Callable[[], T]) -> None:
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        outcome = _capture_outcome(work)
        # Released by the thread itself and not by the waiting task, so that abandoned threads count until they end.
        slots.release()
        with suppress(RuntimeError):  # the loop has closed, so nobody waits for the result
            loop.call_soon_threadsafe(set_outcome, outcome)

    Thread(target=run, name="web", daemon=True).start()
    async with asyncio.timeout(seconds):
        outcome = await future
    return outcome()


def _capture_outcome(work: Callable[[], T]) -> Callable[[], T]:
    """Return a function that returns the result of `work` or raises its exception."""
    try:
        result = work()
    except BaseException as error:  # passed to the caller; a panic of a Rust library is a BaseException
        raised = error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")

        def fail() -> T:
            raise raised

        return fail
    return lambda: result
