"""Knows whether somebody waits for an answer, so that everything else waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from lethe_app.services.events import Listeners


class BackgroundPriority:
    """Background work asks before every step; the user's turn holds it off while it lasts."""

    def __init__(self) -> None:
        self.broken: Listeners[None] = Listeners()
        """Told when somebody begins to wait."""
        self._held = 0
        self._free = asyncio.Event()
        self._free.set()

    @property
    def is_broken(self) -> bool:
        """Does somebody wait for an answer now?"""
        return self._held > 0

    @contextmanager
    def hold_off(self) -> Iterator[None]:
        """While this lasts, nothing is begun in the background."""
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
        """Return when nobody waits for an answer."""
        await self._free.wait()
