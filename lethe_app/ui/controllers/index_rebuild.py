"""Rebuild of the memory index on the user's request; the activity list shows its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.main_window import MainWindow


class IndexRebuild(QObject):
    """Runs one rebuild at a time; the action is disabled meanwhile."""

    def __init__(self, window: MainWindow, services: AppServices, tasks: TaskRunner) -> None:
        super().__init__(window)
        self._window, self._services, self._tasks = window, services, tasks
        self._action = window.actions_["rebuild_index"]
        window.actions_.connect(rebuild_index=self._start_rebuild)

    def _start_rebuild(self) -> None:
        self._action.setEnabled(False)
        self._tasks.start_task(self._rebuild_index())

    async def _rebuild_index(self) -> None:
        try:
            await self._services.brain.rebuild()
            for persona in await self._services.library.personas():
                await self._services.brain.refresh(persona.unique_name)
        finally:
            self._action.setEnabled(True)
        self._window.notifier.notify(self.tr("The memory index has been rebuilt"))
