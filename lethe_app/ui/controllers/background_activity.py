"""Show what happens in the background and on the internet, and rebuild the memory index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QTimer

from lethe_app.services.events import ModelLoading
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.models import format_download
from lethe_app.ui.core.labels.web_requests import format_running_request
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.shell.activity_list import ActivityItem

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.domain.model import DownloadProgress
    from lethe_app.domain.web import OutgoingRequest
    from lethe_app.services.background.activity_log import ArchiveBudget, RunningTask
    from lethe_app.services.background.runner import BackgroundRunner
    from lethe_app.services.indexing.service import IndexingService
    from lethe_app.services.memory.service import MemoryService
    from lethe_app.services.models.downloads import Downloads
    from lethe_app.services.models.service import ModelService
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.scheduling.loop import BackgroundLoop
    from lethe_app.services.sessions.archive_queue import ArchiveProgress, ArchiveQueue
    from lethe_app.services.web.gate import WebGate
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.main_window import MainWindow

MIN_SHOWN_QUEUE = 100
"""Texts waiting for the index below which indexing is not shown: fewer take seconds, as do the worlds of a first start."""
MIN_DISPLAY_MS = 2500
"""Minimum time for which a request is shown, so that a fast one can be read."""
Source = Callable[[], list[ActivityItem]]
"""Callable that returns rows for the activity list."""


@dataclass(frozen=True)
class ActivityServices:
    """Services whose activities are shown."""

    archive_queue: ArchiveQueue
    archive_budget: ArchiveBudget
    indexing: IndexingService
    models: ModelService
    downloads: Downloads
    background_runner: BackgroundRunner
    memories: MemoryService


class BackgroundActivityController(Controller):
    """Collects the activities of the services and shows them whenever one changes."""

    def __init__(
        self,
        window: MainWindow,
        tasks: TaskRunner,
        services: ActivityServices,
        file_transfers: FileTransfers,
    ) -> None:
        super().__init__(window, tasks)
        self._status, self._button = window.chat.status, window.sidebar.activity_button
        self._memories, self._rebuild_action = services.memories, self._actions["rebuild_index"]
        self._actions.connect(rebuild_index=self._start_rebuild)
        self._archiving, self._indexing, self._models = services.archive_queue, services.indexing, services.models
        self._archive_budget = services.archive_budget
        self._downloads, self._agent_runner = services.downloads, services.background_runner
        self._file_transfers = file_transfers
        self._longest_queue = self._most_waiting = 0
        self._sources: list[Source] = [
            self._list_model_loading,
            self._list_downloads,
            self._list_transfers,
            self._list_agent_runs,
            self._list_archiving,
            self._list_indexing,
        ]
        followed = (services.archive_queue, services.indexing, services.models, services.downloads, services.background_runner)
        self.follow(self.refresh_activities, *(service.changed for service in followed), file_transfers.changed)
        self._unsubscribers.append(services.background_runner.notices.add(self._notifier.notify))
        self.refresh_activities()

    def refresh_activities(self) -> None:
        """Show the current activities in the status line and in the list."""
        self._status.show_background(self._agent_run_text() or self._archiving_text() or self._indexing_text())
        self._button.show_activities([one for source in self._sources for one in source()])

    def _start_rebuild(self) -> None:
        """Rebuild the memory index; the action is disabled meanwhile."""
        self._rebuild_action.setEnabled(False)
        self._tasks.start_task(self._rebuild_index())

    async def _rebuild_index(self) -> None:
        try:
            await self._memories.rebuild()
        finally:
            self._rebuild_action.setEnabled(True)
        self._notifier.notify(self.tr("The memory index has been rebuilt"))

    # Activities by source

    def _list_model_loading(self) -> list[ActivityItem]:
        state = self._models.state
        if not isinstance(state, ModelLoading):
            return []
        title = self.tr("Loading {name}").format(name=state.name)
        return [
            ActivityItem("model", title, fraction=state.fraction, button=self.tr("Stop"), on_click=self._models.cancel_loading)
        ]

    def _list_downloads(self) -> list[ActivityItem]:
        return [self._create_download_activity(one) for one in self._downloads.progress.values() if not one.is_over]

    def _create_download_activity(self, download: DownloadProgress) -> ActivityItem:
        def stop() -> None:
            self._tasks.start_task(self._downloads.stop(download.model.file))

        title = self.tr("Downloading {name}").format(name=download.model.name)
        fraction = download.done / download.total if download.total else None
        return ActivityItem(download.model.file, title, format_download(download), fraction, self.tr("Stop"), stop)

    def _list_transfers(self) -> list[ActivityItem]:
        stop = self.tr("Stop")
        transfers = self._file_transfers.transfers
        return [ActivityItem(one.key, one.title.removesuffix("…"), "", one.fraction, stop, one.stop) for one in transfers]

    def _list_agent_runs(self) -> list[ActivityItem]:
        return [self._create_run_activity(one) for one in self._agent_runner.all_running]

    def _create_run_activity(self, running_task: RunningTask) -> ActivityItem:
        def stop() -> None:
            self._agent_runner.stop(running_task.run.id)

        title = self.tr("{name}: {task}").format(name=running_task.persona, task=running_task.title)
        return ActivityItem(f"away {running_task.run.id}", title, running_task.step, button=self.tr("Stop"), on_click=stop)

    def _agent_run_text(self) -> str:
        template = self.tr("{name}: {task}")
        return next((template.format(name=one.persona, task=one.title) for one in self._agent_runner.all_running), "")

    def _list_archiving(self) -> list[ActivityItem]:
        progress = self._archiving.progress
        if self._archiving.background.is_paused:
            return [self._create_paused_activity("archive", self.tr("Archiving conversations"), self._archiving.background)]
        if progress.session is None:
            return self._list_waiting_sessions(progress)
        title = self.tr("Archiving “{title}”").format(title=progress.title or self.tr("the last conversation"))
        detail = self.tr("{done} of {total}").format(done=progress.done + 1, total=progress.total)
        if progress.waiting:
            detail = self.tr("{detail} · {count} more conversations").format(
                detail=detail, count=QLocale().toString(progress.waiting)
            )
        fraction = progress.done / progress.total if progress.total else None
        return [
            ActivityItem(
                "archive", title, detail, fraction, self.tr("Pause"), self._create_pause_callback(self._archiving.background)
            )
        ]

    def _list_waiting_sessions(self, progress: ArchiveProgress) -> list[ActivityItem]:
        """Return how many conversations wait for rules, or that older ones wait for the next day."""
        waiting = progress.waiting
        self._most_waiting = max(self._most_waiting, waiting) if waiting else 0
        if not waiting:
            return [self._create_limit_activity()] if progress.is_limited else []
        detail = self.tr("{count} remaining").format(count=QLocale().toString(waiting))
        pause, done = self._create_pause_callback(self._archiving.background), 1 - waiting / self._most_waiting
        return [ActivityItem("archive", self.tr("Archiving conversations"), detail, done, self.tr("Pause"), pause)]

    def _create_limit_activity(self) -> ActivityItem:
        def continue_now() -> None:
            self._archive_budget.lift_for_today()
            self._archiving.background.wake()

        title = self.tr("Older conversations continue tomorrow")
        detail = self.tr("Their daily time was used. The settings of conversations have the limit.")
        return ActivityItem("archive", title, detail, button=self.tr("Continue now"), on_click=continue_now, is_paused=True)

    def _list_indexing(self) -> list[ActivityItem]:
        progress = self._indexing.progress
        if self._indexing.background.is_paused:
            return [self._create_paused_activity("index", self.tr("Preparing search"), self._indexing.background)]
        waiting = progress.changes + progress.without_meaning
        # Progress is measured against the longest queue since it was last empty, because new texts may arrive meanwhile.
        self._longest_queue = max(self._longest_queue, waiting) if waiting else 0
        if waiting < MIN_SHOWN_QUEUE:
            return []
        detail = self.tr("{count} remaining").format(count=QLocale().toString(waiting))
        title, done = self.tr("Preparing search"), 1 - waiting / self._longest_queue
        return [
            ActivityItem("index", title, detail, done, self.tr("Pause"), self._create_pause_callback(self._indexing.background))
        ]

    def _create_paused_activity(self, key: str, title: str, loop: BackgroundLoop) -> ActivityItem:
        def resume() -> None:
            loop.start()
            self.refresh_activities()

        return ActivityItem(key, title, self.tr("Paused"), button=self.tr("Resume"), on_click=resume, is_paused=True)

    def _create_pause_callback(self, loop: BackgroundLoop) -> Callable[[], None]:
        async def pause() -> None:
            await loop.pause()
            self.refresh_activities()

        def act() -> None:
            self._tasks.start_task(pause())

        return act

    def _archiving_text(self) -> str:
        progress = self._archiving.progress
        if progress.session is None:
            return ""
        title = progress.title or self.tr("the last conversation")
        template = self.tr("archiving {title}, {done} of {total}")
        return template.format(title=title, done=progress.done + 1, total=progress.total)

    def _indexing_text(self) -> str:
        progress = self._indexing.progress
        waiting = progress.changes + progress.without_meaning
        if waiting < MIN_SHOWN_QUEUE:
            return ""
        return self.tr("preparing search, {count} texts left").format(count=QLocale().toString(waiting))


class WebStatusController(Controller):
    """Follows the web gate and the setting for web access."""

    def __init__(self, window: MainWindow, tasks: TaskRunner, web_gate: WebGate, preferences: Preferences) -> None:
        super().__init__(window, tasks)
        self._status, self._preferences = window.chat.status, preferences
        self._running_requests: dict[UUID, str] = {}
        self._clear_timer = QTimer(self, singleShot=True, interval=MIN_DISPLAY_MS)
        self._clear_timer.timeout.connect(lambda: self._status.show_web_request(""))
        self._unsubscribers.append(web_gate.changed.add(self._on_request_changed))
        self.follow(self._update_icon, preferences.changed)
        self._theme.changed.connect(self._update_icon)
        self._update_icon()

    def close(self) -> None:
        """Disconnect from services and theme, and clear the status."""
        super().close()
        self._theme.changed.disconnect(self._update_icon)
        self._clear_timer.stop()
        self._status.show_web_request("")

    def _on_request_changed(self, request: OutgoingRequest) -> None:
        if request.is_under_way:
            self._running_requests[request.id] = format_running_request(request)
            self._clear_timer.stop()
        else:
            self._running_requests.pop(request.id, None)
        if self._running_requests:
            self._status.show_web_request(next(reversed(self._running_requests.values())))
        elif not self._clear_timer.isActive():
            self._clear_timer.start()

    def _update_icon(self) -> None:
        allowed = self._preferences.current.web_allowed
        self._status.show_web_icon(load_icon("globe", self._theme.palette.water, ICON - SPACE_1) if allowed else None)
