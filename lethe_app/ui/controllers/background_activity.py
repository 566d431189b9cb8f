"""Show background work, such as downloads, archiving and indexing, in the status line and in the activity list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject

from lethe_app.services.events import Loading
from lethe_app.ui.controllers.file_transfers import FileTransfers
from lethe_app.ui.pages.models.labels import download_in_words
from lethe_app.ui.shell.activity_list import Activity

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.domain.model import DownloadProgress
    from lethe_app.services.background.activity_log import Underway
    from lethe_app.services.indexing.service import Indexing
    from lethe_app.services.sessions.archive_queue import Archiving
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow

WORTH_TELLING = 40
"""Texts waiting for the index below which indexing is not shown, because fewer take less than a second."""

Source = Callable[[], list[Activity]]
"""Callable that returns rows for the activity list."""


class BackgroundActivityController(QObject):
    """Collects the activities of the services and shows them whenever one changes."""

    def __init__(self, window: MainWindow, services: AppServices, bridge: Bridge) -> None:
        super().__init__(window)
        self._status, self._button = window.chat.status, window.sidebar.activity
        self._archiving, self._indexing, self._models = services.archiving, services.indexing, services.models
        self._bridge, self._downloads, self._busy = bridge, services.downloads, services.away
        self.luggage = FileTransfers()
        self._most = 0
        self._sources: list[Source] = [self._loading, self._fetched, self._carried, self._away, self._archive, self._index]
        self._forget = [
            services.archiving.changed.add(lambda _progress: self.tell()),
            services.indexing.changed.add(lambda _progress: self.tell()),
            services.models.changed.add(lambda _state: self.tell()),
            services.downloads.changed.add(lambda _progress: self.tell()),
            self.luggage.changed.add(lambda _none: self.tell()),
            services.away.changed.add(lambda _none: self.tell()),
            services.away.told.add(window.notifier.tell),
        ]
        self.tell()

    def close(self) -> None:
        """Disconnect from the services."""
        for forget in self._forget:
            forget()

    def add_source(self, source: Source) -> None:
        """Add a source of activities to the list; call `tell` whenever they change."""
        self._sources.append(source)
        self.tell()

    def tell(self) -> None:
        """Show the current activities in the status line and in the list."""
        self._status.show_background(self._away_words() or self._archive_words() or self._index_words())
        self._button.show_activities([one for source in self._sources for one in source()])

    # Activities by source

    def _loading(self) -> list[Activity]:
        state = self._models.state
        if not isinstance(state, Loading):
            return []
        title = self.tr("Loading {name}").format(name=state.name)
        return [Activity("model", title, fraction=state.fraction, button=self.tr("Stop"), act=self._models.call_off)]

    def _fetched(self) -> list[Activity]:
        return [self._download(one) for one in self._downloads.progress.values() if not one.is_over]

    def _download(self, one: DownloadProgress) -> Activity:
        def stop() -> None:
            self._bridge.spawn(self._downloads.stop(one.model.file))

        title = self.tr("Downloading {name}").format(name=one.model.name)
        fraction = one.done / one.total if one.total else None
        return Activity(one.model.file, title, download_in_words(one), fraction, self.tr("Stop"), stop)

    def _carried(self) -> list[Activity]:
        stop = self.tr("Stop")
        pieces = self.luggage.pieces
        return [Activity(one.key, one.title.removesuffix("…"), "", one.fraction, stop, one.stop) for one in pieces]

    def _away(self) -> list[Activity]:
        return [self._one_away(one) for one in self._busy.everything_underway]

    def _one_away(self, one: Underway) -> Activity:
        def stop() -> None:
            self._busy.stop(one.run.id)

        title = self.tr("{name}: {task}").format(name=one.persona, task=one.title)
        return Activity(f"away {one.run.id}", title, one.words, button=self.tr("Stop"), act=stop)

    def _away_words(self) -> str:
        words = self.tr("{name}: {task}")
        return next((words.format(name=one.persona, task=one.title) for one in self._busy.everything_underway), "")

    def _archive(self) -> list[Activity]:
        progress = self._archiving.progress
        if self._archiving.is_paused:
            return [self._paused("archive", self.tr("Archiving conversations"), self._archiving)]
        if progress.session is None:
            return []
        title = self.tr("Archiving “{title}”").format(title=progress.title or self.tr("the last conversation"))
        detail = self.tr("{done} of {total}").format(done=progress.done + 1, total=progress.total)
        fraction = progress.done / progress.total if progress.total else None
        return [Activity("archive", title, detail, fraction, self.tr("Pause"), self._pauser(self._archiving))]

    def _index(self) -> list[Activity]:
        progress = self._indexing.progress
        if self._indexing.is_paused:
            return [self._paused("index", self.tr("Indexing memories"), self._indexing)]
        waiting = progress.changes + progress.without_meaning
        # Progress is measured against the longest queue since it was last empty, because new texts may arrive meanwhile.
        self._most = max(self._most, waiting) if waiting else 0
        if waiting < WORTH_TELLING:
            return []
        detail = self.tr("{count} remaining").format(count=QLocale().toString(waiting))
        title, done = self.tr("Indexing memories"), 1 - waiting / self._most
        return [Activity("index", title, detail, done, self.tr("Pause"), self._pauser(self._indexing))]

    def _paused(self, key: str, title: str, service: Archiving | Indexing) -> Activity:
        def go_on() -> None:
            service.start()
            self.tell()

        return Activity(key, title, self.tr("Paused"), button=self.tr("Resume"), act=go_on, is_paused=True)

    def _pauser(self, service: Archiving | Indexing) -> Callable[[], None]:
        async def pause() -> None:
            await service.pause()
            self.tell()

        def act() -> None:
            self._bridge.spawn(pause())

        return act

    def _archive_words(self) -> str:
        progress = self._archiving.progress
        if progress.session is None:
            return ""
        title = progress.title or self.tr("the last conversation")
        words = self.tr("archiving {title}, {done} of {total}")
        return words.format(title=title, done=progress.done + 1, total=progress.total)

    def _index_words(self) -> str:
        progress = self._indexing.progress
        waiting = progress.changes + progress.without_meaning
        if waiting < WORTH_TELLING:
            return ""
        return self.tr("indexing memories, {count} remaining").format(count=QLocale().toString(waiting))
