"""Priority of the user's turn over background work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from lethe_app.services.events import Listeners


class BackgroundPriority:
    """Gate for background work, which waits before each step while the user's turn is in progress."""

    def __init__(self) -> None:
        self.broken: Listeners[None] = Listeners()
        """Emitted when a turn begins."""
        self._held = 0
        self._free = asyncio.Event()
        self._free.set()

    @property
    def is_broken(self) -> bool:
        """Return whether a turn is in progress."""
        return self._held > 0

    @contextmanager
    def hold_off(self) -> Iterator[None]:
        """Hold back background work while the context is open."""
        self._held += 1
        self._free.clear()
        self.broken.tell(None)
        try:
            yield
        finally:
            self._held -= 1
            if self._held == 0:
                self._free.set()

    async def wait(self) -> None:
        """Wait until no turn is in progress."""
        await self._free.wait()
