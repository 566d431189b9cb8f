"""Opens the pages of the workshop in the window, one at a time, and finds the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from lethe_app.ui.workshop.page import Page

if TYPE_CHECKING:
    from lethe_app.ui.bridge import Bridge
    from lethe_app.ui.main_window import MainWindow

Maker = Callable[[], Page]


class Desk(QObject):
    """At most one page lies on the desk; under it wait those from which it was opened, and at the bottom the conversation."""

    def __init__(self, window: MainWindow, bridge: Bridge) -> None:
        super().__init__(window)
        self._window, self._bridge = window, bridge
        self._pages: list[Page] = []
        self._makers: list[object] = []
        self._undo, self._redo = QShortcut(window), QShortcut(window)
        self._undo.setKeys(QKeySequence.StandardKey.Undo)
        self._redo.setKeys(QKeySequence.StandardKey.Redo)  # Ctrl+Shift+Z and Ctrl+Y, whichever of them is the first here
        self._undo.activated.connect(self._undo_last)
        self._redo.activated.connect(self._redo_last)
        self._follow()

    def _undo_last(self) -> None:
        if self.page is not None:
            self.page.undo.undo()

    def _redo_last(self) -> None:
        if self.page is not None:
            self.page.undo.redo()

    @property
    def page(self) -> Page | None:
        """The page on display."""
        return self._pages[-1] if self._pages else None

    @property
    def made_by(self) -> object:
        """What `open` was told about the page on display."""
        return self._makers[-1] if self._makers else None

    def open(self, make: Maker, made_by: object = None) -> Page:
        """Put a new page on top; `made_by` identifies it, so that the same one is not opened twice over."""
        page = make()
        page.left.connect(lambda: self._bridge.spawn(self.leave(page), lane="leave"))
        self._pages.append(page)
        self._makers.append(made_by)
        self._show(page)
        page.first_focus().setFocus()
        return page

    async def leave(self, page: Page) -> None:
        """Go back from `page`, and from everything above it, if they have no objection."""
        while page in self._pages:
            top = self._pages[-1]
            if not await top.may_leave():
                return
            self._take_off(top)

    async def clear(self) -> bool:
        """Back to the conversation; False if a page objected."""
        while self._pages:
            if not await self._pages[-1].may_leave():
                return False
            self._take_off(self._pages[-1])
        return True

    def close(self) -> None:
        """The window goes: no page may object any more."""
        while self._pages:
            self._take_off(self._pages[-1])

    def _take_off(self, page: Page) -> None:
        if page not in self._pages:
            return
        del self._makers[self._pages.index(page)]
        self._pages.remove(page)
        page.close_page()
        self._window.pages.removeWidget(page)
        page.deleteLater()
        if self._pages:
            self._show(self._pages[-1])
            self._pages[-1].first_focus().setFocus()
        else:
            self._window.pages.setCurrentWidget(self._window.panes)
            self._window.chat.composer.text.setFocus()
            self._follow()

    def _show(self, page: QWidget) -> None:
        self._window.show_page(page)
        self._follow()

    def _follow(self) -> None:
        """Undo and redo belong to a page while there is one; a text field that can undo takes the keys first."""
        for shortcut in (self._undo, self._redo):
            shortcut.setEnabled(bool(self._pages))
