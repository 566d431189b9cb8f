"""The loop of everything that works unasked: when it is woken, now and then by itself, and not while it is paused."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress

from lethe_app.errors import LetheError

LOG = logging.getLogger(__name__)


class Background:
    """Does `work` again and again, one at a time. What is under way when it ends must be safe to do again."""

    def __init__(self, work: Callable[[], Awaitable[None]], look_again: float | None = None) -> None:
        """`look_again`: seconds after which it works without being woken; None waits for ever."""
        self._work = work
        self._look_again = look_again
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.is_paused = False

    def start(self, after: float = 0.0) -> None:
        """Begin, `after` some seconds; also what ends a pause."""
        self.is_paused = False
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(after))

    @property
    def is_running(self) -> bool:
        """Was it started, and neither paused nor closed since?"""
        return self._task is not None

    def wake(self) -> None:
        """There is something to do."""
        self._wanted.set()

    async def pause(self) -> None:
        """Leave everything as it is stored until `start`."""
        self.is_paused = True
        await self.close()

    async def close(self) -> None:
        """End what is under way, and wait until it has ended."""
        if self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self, after: float) -> None:
        await asyncio.sleep(after)
        while True:
            self._wanted.clear()
            with suppress(LetheError):  # told by whoever the user is waiting for
                await self._attempt()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), self._look_again)

    async def _attempt(self) -> None:
        """A fault of ours is logged without anything that was said, and the next time it works all the same."""
        try:
            await self._work()
        except LetheError:
            raise
        except Exception as error:
            *_above, place = traceback.extract_tb(error.__traceback__)
            LOG.warning("work behind broke down with %s at %s:%s", type(error).__name__, place.filename, place.lineno)
