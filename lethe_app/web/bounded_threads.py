"""Runs what blocks in a thread that may be given up: it cannot hold up the program's end, nor grow into a crowd."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import BoundedSemaphore, Thread
from typing import TypeVar

T = TypeVar("T")
MOST = 4
"""Threads at once, those included that were given up and still work."""
_desks = BoundedSemaphore(MOST)
NAMES = BoundedSemaphore(16)
"""Desks for looking up names, of which several are wanted at once and each may take its time."""


async def in_thread(work: Callable[[], T], seconds: float, desks: BoundedSemaphore = _desks) -> T:
    """What `work` returns or raises; TimeoutError after `seconds`, or at once where too many others have not come back."""
    if not desks.acquire(blocking=False):
        raise TimeoutError
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Callable[[], T]] = loop.create_future()

    def settle(outcome: Callable[[], T]) -> None:
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        outcome = _outcome(work)
        desks.release()
        with suppress(RuntimeError):  # the loop has closed meanwhile: nobody waits
            loop.call_soon_threadsafe(settle, outcome)

    Thread(target=run, name="web", daemon=True).start()
    async with asyncio.timeout(seconds):
        outcome = await future
    return outcome()


def _outcome(work: Callable[[], T]) -> Callable[[], T]:
    """What comes of it, to be returned or raised elsewhere."""
    try:
        result = work()
    except BaseException as error:  # handed to whoever waits; libraries of other languages raise their panic like this
        raised = error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")

        def fail() -> T:
            raise raised

        return fail
    return lambda: result
