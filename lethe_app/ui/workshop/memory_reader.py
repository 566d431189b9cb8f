"""Reads a persona's memories into a list piece by piece, so that the window never waits for the whole of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from lethe_app.domain.listing import MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.ui.workshop.place import Place
from lethe_app.ui.workshop.rows import Rows

CHANGED_MS = 300
"""The list is read again this long after the last of several changes."""
FREED_AT_ONCE = 1_000
"""Lines that are freed without a pause; tens of thousands would hold the window up."""


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
        self._empty()
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
        self._empty()

    def _changed(self, persona: str) -> None:
        if persona == self._persona:
            self._soon.start()

    def _empty(self) -> None:
        self._place.bridge.spawn(let_go(self._rows.fill([])))

    async def _read(self) -> None:
        counts: Counter[MemoryType | MemoryInsertion] = Counter()
        async for lines in self._place.house.browsing.lines(self._persona):
            self._rows.extend(lines)
            _count(counts, lines)
        self._rows.finish()
        self.counts = counts
        self._is_whole = True
        self.done.emit()
        if self._is_stale:
            self._is_stale = False
            await self._read_behind()

    async def _read_behind(self) -> None:
        """Compared piece by piece; lines that are as they were stay, and the ones just read are freed with their piece."""
        held, fresh, is_same = self._rows.everything, list[MemoryLine](), True
        counts: Counter[MemoryType | MemoryInsertion] = Counter()
        async for lines in self._place.house.browsing.lines(self._persona):
            before = held[len(fresh) : len(fresh) + len(lines)]
            is_same = is_same and before == lines
            fresh += before if is_same else lines
            _count(counts, lines)
        if not is_same or len(fresh) != len(held):
            before = self._rows.fill(fresh)
            self.counts = counts
            self.done.emit()
            await let_go(before)
        else:
            self.done.emit()


def _count(counts: Counter[MemoryType | MemoryInsertion], lines: Iterable[MemoryLine]) -> None:
    for line in lines:
        counts[line.category] += 1
        if not line.is_session:
            counts[line.insertion] += 1


async def let_go(lines: list[MemoryLine]) -> None:
    """Free them a few at a time."""
    while lines:
        del lines[-FREED_AT_ONCE:]
        await asyncio.sleep(0)
