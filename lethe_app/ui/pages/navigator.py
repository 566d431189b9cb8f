"""Stack of open pages in the window, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from lethe_app.ui.pages.page import Page

if TYPE_CHECKING:
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow

Maker = Callable[[], Page]


class PageNavigator(QObject):
    """Stack of pages: only the top one is visible, below it are those from which it was opened, and at the bottom the
    conversation.
    """

    def __init__(self, window: MainWindow, bridge: Bridge) -> None:
        super().__init__(window)
        self._window, self._bridge = window, bridge
        self._pages: list[Page] = []
        self._makers: list[object] = []
        self._below: QWidget | None = None
        self._held: dict[QWidget, QWidget] = {}
        """Widget that had the focus when a page was opened, by that page."""
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
        """Return the page on display; None for the conversation."""
        return self._pages[-1] if self._pages else None

    @property
    def made_by(self) -> object:
        """Return the key with which the page on display was opened."""
        return self._makers[-1] if self._makers else None

    def holds(self, made_by: object) -> bool:
        """Return whether a page with this key is open, on top or covered by others."""
        return made_by in self._makers

    async def go_back_to(self, made_by: object) -> None:
        """Leave the pages above the one with this key. It is not opened twice, because the second would hide what the first
        shows.
        """
        above = self._makers.index(made_by) + 1 if made_by in self._makers else len(self._pages)
        if above < len(self._pages):
            await self.leave(self._pages[above])

    def open(self, make: Maker, made_by: object = None) -> Page:
        """Open a page on top; `made_by` is its key for `holds` and `go_back_to`."""
        if not self._pages:
            self._below = self._window.pages.currentWidget()
        held = self._window.focusWidget()
        page = make()
        if held is not None:
            self._held[page] = held
        page.left.connect(lambda: self._bridge.spawn(self.leave(page), lane="leave"))
        self._pages.append(page)
        self._makers.append(made_by)
        self._show(page)
        page.first_focus().setFocus()
        return page

    async def leave(self, page: Page) -> None:
        """Close `page` and all pages above it, from the top down to the first one that objects."""
        while page in self._pages:
            top = self._pages[-1]
            if not await top.may_leave():
                return
            self._take_off(top)

    async def clear(self) -> bool:
        """Return to the conversation; False if a page objected."""
        while self._pages:
            if not await self._pages[-1].may_leave():
                return False
            self._take_off(self._pages[-1])
        return True

    def close(self) -> None:
        """Close all pages without asking, because the window closes."""
        while self._pages:
            self._take_off(self._pages[-1])

    def _take_off(self, page: Page) -> None:
        # The page may have been closed while its `may_leave` waited for the user.
        if page not in self._pages:
            return
        del self._makers[self._pages.index(page)]
        self._pages.remove(page)
        page.close_page()
        self._window.pages.removeWidget(page)
        page.deleteLater()
        held = self._held.pop(page, None)
        if self._pages:
            self._show(self._pages[-1])
            (held_in(self._pages[-1], held) or self._pages[-1].first_focus()).setFocus()
        else:
            self._uncover(held)
            self._follow()

    def _uncover(self, held: QWidget | None) -> None:
        """Show what was on display before the first page: the conversation, or the welcome screen of the first start."""
        pages, below = self._window.pages, self._below
        if below is not None and below is not self._window.panes and pages.indexOf(below) >= 0:
            pages.setCurrentWidget(below)
            (held_in(below, held) or below).setFocus()
        else:
            pages.setCurrentWidget(self._window.panes)
            self._window.chat.composer.text.setFocus()

    def _show(self, page: QWidget) -> None:
        self._window.show_page(page)
        self._follow()

    def _follow(self) -> None:
        """Enable undo and redo only while a page is open. A text field that can undo handles the keys first."""
        for shortcut in (self._undo, self._redo):
            shortcut.setEnabled(bool(self._pages))


def held_in(page: QWidget, held: QWidget | None) -> QWidget | None:
    """Return the widget that had the focus before another page covered `page`; None if it cannot take the focus any more."""
    if held is None or held not in page.findChildren(QWidget):  # it may have been deleted meanwhile
        return None
    return held if held.isVisibleTo(page) and held.isEnabled() else None
