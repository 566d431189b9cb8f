"""Saver of what the user types into the fields of records: one delay, one retry rule, one undo command for each change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping

from PySide6.QtGui import QUndoStack

from lethe_app.errors import LetheError, RecordMissing, StorageError
from lethe_app.ui.core.tasks import TaskRunner
from lethe_app.ui.pages.undo_commands import FieldChange

SAVE_DELAY_S = 0.4
"""Pause in typing, in seconds, after which changed values are stored."""
RETRY_DELAY_S = 5.0
"""Seconds after which values are stored again that storage could not take, because the disk is full for instance."""


class FieldSaver:
    """Stores changed fields after a pause in typing; every change is a command on the undo stack.

    A value stays unsaved until it is stored. Where storage fails, it is tried again, also after the page is closed and once
    more when the program quits; a value that is refused for another reason waits for the next change. It is dropped only if
    its record is gone. Each failure is reported once.
    """

    def __init__(
        self,
        undo_stack: QUndoStack,
        tasks: TaskRunner,
        report_error: Callable[[LetheError], object],
        store: Callable[[Hashable, Mapping[str, object]], Awaitable[object]],
        show: Callable[[Hashable, str, object], None],
        unsaved: Mapping[Hashable, Mapping[str, object]] | None = None,
    ) -> None:
        """Create the saver of a page.

        `store(record, values)` stores the changed fields of a record by name; it runs after the page is closed, too, so it must
        not touch widgets. `show(record, name, value)` shows a value that was typed, undone or redone. `unsaved` are values by
        record that an earlier page could not store.
        """
        self._undo_stack, self._tasks, self._report_error = undo_stack, tasks, report_error
        self._store, self._show = store, show
        self._unsaved = {record: dict(values) for record, values in (unsaved or {}).items()}
        self._reported: set[Hashable] = set()
        """Records whose failure was reported and not overcome."""
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        tasks.last_steps.append(self.save)

    def change_field(self, title: str, record: Hashable, name: str, old: object, new: object) -> None:
        """Set a field of the record with the key `record`, as a command with the given title on the undo stack."""

        def apply_value(_key: str, value: object) -> None:
            self._unsaved.setdefault(record, {})[name] = value
            self._reported.discard(record)
            self._save_after(SAVE_DELAY_S)
            self._show(record, name, value)

        if old != new:
            self._undo_stack.push(FieldChange(title, f"{record} {name}", old, new, apply_value))

    def unsaved_values(self, record: Hashable) -> dict[str, object]:
        """Return the values of a record that are not stored yet, by field name."""
        return dict(self._unsaved.get(record, {}))

    async def save(self) -> None:
        """Store all unsaved values now; errors are reported."""
        async with self._lock:
            self._stop_timer()
            try:
                for record in list(self._unsaved):
                    await self._save_record(record)
            except asyncio.CancelledError:
                self._save_after(SAVE_DELAY_S)  # as by a click on the next row, whose details wait for this
                raise
        if self._is_closed and not self._unsaved and self.save in self._tasks.last_steps:
            self._tasks.last_steps.remove(self.save)

    async def _save_record(self, record: Hashable) -> None:
        values = self.unsaved_values(record)
        try:
            await self._store(record, values)
        except LetheError as error:
            if record not in self._reported:
                self._reported.add(record)
                self._report_error(error)
            if isinstance(error, StorageError) and not isinstance(error, RecordMissing):
                self._save_after(RETRY_DELAY_S)
            if not isinstance(error, RecordMissing):
                return
        self._reported.discard(record)
        newer = {name: value for name, value in self.unsaved_values(record).items() if values.get(name, self) != value}
        if newer:  # typed while the others were being stored
            self._unsaved[record] = newer
        else:
            self._unsaved.pop(record, None)

    def close(self) -> None:
        """Store what is unsaved, because the page is closing; nothing is shown any more."""
        self._is_closed = True
        self._show = lambda _record, _name, _value: None
        if self._unsaved:
            self._tasks.start_task(self.save())
        else:
            self._tasks.last_steps.remove(self.save)

    def _save_after(self, delay: float) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(delay, lambda: self._tasks.start_task(self.save()))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
