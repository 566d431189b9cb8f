"""Long work beside the loop that tells how far it has come, and that ends whole or not at all when its task is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")
Told = Callable[[float], None]
"""Hears how far it has come, from 0 to 1, in the loop."""
STEP = 0.01


def silent(_done: float) -> None:
    """Nobody wants to know."""


class WorkCancelled(Exception):
    """The user thought better of it: raised in a thread, to leave its work."""


class CancelToken:
    """Carries word both ways between the loop and a thread: how far it has come, and that it is to end."""

    def __init__(self, told: Told) -> None:
        self._told, self._loop = told, asyncio.get_running_loop()
        self._wish, self._last = threading.Event(), -1.0

    @property
    def is_wanted(self) -> bool:
        return self._wish.is_set()

    def want(self) -> None:
        self._wish.set()

    def check(self, done: float) -> None:
        """In the thread. Raises `WorkCancelled` when it is to end."""
        if self.is_wanted:
            raise WorkCancelled
        if done - self._last >= STEP or done >= 1.0:
            self._last = done
            self._loop.call_soon_threadsafe(self._told, done)


async def until_done(work: Awaitable[T], stop: CancelToken) -> T:
    """The result of `work`, which looks at `stop`. A caller who is cancelled waits for it: it ends early, or it is done."""
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
    """Its result. Who stops a turn stops it before or after, never in the middle: half of its traces would be wrong."""
    task = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def beside(work: Callable[[], T]) -> T:
    """The result of `work`, done in a thread. When the caller is cancelled it is waited for all the same."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


MANY = 500
"""Records; going through more of them would be felt in the window."""


async def apart(records: int, work: Callable[[], T]) -> T:
    """What `work` returns, which goes through so many records and changes nothing that anybody else holds."""
    return work() if records < MANY else await asyncio.to_thread(work)
