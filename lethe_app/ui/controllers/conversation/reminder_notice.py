"""Notify of the reminders that a message asked for, with Undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.pages.mind.labels import format_due_date

if TYPE_CHECKING:
    from lethe_app.domain.memory import MemoryUnit
    from lethe_app.services.memory.service import MemoryService
    from lethe_app.services.personas.reminders import Reminders
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier

MAX_TEXT_LENGTH = 80
"""Maximum number of characters of a reminder in the notification."""


class ReminderNotice(QObject):
    """Says which reminder was set; its button removes the reminder again."""

    def __init__(
        self, parent: QObject, notifier: Notifier, reminders: Reminders, memory: MemoryService, tasks: TaskRunner
    ) -> None:
        super().__init__(parent)
        self._notifier, self._memory, self._tasks = notifier, memory, tasks
        self._unsubscribe = reminders.requested.add(self._notify)

    def close(self) -> None:
        """Disconnect from the service."""
        self._unsubscribe()

    def _notify(self, reminder: MemoryUnit) -> None:
        self._notifier.notify(
            self.tr("Reminder set: {when}").format(when=format_due_date(reminder.added)),
            truncate_text(reminder.content, MAX_TEXT_LENGTH),
            button=self.tr("Undo"),
            action=lambda: self._start_undo(reminder),
        )

    def _start_undo(self, reminder: MemoryUnit) -> None:
        self._tasks.start_task(self._undo(reminder))

    async def _undo(self, reminder: MemoryUnit) -> None:
        await self._memory.forget_memory(reminder.guid)
        self._notifier.notify(self.tr("The reminder was removed"))
