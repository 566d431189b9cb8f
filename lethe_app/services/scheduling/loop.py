"""Loop of background work: runs when woken and at an interval, but not while paused."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress

from lethe_app.errors import LetheError

LOG = logging.getLogger(__name__)


class BackgroundLoop:
    """Run `work` repeatedly, one call at a time. The call in progress at the end is cancelled and must be safe to repeat."""

    def __init__(self, work: Callable[[], Awaitable[None]], interval: float | None = None) -> None:
        """Create a loop; `interval` is the time in seconds between two calls; with None, it only runs when woken."""
        self._work = work
        self._interval = interval
        self._wake_event = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.is_paused = False

    def start(self, delay: float = 0.0) -> None:
        """Start after `delay` seconds; this also ends a pause."""
        self.is_paused = False
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(delay))

    @property
    def is_running(self) -> bool:
        """Return whether the loop was started and has neither been paused nor closed since."""
        return self._task is not None

    def wake(self) -> None:
        """Wake the loop, because there is work to do."""
        self._wake_event.set()

    async def pause(self) -> None:
        """Stop until `start` is called."""
        self.is_paused = True
        await self.close()

    async def close(self) -> None:
        """Cancel the call in progress and wait until it has ended."""
        if self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self, delay: float) -> None:
        await asyncio.sleep(delay)
        while True:
            self._wake_event.clear()
            with suppress(LetheError):  # reported by the operation that the user waits for
                await self._run_once()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake_event.wait(), self._interval)

    async def _run_once(self) -> None:
        """Run the work once. A bug is logged without its message, which may contain words of a conversation, and the loop
        goes on.
        """
        try:
            await self._work()
        except LetheError:
            raise
        except Exception as error:
            *_outer_frames, frame = traceback.extract_tb(error.__traceback__)
            LOG.warning("background work failed with %s at %s:%s", type(error).__name__, frame.filename, frame.lineno)
