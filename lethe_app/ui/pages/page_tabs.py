"""Tabs below the head of pages that belong together: everything about memory, and everything in the background. Pages that
share a tab are its sections, with tabs of their own beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QSignalBlocker, QSize, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QPushButton, QTabBar

from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.routes import PAGES, PageSpec, Route
from lethe_app.ui.widgets.buttons import build_button


def build_tabs(current: Route) -> list[PageTabs]:
    """Create the tabs of the group of a page, and those of the sections that share its tab; empty if it has none."""
    group = {spec.name: (_tab_title(spec), route_type()) for route_type, spec in _group_specs(current)}
    mains = {spec.name: spec.section_of or spec.name for _route_type, spec in _group_specs(current)}
    if not group:
        return []
    own = PAGES[type(current)].name
    order = list(dict.fromkeys(mains.values()))
    bars = [PageTabs("page_tabs", [group[name] for name in order], order.index(mains[own]))]
    sections = [name for name in group if mains[name] == mains[own]]
    if len(sections) > 1:
        bars.append(PageTabs("page_sections", [group[name] for name in sections], sections.index(own)))
    return bars


def group_of(route: Route) -> Sequence[Route]:
    """Return the routes of all pages of the group to which that of a route belongs; empty if it has no tabs."""
    return [route_type() for route_type, _spec in _group_specs(route)]


def _group_specs(route: Route) -> list[tuple[type[Route], PageSpec]]:
    group = PAGES[type(route)].tabs
    return [(route_type, spec) for route_type, spec in PAGES.items() if group is not None and spec.tabs is group]


def _tab_title(spec: PageSpec) -> str:
    translate = QCoreApplication.translate
    return translate("PageTabs", spec.tab_title) if spec.tab_title else translate("Action", spec.title)


class PageTabs(QTabBar):
    """Tabs that each lead to a page, with that of the page on display selected; those that do not fit are in a menu at the
    end.
    """

    route_chosen = Signal(object)
    """Emitted with the Route of another tab."""

    def __init__(self, name: str, tabs: Sequence[tuple[str, Route]], current_index: int) -> None:
        """Create the tabs; with titles and routes; `name` is the object name, by which they are styled."""
        super().__init__()
        self._routes = [route for _title, route in tabs]
        self._current_index = current_index
        self.setObjectName(name)
        self.setAccessibleName(QCoreApplication.translate("PageTabs", "Pages"))
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.more_button = self._build_more_button()
        for title, _route in tabs:
            self.addTab(title)
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

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_tabs()  # with the widths of the style, which is applied before a widget is shown first

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
