"""Tabs below the head of pages that belong together: everything about memory, and everything in the background. Pages that
share a tab are its sections, with tabs of their own beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QTabBar

from lethe_app.ui.core.routes import PAGES, PageSpec, Route


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
    """Tabs that each lead to a page, with that of the page on display selected."""

    route_chosen = Signal(object)
    """Emitted with the Route of another tab."""

    def __init__(self, name: str, tabs: Sequence[tuple[str, Route]], current_index: int) -> None:
        """Create the tabs; with titles and routes; `name` is the object name, by which they are styled."""
        super().__init__()
        self._current_index = current_index
        self.setObjectName(name)
        self.setAccessibleName(QCoreApplication.translate("PageTabs", "Pages"))
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        for title, _route in tabs:
            self.addTab(title)
        self.reset()
        self.currentChanged.connect(lambda index: self.route_chosen.emit(tabs[index][1]))

    def reset(self) -> None:
        """Select the tab of the page on display again, after the page objected to being left."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self._current_index)
