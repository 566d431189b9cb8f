"""Tabs below the head of pages that belong together: everything about memory, and everything in the background."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QEvent, QSignalBlocker, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QTabBar, QWidget

from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.routes import ACTION_ROUTES, Route
from lethe_app.ui.widgets.buttons import build_button

TAB_TITLES = {
    "timeline": str(QT_TRANSLATE_NOOP("PageTabs", "Overview")),
    "memories": str(QT_TRANSLATE_NOOP("PageTabs", "Memories")),
    "facts": str(QT_TRANSLATE_NOOP("PageTabs", "Facts")),
    "conversations": str(QT_TRANSLATE_NOOP("PageTabs", "Conversations")),
    "notebooks": str(QT_TRANSLATE_NOOP("PageTabs", "Notebooks")),
    "documents": str(QT_TRANSLATE_NOOP("PageTabs", "Documents")),
    "mind": str(QT_TRANSLATE_NOOP("PageTabs", "Mind")),
    "dreams": str(QT_TRANSLATE_NOOP("PageTabs", "Dreams")),
    "objections": str(QT_TRANSLATE_NOOP("PageTabs", "Irrelevant")),
    "away": str(QT_TRANSLATE_NOOP("PageTabs", "Background activity")),
    "research": str(QT_TRANSLATE_NOOP("PageTabs", "Research")),
    "outgoing": str(QT_TRANSLATE_NOOP("PageTabs", "Network log")),
}
"""Title of each tab, by the action that opens its page."""
MEMORY_GROUP = ("timeline", "memories", "facts", "conversations", "notebooks", "documents", "mind", "dreams", "objections")
BACKGROUND_GROUP = ("away", "research", "outgoing")
GROUPS = (MEMORY_GROUP, BACKGROUND_GROUP)
"""Actions whose pages are tabs of each other."""


def group_of(route: Route) -> Sequence[Route]:
    """Return the routes of the tabs among which a route is; empty if its page has no tabs."""
    groups = ([ACTION_ROUTES[name] for name in group] for group in GROUPS)
    return next((group for group in groups if any(type(tab) is type(route) for tab in group)), ())


class PageTabs(QTabBar):
    """Tabs of a group of pages, with that of the page on display selected; those that do not fit are in a menu at the end."""

    route_chosen = Signal(object)
    """Emitted with the Route of another tab."""

    def __init__(self, current: Route, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._routes = group_of(current)
        self._current_index = next(index for index, tab in enumerate(self._routes) if type(tab) is type(current))
        names = {id(route): name for name, route in ACTION_ROUTES.items()}
        self.setObjectName("page_tabs")
        self.setAccessibleName(QCoreApplication.translate("PageTabs", "Pages"))
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.more_button = self._build_more_button()
        for route in self._routes:
            self.addTab(QCoreApplication.translate("PageTabs", TAB_TITLES[names[id(route)]]))
        self.reset()
        self.currentChanged.connect(lambda index: self.route_chosen.emit(self._routes[index]))

    def _build_more_button(self) -> QPushButton:
        button = build_button(QCoreApplication.translate("PageTabs", "More ▾"))
        button.setParent(self)
        button.setProperty("chip", True)
        button.setAccessibleName(QCoreApplication.translate("PageTabs", "More pages"))
        menu = QMenu(button)
        menu.aboutToShow.connect(self._fill_menu)
        button.setMenu(menu)
        button.hide()
        return button

    def _fill_menu(self) -> None:
        menu = self.more_button.menu()
        menu.clear()
        for index in filter(lambda index: not self.isTabVisible(index), range(self.count())):
            menu.addAction(self.tabText(index), partial(self.setCurrentIndex, index))

    def sizeHint(self) -> QSize:
        return QSize(sum(map(self._tab_width, range(self.count()))), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        width = self._tab_width(self._current_index) + SPACE_2 + self.more_button.sizeHint().width()
        return QSize(width, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_tabs()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange} and self.count():
            self._fit_tabs()

    def _fit_tabs(self) -> None:
        """Show the tabs that fit from the first on, always with that of the page on display, and the button of the others."""
        widths = [self._tab_width(index) for index in range(self.count())]
        room = self.width() - widths[self._current_index]
        if sum(widths) > self.width():
            room -= SPACE_2 + self.more_button.sizeHint().width()
        shown, is_full = {self._current_index}, False
        for index, width in enumerate(widths):
            if index != self._current_index:
                is_full = is_full or width > room
                room -= 0 if is_full else width
                shown |= set() if is_full else {index}
        with QSignalBlocker(self):
            # Qt forgets to arrange the tabs again if the last call changes nothing.
            for index in (index for index in range(self.count()) if self.isTabVisible(index) != (index in shown)):
                self.setTabVisible(index, index in shown)
        self.more_button.setVisible(is_full)
        self.more_button.adjustSize()
        size = self.more_button.sizeHint()
        end = max(self.tabRect(index).right() + 1 for index in shown)  # which also arranges the tabs that are left
        self.more_button.setGeometry(end + SPACE_2, (self.height() - size.height()) // 2, size.width(), size.height())

    def _tab_width(self, index: int) -> int:
        return self.tabSizeHint(index).width()

    def reset(self) -> None:
        """Select the tab of the page on display again, after the page objected to being left."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self._current_index)
