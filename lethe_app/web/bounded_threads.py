"""Blocking calls in daemon threads that can be abandoned: they do not delay program exit, and their number is limited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
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
    future: Future[T] = Future()

    def run() -> None:
        # Released by the thread itself and not by the waiting task, so that abandoned threads count until they end. Nobody
        # waits for the result any more where the future was cancelled.
        try:
            result = work()
        except BaseException as error:  # a panic of a Rust library is a BaseException
            slots.release()
            raised = error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
            with suppress(InvalidStateError):
                future.set_exception(raised)
        else:
            slots.release()
            with suppress(InvalidStateError):
                future.set_result(result)

    Thread(target=run, name="web", daemon=True).start()
    async with asyncio.timeout(seconds):
        return await asyncio.wrap_future(future)
