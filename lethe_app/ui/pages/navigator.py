"""Stack of open pages in the window, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from lethe_app.ui.pages.page import Page

if TYPE_CHECKING:
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.main_window import MainWindow

PageFactory = Callable[[], Page]


class PageNavigator(QObject):
    """Stack of pages: only the top one is visible, below it are those from which it was opened, and at the bottom the
    conversation.
    """

    def __init__(self, window: MainWindow, tasks: TaskRunner) -> None:
        super().__init__(window)
        self._window, self._tasks = window, tasks
        self._pages: list[Page] = []
        self._page_keys: list[object] = []
        self._background_widget: QWidget | None = None
        self._focus_before: dict[QWidget, QWidget] = {}
        """Widget that had the focus when a page was opened, by that page."""
        self._undo, self._redo = QShortcut(window), QShortcut(window)
        self._undo.setKeys(QKeySequence.StandardKey.Undo)
        self._redo.setKeys(QKeySequence.StandardKey.Redo)  # Ctrl+Shift+Z and Ctrl+Y, whichever of them is the first here
        self._undo.activated.connect(self._undo_last)
        self._redo.activated.connect(self._redo_last)
        self._update_shortcuts()

    def _undo_last(self) -> None:
        if self.current_page is not None:
            self.current_page.undo_stack.undo()

    def _redo_last(self) -> None:
        if self.current_page is not None:
            self.current_page.undo_stack.redo()

    @property
    def current_page(self) -> Page | None:
        """Return the page on display; None for the conversation."""
        return self._pages[-1] if self._pages else None

    @property
    def current_key(self) -> object:
        """Return the key with which the page on display was opened."""
        return self._page_keys[-1] if self._page_keys else None

    def is_page_open(self, page_key: object) -> bool:
        """Return whether a page with this key is open, on top or covered by others."""
        return page_key in self._page_keys

    async def go_back_to_page(self, page_key: object) -> None:
        """Leave the pages above the one with this key. It is not opened twice, because the second would hide what the first
        shows.
        """
        above = self._page_keys.index(page_key) + 1 if page_key in self._page_keys else len(self._pages)
        if above < len(self._pages):
            await self.leave_page(self._pages[above])

    def open_page(self, create_page: PageFactory, page_key: object = None) -> Page:
        """Open a page on top; `made_by` is its key for `is_page_open` and `go_back_to_page`."""
        if not self._pages:
            self._background_widget = self._window.pages.currentWidget()
        focused = self._window.focusWidget()
        page = create_page()
        if focused is not None:
            self._focus_before[page] = focused
        page.back_requested.connect(lambda: self._tasks.start_task(self.leave_page(page), key="leave"))
        self._pages.append(page)
        self._page_keys.append(page_key)
        self._show_page(page)
        page.first_focus_widget().setFocus()
        return page

    async def leave_page(self, page: Page) -> None:
        """Close `page` and all pages above it, from the top down to the first one that objects."""
        while page in self._pages:
            top = self._pages[-1]
            if not await top.confirm_leave():
                return
            self._remove_page(top)

    async def leave_all_pages(self) -> bool:
        """Return to the conversation; False if a page objected."""
        while self._pages:
            if not await self._pages[-1].confirm_leave():
                return False
            self._remove_page(self._pages[-1])
        return True

    def close_all_pages(self) -> None:
        """Close all pages without asking, because the window closes."""
        while self._pages:
            self._remove_page(self._pages[-1])

    def _remove_page(self, page: Page) -> None:
        # The page may have been closed while its `confirm_leave` waited for the user.
        if page not in self._pages:
            return
        del self._page_keys[self._pages.index(page)]
        self._pages.remove(page)
        page.close_page()
        self._window.pages.removeWidget(page)
        page.deleteLater()
        focus_before = self._focus_before.pop(page, None)
        if self._pages:
            self._show_page(self._pages[-1])
            (find_focusable(self._pages[-1], focus_before) or self._pages[-1].first_focus_widget()).setFocus()
        else:
            self._restore_background(focus_before)
            self._update_shortcuts()

    def _restore_background(self, focus_before: QWidget | None) -> None:
        """Show what was on display before the first page: the conversation, or the welcome screen of the first start."""
        pages, background = self._window.pages, self._background_widget
        if background is not None and background is not self._window.panes and pages.indexOf(background) >= 0:
            pages.setCurrentWidget(background)
            (find_focusable(background, focus_before) or background).setFocus()
        else:
            pages.setCurrentWidget(self._window.panes)
            self._window.chat.composer.draft_field.setFocus()

    def _show_page(self, page: QWidget) -> None:
        self._window.show_page(page)
        self._update_shortcuts()

    def _update_shortcuts(self) -> None:
        """Enable undo and redo only while a page is open. A text field that can undo handles the keys first."""
        for shortcut in (self._undo, self._redo):
            shortcut.setEnabled(bool(self._pages))


def find_focusable(page: QWidget, focus_before: QWidget | None) -> QWidget | None:
    """Return the widget that had the focus before another page covered `page`; None if it cannot take the focus any more."""
    if focus_before is None or focus_before not in page.findChildren(QWidget):  # it may have been deleted meanwhile
        return None
    return focus_before if focus_before.isVisibleTo(page) and focus_before.isEnabled() else None
