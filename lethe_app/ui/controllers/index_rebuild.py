"""Rebuild of the memory index on the user's request; the activity list shows its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from lethe_app.services.memory.service import MemoryService
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier


class IndexRebuild(QObject):
    """Runs one rebuild at a time; the action is disabled meanwhile."""

    def __init__(self, actions: Actions, notifier: Notifier, memories: MemoryService, tasks: TaskRunner) -> None:
        super().__init__(notifier)
        self._notifier, self._memories, self._tasks = notifier, memories, tasks
        self._action = actions["rebuild_index"]
        actions.connect(rebuild_index=self._start_rebuild)

    def _start_rebuild(self) -> None:
        self._action.setEnabled(False)
        self._tasks.start_task(self._rebuild_index())

    async def _rebuild_index(self) -> None:
        try:
            await self._memories.rebuild()
        finally:
            self._action.setEnabled(True)
        self._notifier.notify(self.tr("The memory index has been rebuilt"))
