"""Show what happens in the background and on the internet, and rebuild the memory index."""

from __future__ import annotations

from functools import partial
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
    from collections.abc import Callable
    from uuid import UUID

    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.web import OutgoingRequest
    from lethe_app.services.background.activity_log import ActivityEntry
    from lethe_app.services.indexing.embedder import Embedder
    from lethe_app.services.scheduling.loop import BackgroundLoop
    from lethe_app.ui.core.file_transfers import FileTransfers
    from lethe_app.ui.shell.main_window import MainWindow

MIN_SHOWN_QUEUE = 100
"""Texts waiting for the index below which indexing is not shown: fewer take seconds, as do the worlds of a first start."""
MIN_DISPLAY_MS = 2500
"""Minimum time for which a request is shown, so that a fast one can be read."""


class BackgroundActivityController(Controller):
    """Collects the activities of the services and shows them whenever one changes; requests to the internet are shown in the
    status line, beside an icon if they are allowed.
    """

    def __init__(self, window: MainWindow, services: AppServices, file_transfers: FileTransfers) -> None:
        super().__init__(window)
        self._services, self._file_transfers, self._status = services, file_transfers, window.chat.status
        self._running_requests: dict[UUID, str] = {}
        self._clear_timer = QTimer(self, singleShot=True, interval=MIN_DISPLAY_MS)
        self._clear_timer.timeout.connect(lambda: self._status.show_web_request(""))
        self._actions.connect(rebuild_index=self._start_rebuild)
        self._longest_queue = self._most_waiting = 0
        self._reported_embedder = ""
        followed = (services.archive_queue, services.indexing, services.models, services.downloads, services.background_runner)
        self.follow(self.refresh_activities, *(service.changed for service in followed), file_transfers.changed)
        self._unsubscribers += [
            services.background_runner.notices.add(self._notifier.notify),
            services.web_gate.changed.add(self._on_request_changed),
            services.embedding.changed.add(self._report_embedder),
        ]
        self.follow(self._update_web_icon, services.preferences.changed)
        self._theme.changed.connect(self._update_web_icon)
        self.refresh_activities()
        self._update_web_icon()

    def close(self) -> None:
        """Disconnect from services and theme, and clear the status."""
        super().close()
        self._theme.changed.disconnect(self._update_web_icon)
        self._clear_timer.stop()
        self._status.show_web_request("")

    def _report_embedder(self, embedder: Embedder) -> None:
        """Report once why the embedding model that the user chose is not used."""
        path, error = self._services.preferences.current.embedder_path, embedder.error
        if path and error is not None and path != self._reported_embedder:
            self._reported_embedder = path
            text = self.tr("The chosen embedding model does not work, so memories are found only by their words.")
            self._notifier.notify(text, f"{error.message} {error.remedy}".strip(), is_lasting=True)

    def refresh_activities(self) -> None:
        """Show the current activities in the status line and in the list."""
        running = [(one, self._format_run(one)) for one in self._services.activity_log.running_entries]
        text = running[0][1] if running else self._archiving_text() or self._indexing_text()
        self._status.show_background(text)
        stop_run = self._services.activity_log.stop
        runs = [
            self._create_activity(f"away {one.run.id}", title, one.step, stop=partial(stop_run, one.run.id))
            for one, title in running
        ]
        transfers = [
            self._create_activity(one.key, one.title.removesuffix("…"), "", one.fraction, stop=one.stop)
            for one in self._file_transfers.transfers
        ]
        others = (*self._list_archiving(), *self._list_indexing())
        activities = [*self._list_model_loading(), *self._list_downloads(), *transfers, *runs, *others]
        self._window.sidebar.activity_button.show_activities(activities)

    def _format_run(self, entry: ActivityEntry) -> str:
        return self.tr("{name}: {task}").format(name=entry.persona, task=entry.title)

    def _start_rebuild(self) -> None:
        """Rebuild the memory index; the action is disabled meanwhile."""
        self._actions["rebuild_index"].setEnabled(False)
        self._tasks.start_task(self._rebuild_index())

    async def _rebuild_index(self) -> None:
        try:
            await self._services.memory.rebuild()
        finally:
            self._actions["rebuild_index"].setEnabled(True)
        self._notifier.notify(self.tr("The memory index has been rebuilt"))

    # Activities by source

    def _create_activity(
        self, key: str, title: str, detail: str = "", fraction: float | None = None, *, stop: Callable[[], None]
    ) -> ActivityItem:
        """Create an activity that can be stopped."""
        return ActivityItem(key, title, detail, fraction, self.tr("Stop"), stop)

    def _create_loop_activity(
        self, key: str, title: str, detail: str, fraction: float | None, loop: BackgroundLoop
    ) -> ActivityItem:
        """Create an activity of a loop that can be paused, or resumed if it is."""

        def resume() -> None:
            loop.start()
            self.refresh_activities()

        async def pause() -> None:
            await loop.pause()
            self.refresh_activities()

        if loop.is_paused:
            return ActivityItem(key, title, self.tr("Paused"), button=self.tr("Resume"), on_click=resume, is_paused=True)
        return ActivityItem(key, title, detail, fraction, self.tr("Pause"), self._tasks.create_callback(pause))

    def _list_model_loading(self) -> list[ActivityItem]:
        models = self._services.models
        if not isinstance(models.state, ModelLoading):
            return []
        title = self.tr("Loading {name}").format(name=models.state.name)
        return [self._create_activity("model", title, fraction=models.state.fraction, stop=models.cancel_loading)]

    def _list_downloads(self) -> list[ActivityItem]:
        downloads = self._services.downloads
        return [
            self._create_activity(
                one.model.file,
                self.tr("Downloading {name}").format(name=one.model.name),
                format_download(one),
                one.done / one.total if one.total else None,
                stop=self._tasks.create_callback(downloads.stop, one.model.file),
            )
            for one in downloads.progress.values()
            if not one.is_over
        ]

    def _list_archiving(self) -> list[ActivityItem]:
        """Return the session that is being archived, or how many wait for rules, or that older ones wait for the next day."""
        queue, progress = self._services.archive_queue, self._services.archive_queue.progress
        title, detail, fraction = self.tr("Archiving conversations"), "", None
        if progress.session is not None and not queue.background.is_paused:
            title = self.tr("Archiving “{title}”").format(title=progress.title or self.tr("the last conversation"))
            detail = self.tr("{done} of {total}").format(done=progress.done + 1, total=progress.total)
            if progress.waiting:
                count = QLocale().toString(progress.waiting)
                detail = self.tr("{detail} · {count} more conversations").format(detail=detail, count=count)
            fraction = progress.done / progress.total if progress.total else None
        elif not queue.background.is_paused:
            self._most_waiting = max(self._most_waiting, progress.waiting) if progress.waiting else 0
            if not progress.waiting:
                return [self._create_limit_activity()] if progress.is_limited else []
            detail = self.tr("{count} remaining").format(count=QLocale().toString(progress.waiting))
            fraction = 1 - progress.waiting / self._most_waiting
        return [self._create_loop_activity("archive", title, detail, fraction, queue.background)]

    def _create_limit_activity(self) -> ActivityItem:
        def continue_now() -> None:
            self._services.archive_budget.lift_for_today()
            self._services.archive_queue.background.wake()

        title = self.tr("Older conversations continue tomorrow")
        detail = self.tr("Their daily time was used. The settings of conversations have the limit.")
        return ActivityItem("archive", title, detail, button=self.tr("Continue now"), on_click=continue_now, is_paused=True)

    @property
    def _waiting_for_index(self) -> int:
        progress = self._services.indexing.progress
        return progress.changes + progress.without_meaning

    def _list_indexing(self) -> list[ActivityItem]:
        loop, waiting = self._services.indexing.background, self._waiting_for_index
        # Progress is measured against the longest queue since it was last empty, because new texts may arrive meanwhile.
        self._longest_queue = max(self._longest_queue, waiting) if waiting else 0
        if waiting < MIN_SHOWN_QUEUE and not loop.is_paused:
            return []
        detail = self.tr("{count} remaining").format(count=QLocale().toString(waiting))
        done = 1 - waiting / max(self._longest_queue, 1)
        return [self._create_loop_activity("index", self.tr("Preparing search"), detail, done, loop)]

    def _archiving_text(self) -> str:
        progress = self._services.archive_queue.progress
        if progress.session is None:
            return ""
        title = progress.title or self.tr("the last conversation")
        template = self.tr("archiving {title}, {done} of {total}")
        return template.format(title=title, done=progress.done + 1, total=progress.total)

    def _indexing_text(self) -> str:
        waiting = self._waiting_for_index
        if waiting < MIN_SHOWN_QUEUE:
            return ""
        return self.tr("preparing search, {count} texts left").format(count=QLocale().toString(waiting))

    # Internet

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

    def _update_web_icon(self) -> None:
        allowed = self._services.preferences.current.web_allowed
        self._status.show_web_icon(load_icon("globe", self._theme.palette.water, ICON - SPACE_1) if allowed else None)
