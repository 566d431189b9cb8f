"""Reads a persona's memories into a list piece by piece, so that the window never waits for the whole of them."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QObject, QTimer, Signal

from lethe_app.domain.listing import MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.ui.workshop.place import Place
from lethe_app.ui.workshop.rows import Rows

CHANGED_MS = 300
"""The list is read again this long after the last of several changes."""


class MemoryReader(QObject):
    """`begin` shows the pieces as they come; `again` reads behind what is shown and puts it right at once."""

    done = Signal()
    """All of them are there, or there again."""

    def __init__(self, rows: Rows[MemoryLine], place: Place, parent: QObject) -> None:
        super().__init__(parent)
        self._rows, self._place = rows, place
        self._persona = ""
        self._lane = f"memory list {id(self)}"
        self._is_whole = False
        self._is_stale = False
        self.counts: Counter[MemoryType | MemoryInsertion] = Counter()
        """How many there are of each kind and of each way to come to mind."""
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self.again)
        brain, sessions = place.house.brain, place.house.sessions
        self._stop = [brain.changed.add(self._changed), sessions.changed.add(self._changed)]

    def begin(self, persona: str) -> None:
        """Another persona's."""
        self._persona, self._is_whole, self._is_stale = persona, False, False
        self._rows.fill([])
        self._place.bridge.spawn(self._read(), lane=self._lane)

    def again(self) -> None:
        """What is shown may no longer be true."""
        if not self._is_whole:
            self._is_stale = True
        elif self._persona:
            self._place.bridge.spawn(self._read_behind(), lane=self._lane)

    def close(self) -> None:
        self._soon.stop()
        self._place.bridge.cancel(self._lane)
        for stop in self._stop:
            stop()

    def _changed(self, persona: str) -> None:
        if persona == self._persona:
            self._soon.start()

    async def _read(self) -> None:
        async for lines in self._place.house.browsing.lines(self._persona):
            self._rows.extend(lines)
        self._rows.finish()
        self._count(self._rows.everything)
        self._is_whole = True
        self.done.emit()
        if self._is_stale:
            self._is_stale = False
            await self._read_behind()

    async def _read_behind(self) -> None:
        fresh = [line async for lines in self._place.house.browsing.lines(self._persona) for line in lines]
        if fresh != self._rows.everything:
            self._rows.fill(fresh)
            self._count(fresh)
        self.done.emit()

    def _count(self, lines: list[MemoryLine]) -> None:
        self.counts = Counter()
        for line in lines:
            self.counts[line.category] += 1
            if not line.is_session:
                self.counts[line.insertion] += 1
