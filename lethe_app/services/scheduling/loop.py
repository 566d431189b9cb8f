"""Background loops, the priority of the user's turn over them, and the user's idle time."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from lethe_app.domain.clock import now
from lethe_app.errors import LetheError
from lethe_app.services.events import Listeners


class BackgroundPriority:
    """Gate for background work, which waits before each step while the user's turn is in progress."""

    def __init__(self) -> None:
        self.turn_started: Listeners[None] = Listeners()
        """Emitted when a turn begins."""
        self._turn_count = 0
        self._no_turn = asyncio.Event()
        self._no_turn.set()

    @property
    def is_turn_active(self) -> bool:
        """Return whether a turn is in progress."""
        return self._turn_count > 0

    @contextmanager
    def block_background(self) -> Iterator[None]:
        """Block background work while the context is open."""
        self._turn_count += 1
        self._no_turn.clear()
        self.turn_started.notify(None)
        try:
            yield
        finally:
            self._turn_count -= 1
            if self._turn_count == 0:
                self._no_turn.set()

    async def wait_for_turn_end(self) -> None:
        """Wait until no turn is in progress."""
        await self._no_turn.wait()


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
            # `asyncio.wait_for` of Python 3.11 swallows a cancellation if the event is set in the same step.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._interval):
                    await self._wake_event.wait()

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


class IdleTimer:
    """Runs an action once something was not in use for a while, such as to free what it holds."""

    def __init__(self, act: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._act = act
        self._users = 0
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        """Return whether nobody uses it now."""
        return self._users == 0

    @contextmanager
    def in_use(self, delay: Callable[[], float]) -> Iterator[None]:
        """Keep the action from running, and have it run `delay()` seconds after the last use."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self.start(delay())

    def start(self, seconds: float) -> None:
        """Run the action in `seconds` unless it is in use then; an earlier start counts no more."""
        self.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._run)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    async def close(self) -> None:
        """Cancel the timer, and wait for an action in progress."""
        self.cancel()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def _run(self) -> None:
        if self.is_idle:
            self._task = asyncio.get_running_loop().create_task(self._act())


MAX_DRAFT_AGE = timedelta(hours=6)
"""Time without a key after which text in the input field no longer counts as presence of the user."""


class Idleness:
    """Idle time of the user. Without a window that reports events it is unknown, and the user counts as present."""

    def __init__(self) -> None:
        self.user_active: Listeners[None] = Listeners()
        """Emitted when the user did something."""
        self.composing: Listeners[None] = Listeners()
        """Emitted when the user changed a draft that is not empty."""
        self._last_action: datetime | None = None
        self._is_composing = False

    def start_watching(self) -> None:
        """Start measuring: a window reports events from now on."""
        self._last_action = now()

    def stop_watching(self) -> None:
        """Stop measuring: no window reports events any more."""
        self._last_action, self._is_composing = None, False

    def record_action(self) -> None:
        """Record an action of the user: a key, a click, a message."""
        if self._last_action is not None:
            self._last_action = now()
        self.user_active.notify(None)

    def set_composing(self, *, has_text: bool) -> None:
        """Record whether the input field contains text; a user who has begun to write counts as present."""
        self._is_composing = has_text
        self.record_action()
        if has_text:
            self.composing.notify(None)

    @property
    def idle_time(self) -> timedelta | None:
        """Return the time since the user's last action, 0 while there is a recent draft, None if unknown."""
        if self._last_action is None:
            return None
        moment = now()
        self._last_action = min(self._last_action, moment)  # a clock that was set back must not keep the user present for hours
        idle = moment - self._last_action
        return timedelta() if self._is_composing and idle < MAX_DRAFT_AGE else idle
