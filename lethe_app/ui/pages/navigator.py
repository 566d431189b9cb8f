"""Stack of open pages in the window, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from lethe_app.ui.pages.page_tabs import PageTabs, build_tabs, group_of

if TYPE_CHECKING:
    from lethe_app.ui.core.routes import Route
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.pages.page import Page


@dataclass(eq=False)
class OpenPage:
    """Page in the stack."""

    page: Page
    route: Route
    tabs: list[PageTabs]
    focus_before: QWidget | None
    """Widget that had the focus when the page was opened."""


class PageNavigator(QObject):
    """Stack of pages: only the top one is visible, below it are those from which it was opened, and at the bottom the
    conversation.
    """

    route_changed = Signal()
    """Emitted when another page, or the conversation, is on display."""

    def __init__(
        self,
        stack: QStackedWidget,
        conversation: QWidget,
        focus_conversation: Callable[[], object],
        create_page: Callable[[Route], Page],
        tasks: TaskRunner,
        undo_elsewhere: Callable[[], object],
    ) -> None:
        """Create the navigator; pages cover the widget `conversation` in `stack`. `undo_elsewhere` undoes what was deleted last
        on a page that may be gone.
        """
        super().__init__(stack)
        self._stack, self._conversation, self._focus_conversation = stack, conversation, focus_conversation
        self._create_page, self._tasks, self._undo_elsewhere = create_page, tasks, undo_elsewhere
        self._pages: list[OpenPage] = []
        """Open pages, from the bottom of the stack to its top."""
        self._background_widget: QWidget | None = None
        self._undo, self._redo = QShortcut(stack), QShortcut(stack)
        self._undo.setKeys(QKeySequence.StandardKey.Undo)
        self._redo.setKeys(QKeySequence.StandardKey.Redo)  # Ctrl+Shift+Z and Ctrl+Y, whichever of them is the first here
        self._undo.activated.connect(self.undo_last)
        self._redo.activated.connect(self.redo_last)
        self._update_shortcuts()

    def undo_last(self) -> None:
        """Undo the last change on the page on display; if there is none, what was deleted elsewhere last."""
        if self.current_page is None:
            return
        if self.current_page.undo_stack.canUndo():
            self.current_page.undo_stack.undo()
        else:
            self._undo_elsewhere()

    def redo_last(self) -> None:
        """Redo the change on the page on display that was undone last."""
        if self.current_page is not None:
            self.current_page.undo_stack.redo()

    @property
    def current_page(self) -> Page | None:
        """Return the page on display; None for the conversation."""
        return self._pages[-1].page if self._pages else None

    @property
    def current_route(self) -> Route | None:
        """Return the route of the page on display; None for the conversation."""
        return self._pages[-1].route if self._pages else None

    def open(self, route: Route) -> None:
        """Open the page of a route, or return to it if it is open already; those above it are left, unless one objects. It is
        not opened twice, because the second would hide what the first shows. If the route leads to a record, such as a search
        result, the open page is shown above the others instead, so that the way back leads to the search.
        """
        key = route.page_key
        opened = next((one for one in self._pages if one.route.page_key == key or one.page.is_showing(route)), None)
        if opened is None and self._pages and self._is_sibling(route):
            self._tasks.start_task(self._replace_page(self._pages[-1], route), key="leave")
        elif opened is None:
            self._open_page(route)
        elif opened is self._pages[-1]:
            opened.page.show_route(route)
        elif route != type(route)():
            self._raise_page(opened)
            opened.page.show_route(route)
        else:
            self._tasks.start_task(self._return_to_page(opened, route), key="leave")

    def _is_sibling(self, route: Route) -> bool:
        """Return whether a route is another tab of the page on display, and leads to nothing particular on it."""
        group = group_of(route)
        return route in group and any(type(tab) is type(self.current_route) for tab in group)

    async def _replace_page(self, opened: OpenPage, route: Route) -> None:
        """Open another tab in place of a page, about the same persona, unless the page objects."""
        persona_id = opened.page.persona_id
        if not await may_leave(opened.page):
            for bar in opened.tabs:
                bar.reset()
            return
        focused = next((index for index, bar in enumerate(opened.tabs) if bar.hasFocus()), None)
        self._remove_page(opened, restores=False)
        new = self._open_page(route)
        if persona_id:
            new.page.choose_persona(persona_id)
        if opened.focus_before is not None:
            new.focus_before = opened.focus_before
        if focused is not None:
            new.tabs[: focused + 1][-1].setFocus()

    async def _return_to_page(self, opened: OpenPage, route: Route) -> None:
        await self.leave_page(self._pages[self._pages.index(opened) + 1].page)
        if self.current_page is opened.page:
            opened.page.show_route(route)

    def _raise_page(self, opened: OpenPage) -> None:
        """Show an open page above the others."""
        focused = self._stack.window().focusWidget()
        if focused is not None:
            opened.focus_before = focused
        self._pages.remove(opened)
        self._pages.append(opened)
        self._show_page(opened.page)
        opened.page.first_focus_widget().setFocus()

    def _open_page(self, route: Route) -> OpenPage:
        if not self._pages:
            self._background_widget = self._stack.currentWidget()
        focus_before = self._stack.window().focusWidget()
        page = self._create_page(route)
        opened = OpenPage(page, route, build_tabs(route), focus_before)
        page.back_requested.connect(lambda: self._tasks.start_task(self.leave_page(page), key="leave"))
        for bar in opened.tabs:
            bar.route_chosen.connect(lambda chosen: self._tasks.start_task(self._replace_page(opened, chosen), key="leave"))
        page.add_tabs(opened.tabs)
        self._pages.append(opened)
        self._stack.addWidget(page)
        self._show_page(page)
        page.first_focus_widget().setFocus()
        page.show_route(route)
        return opened

    async def leave_page(self, page: Page) -> None:
        """Close `page` and all pages above it, from the top down to the first one that objects."""
        while any(opened.page is page for opened in self._pages):
            top = self._pages[-1]
            if not await may_leave(top.page):
                return
            self._remove_page(top)

    async def leave_all_pages(self) -> bool:
        """Return to the conversation; False if a page objected."""
        while self._pages:
            if not await may_leave(self._pages[-1].page):
                return False
            self._remove_page(self._pages[-1])
        return True

    def close_all_pages(self) -> None:
        """Close all pages without asking, because the window closes."""
        while self._pages:
            self._remove_page(self._pages[-1])

    def _remove_page(self, opened: OpenPage, *, restores: bool = True) -> None:
        """Close a page; unless `restores` is False, show what was below it."""
        # The page may have been closed while its `confirm_leave` waited for the user.
        if opened not in self._pages:
            return
        self._pages.remove(opened)
        opened.page.close_page()
        self._stack.removeWidget(opened.page)
        opened.page.deleteLater()
        if not restores:
            return
        if self._pages:
            page = self._pages[-1].page
            self._show_page(page)
            (find_focusable(page, opened.focus_before) or page.first_focus_widget()).setFocus()
        else:
            self._restore_background(opened.focus_before)
            self._update_shortcuts()

    def _restore_background(self, focus_before: QWidget | None) -> None:
        """Show what was on display before the first page: the conversation, or the welcome screen of the first start."""
        background = self._background_widget
        if background is not None and background is not self._conversation and self._stack.indexOf(background) >= 0:
            self._stack.setCurrentWidget(background)
            (find_focusable(background, focus_before) or background).setFocus()
        else:
            self._stack.setCurrentWidget(self._conversation)
            self._focus_conversation()

    def _show_page(self, page: QWidget) -> None:
        self._stack.setCurrentWidget(page)
        self._update_shortcuts()

    def _update_shortcuts(self) -> None:
        """Enable undo and redo only while a page is open, and emit `route_changed`. A text field that can undo handles the keys
        first.
        """
        for shortcut in (self._undo, self._redo):
            shortcut.setEnabled(bool(self._pages))
        self.route_changed.emit()


async def may_leave(page: Page) -> bool:
    """Return whether a page may be closed: not while a dialog is open, because what the user confirms in it happens on the
    page. A key that is pressed before a dialog has opened would leave the page otherwise.
    """
    return QApplication.activeModalWidget() is None and await page.confirm_leave()


def find_focusable(page: QWidget, focus_before: QWidget | None) -> QWidget | None:
    """Return the widget that had the focus before another page covered `page`; None if it cannot take the focus any more."""
    if focus_before is None or focus_before not in page.findChildren(QWidget):  # it may have been deleted meanwhile
        return None
    return focus_before if focus_before.isVisibleTo(page) and focus_before.isEnabled() else None
