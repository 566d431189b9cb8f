"""Carries wishes from Qt's signals into asyncio: starts a task, keeps it alive, and reports what went wrong in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Work = Coroutine[Any, Any, None]


class Bridge:
    """Owns every task that the window started; a task that fails is reported once, a cancelled one is silent."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._tasks: set[asyncio.Task[None]] = set()
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def spawn(self, work: Work, lane: str = "") -> asyncio.Task[None] | None:
        """Run `work` in the loop that runs now. A new task in a named lane replaces the one before it, so that only the newest
        of many clicks counts. After `close` nothing is started any more.
        """
        if self._closed:
            work.close()
            return None
        if lane:
            self.cancel(lane)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        if lane:
            self._lanes[lane] = task
        task.add_done_callback(self._settled)
        return task

    def cancel(self, lane: str) -> None:
        """End the task of `lane`, if one is running."""
        running = self._lanes.pop(lane, None)
        if running is not None:
            running.cancel()

    async def close(self) -> None:
        """Cancel everything and wait until it has ended; what fails on the way out is still reported."""
        self._closed = True
        waiting = list(self._tasks)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def _settled(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        for lane in [name for name, held in self._lanes.items() if held is task]:
            del self._lanes[lane]
        if not task.cancelled() and (error := task.exception()) is not None and not speaks_of_the_gone(error):
            self._report(error)


def speaks_of_the_gone(error: BaseException) -> bool:
    """Did work end because the page it was for was closed meanwhile? There is nobody left to tell."""
    return isinstance(error, RuntimeError) and str(error).endswith("already deleted.")
