"""Asyncio tasks started from Qt signals: the tasks are kept alive, and their errors are reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Work = Coroutine[Any, Any, None]


class Bridge:
    """Owner of all tasks that the window starts. An error is reported once; a cancelled task is not reported."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._tasks: set[asyncio.Task[None]] = set()
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def spawn(self, work: Work, lane: str = "") -> asyncio.Task[None] | None:
        """Run `work` in the running event loop and return its task; None after `close`.

        A new task in a named `lane` cancels the previous one of that lane, so that only the last of several clicks takes
        effect.
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
        """Cancel the task of `lane`, if one is running."""
        running = self._lanes.pop(lane, None)
        if running is not None:
            running.cancel()

    async def close(self) -> None:
        """Cancel all tasks and wait until they have ended; errors on the way are still reported."""
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
    """Return whether the error is PySide's RuntimeError for a deleted C++ object: the page the task worked for was closed
    meanwhile.
    """
    return isinstance(error, RuntimeError) and str(error).endswith("already deleted.")
