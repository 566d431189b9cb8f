"""Loader of the list of memories, chunk by chunk, and again after changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType
from lethe_app.services.memory.service import MemoryService
from lethe_app.services.search.memory_lists import MemoryLists
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.table_model import MemoryState, build_state_tests
from lethe_app.ui.widgets.table_model import FilteredTableModel

FREE_BATCH_SIZE = 1_000
"""Lines freed without returning to the event loop; tens of thousands at once would block the window."""
RELOAD_DELAY_MS = 300
"""Delay in milliseconds after which changed memories are read again."""


class MemoryReader(QObject):
    """Loader of the memory list: `show_persona` fills it chunk by chunk, `reload` reloads in the background and replaces it
    at once.
    """

    loaded = Signal()
    """All lines are loaded or reloaded."""

    def __init__(
        self,
        rows: FilteredTableModel[MemoryLine],
        context: PageContext,
        memory_service: MemoryService,
        memory_lists: MemoryLists,
        sessions: SessionService,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._rows, self._context = rows, context
        self._memory_lists = memory_lists
        self._persona = ""
        self._reload_key = f"memory list {id(self)}"
        self._is_loaded = False
        self._is_stale = False
        self.counts: Counter[MemoryType | MemoryInsertion | MemoryState] = Counter()
        """Number of memories of each type and state, and of each recall mode without conversations."""
        self._reload_timer = QTimer(self, singleShot=True, interval=RELOAD_DELAY_MS)
        self._reload_timer.timeout.connect(self.reload)
        self._unsubscribers = [
            memory_service.changed.add(self._on_memories_changed),
            sessions.changed.add(self._on_memories_changed),
        ]

    def show_persona(self, persona_id: str) -> None:
        """Clear the list and load the memories of another persona."""
        self._persona, self._is_loaded, self._is_stale = persona_id, False, False
        self._clear_rows()
        self._context.tasks.start_task(self._load_all(), key=self._reload_key)

    def reload(self) -> None:
        """Reload the list because it may be outdated; during the first load, it is reloaded afterwards."""
        if not self._is_loaded:
            self._is_stale = True
        elif self._persona:
            self._context.tasks.start_task(self._reload_in_background(), key=self._reload_key)

    def close(self) -> None:
        self._reload_timer.stop()
        self._context.tasks.cancel(self._reload_key)
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        self._clear_rows()

    def _on_memories_changed(self, persona_id: str) -> None:
        if persona_id == self._persona:
            self._reload_timer.start()

    def _clear_rows(self) -> None:
        self._context.tasks.start_task(free_in_batches(self._rows.set_rows([])))

    async def _load_all(self) -> None:
        counts: Counter[MemoryType | MemoryInsertion | MemoryState] = Counter()
        async for lines in self._memory_lists.list_memories(self._persona):
            self._rows.append_rows(lines)
            _count_lines(counts, lines)
        self._rows.sort_appended_rows()
        self.counts = counts
        self._is_loaded = True
        self.loaded.emit()
        if self._is_stale:
            self._is_stale = False
            await self._reload_in_background()

    async def _reload_in_background(self) -> None:
        """Reload all lines and compare them chunk by chunk; unchanged lines keep their objects, so that the new ones are
        freed at once.
        """
        current, fresh, is_same = self._rows.all_rows, list[MemoryLine](), True
        counts: Counter[MemoryType | MemoryInsertion | MemoryState] = Counter()
        async for lines in self._memory_lists.list_memories(self._persona):
            before = current[len(fresh) : len(fresh) + len(lines)]
            is_same = is_same and before == lines
            fresh += before if is_same else lines
            _count_lines(counts, lines)
        if not is_same or len(fresh) != len(current):
            before = self._rows.set_rows(fresh)
            self.counts = counts
            self.loaded.emit()
            await free_in_batches(before)
        else:
            self.loaded.emit()


def _count_lines(counts: Counter[MemoryType | MemoryInsertion | MemoryState], lines: Iterable[MemoryLine]) -> None:
    tests = build_state_tests()
    for line in lines:
        counts[line.category] += 1
        for state, test in tests.items():
            counts[state] += test(line)
        if not line.is_session:
            counts[line.insertion] += 1


async def free_in_batches(lines: list[MemoryLine]) -> None:
    """Free lines in batches of `FREE_BATCH_SIZE`, between which the event loop runs."""
    while lines:
        del lines[-FREE_BATCH_SIZE:]
        await asyncio.sleep(0)
