"""Priority of the user's turn over background work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

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
