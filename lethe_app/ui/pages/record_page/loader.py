"""Loader of a list: fills it batch by batch, and reads it again in the background after changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Generic, TypeVar

from lethe_app.ui.core.tasks import TaskRunner
from lethe_app.ui.widgets.table_model import FilteredTableModel

Row = TypeVar("Row")
FREE_BATCH_SIZE = 1_000
"""Records freed without returning to the event loop; tens of thousands at once would block the window."""


class RecordLoader(Generic[Row]):
    """Fills the rows of a list. `start_over` clears and fills them batch by batch, `reload` reads all in the background and
    replaces them at once, if anything has changed.
    """

    def __init__(
        self,
        rows: FilteredTableModel[Row],
        tasks: TaskRunner,
        load_batches: Callable[[], AsyncIterator[Sequence[Row]]],
        count_batch: Callable[[Sequence[Row] | None], None],
        on_loaded: Callable[[bool], None],
    ) -> None:
        """Create the loader. `count_batch` gets every batch, and None before the first one; `on_loaded` is called when all
        records are in the list, with False if they are the same as before.
        """
        self._rows, self._tasks, self._load_batches = rows, tasks, load_batches
        self._count_batch, self._on_loaded = count_batch, on_loaded
        self._key = f"list {id(self)}"
        self._filling: asyncio.Task[None] | None = None
        self._replacing: asyncio.Task[None] | None = None
        self.is_loaded = False
        """True once all records were in the list."""
        self._is_stale = False

    def start_over(self) -> None:
        """Clear the list and fill it, because it is about something else now."""
        self.is_loaded = self._is_stale = False
        self._tasks.cancel(self._key)
        self._clear()
        self._filling = self._tasks.start_task(self._fill(), key=self._key)

    def reload(self) -> None:
        """Read the list again; while it is being filled, afterwards."""
        if self._filling is not None and not self._filling.done():
            self._is_stale = True
        elif self.is_loaded:
            self._replacing = self._tasks.start_task(self._replace(), key=self._key)
        else:
            self.start_over()

    async def reload_and_wait(self) -> None:
        """Read the list again, and wait until it is there."""
        self.reload()
        tasks = [task for task in (self._filling, self._replacing) if task is not None and not task.done()]
        if tasks:
            await asyncio.wait(tasks)

    def close(self) -> None:
        """Stop loading and free the records."""
        self._tasks.cancel(self._key)
        self._clear()

    def _clear(self) -> None:
        if self._rows.row_total:
            self._tasks.start_task(free_in_batches(self._rows.set_rows([])))

    async def _fill(self) -> None:
        self._count_batch(None)
        async for batch in self._load_batches():
            self._rows.append_rows(batch)
            self._count_batch(batch)
        self._rows.sort_appended_rows()
        await self._wait_for_rows()
        self.is_loaded = True
        self._on_loaded(True)
        if self._is_stale:
            self._is_stale = False
            await self._replace()

    async def _wait_for_rows(self) -> None:
        """Wait until the rows are filtered and sorted."""
        while self._rows.is_busy:  # noqa: ASYNC110 - it is busy for a few turns of the event loop
            await asyncio.sleep(0)

    async def _replace(self) -> None:
        """Read all records and compare them batch by batch; unchanged ones keep their objects, so that the new ones are freed
        at once.
        """
        current, fresh, is_same = self._rows.all_rows, list[Row](), True
        self._count_batch(None)
        async for batch in self._load_batches():
            before = current[len(fresh) : len(fresh) + len(batch)]
            is_same = is_same and before == list(batch)
            fresh += before if is_same else batch
            self._count_batch(batch)
        is_same = is_same and len(fresh) == len(current)
        replaced = [] if is_same else self._rows.set_rows(fresh)
        await self._wait_for_rows()
        self._on_loaded(not is_same)
        await free_in_batches(replaced)


async def free_in_batches(records: list[Row]) -> None:
    """Free records in batches, between which the event loop runs."""
    while records:
        del records[-FREE_BATCH_SIZE:]
        await asyncio.sleep(0)
