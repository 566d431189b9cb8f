"""Tells in the status line what is being remembered behind the conversation, and how far that has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject

if TYPE_CHECKING:
    from lethe_app.house import House
    from lethe_app.ui.main_window import MainWindow

WORTH_TELLING = 40
"""Texts still to be understood; fewer take no second."""


class BackgroundDesk(QObject):
    """Listens to the services that work unasked."""

    def __init__(self, window: MainWindow, house: House) -> None:
        super().__init__(window)
        self._status = window.chat.status
        self._archiving, self._indexing = house.archiving, house.indexing
        self._forget = [
            house.archiving.changed.add(lambda _progress: self._tell()),
            house.indexing.changed.add(lambda _progress: self._tell()),
        ]
        self._tell()

    def close(self) -> None:
        for forget in self._forget:
            forget()

    def _tell(self) -> None:
        self._status.show_background(self._archive_words() or self._index_words())

    def _archive_words(self) -> str:
        progress = self._archiving.progress
        if progress.session is None:
            return ""
        title = progress.title or self.tr("the last conversation")
        words = self.tr("remembering {title}, {done} of {total}")
        return words.format(title=title, done=progress.done + 1, total=progress.total)

    def _index_words(self) -> str:
        progress = self._indexing.progress
        waiting = progress.changes + progress.without_meaning
        if waiting < WORTH_TELLING:
            return ""
        return self.tr("{count} memories still to be read").format(count=QLocale().toString(waiting))
