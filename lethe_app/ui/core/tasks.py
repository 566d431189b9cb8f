"""Asyncio tasks started from Qt signals: the tasks are kept alive, and their errors are reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any
from weakref import WeakSet

Work = Coroutine[Any, Any, None]
CONFIRMED_TASKS: WeakSet[asyncio.Task[Any]] = WeakSet()
"""Tasks that do what the user has confirmed in a dialog; another one with the same key does not cancel them."""


class TaskRunner:
    """Owner of all tasks that the window starts. An error is reported once; a cancelled task is not reported."""

    def __init__(self, report_error: Callable[[BaseException], Callable[[], None] | None]) -> None:
        """Create the runner; `report_error` may return a function that closes the report."""
        self._report_error = report_error
        self._close_reports: dict[str, Callable[[], None]] = {}
        """Functions that close the reports of failed tasks, by key."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._keyed_tasks: dict[str, asyncio.Task[None]] = {}
        self._is_closed = False
        self.last_steps: list[Callable[[], Work]] = []
        """Functions that `close` runs when the tasks have ended, such as one that stores what was typed last."""

    def start_task(self, coroutine: Work, key: str = "") -> asyncio.Task[None] | None:
        """Run `coroutine` in the running event loop and return its task; None after `close`.

        A new task with a `key` cancels the previous one of that key, so that only the last of several clicks takes effect, and
        closes the report of its error. What the user has confirmed in a dialog is done nevertheless.
        """
        if self._is_closed:
            coroutine.close()
            return None
        if key:
            self.cancel(key)
        task = asyncio.get_running_loop().create_task(coroutine)
        # The event loop itself keeps only weak references to tasks.
        self._tasks.add(task)
        if key:
            self._keyed_tasks[key] = task
            if (close_report := self._close_reports.pop(key, None)) is not None:
                close_report()  # the user tries again
        task.add_done_callback(self._on_done)
        return task

    def create_callback(self, function: Callable[..., Work], *args: object, key: str = "") -> Callable[[], None]:
        """Return a callback that runs `function(*args)` as a task, for signals and buttons."""

        def start() -> None:
            self.start_task(function(*args), key)

        return start

    def create_slot(self, function: Callable[..., Work], key: str = "") -> Callable[..., None]:
        """Return a slot that runs `function` as a task with the values of the signal; not for signals whose values have a
        default, such as that of a click, which PySide leaves out for a slot of any number of them.
        """

        def start(*values: object) -> None:
            self.start_task(function(*values), key)

        return start

    def cancel(self, key: str) -> None:
        """Cancel the task of `key`, if one is running."""
        running = self._keyed_tasks.pop(key, None)
        if running is not None and running not in CONFIRMED_TASKS:
            running.cancel()

    async def close(self) -> None:
        """Cancel all tasks, wait until they have ended, and run the last steps; errors on the way are still reported."""
        self._is_closed = True
        waiting = list(self._tasks)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for step in list(self.last_steps):
            try:
                await step()
            except Exception as error:  # the steps after it are run all the same
                self._report_error(error)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        keys = [name for name, other in self._keyed_tasks.items() if other is task]
        for key in keys:
            del self._keyed_tasks[key]
        if not task.cancelled() and (error := task.exception()) is not None and not is_deleted_object_error(error):
            close_report = self._report_error(error)
            if close_report is not None:
                self._close_reports.update(dict.fromkeys(keys, close_report))


def is_deleted_object_error(error: BaseException) -> bool:
    """Return whether the error is PySide's RuntimeError for a deleted C++ object: the page the task worked for was closed
    meanwhile.
    """
    return isinstance(error, RuntimeError) and str(error).endswith("already deleted.")
