"""Tabs below the head of pages that belong together: everything about memory, and everything in the background."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSignalBlocker, Signal
from PySide6.QtWidgets import QTabBar, QWidget

from lethe_app.ui.core.routes import ACTION_ROUTES, Route

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
    """Tabs of a group of pages, with the one of the page on display selected."""

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
        self.setUsesScrollButtons(True)
        for route in self._routes:
            self.addTab(QCoreApplication.translate("PageTabs", TAB_TITLES[names[id(route)]]))
        self.reset()
        self.currentChanged.connect(lambda index: self.route_chosen.emit(self._routes[index]))

    def reset(self) -> None:
        """Select the tab of the page on display again, after the page objected to being left."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self._current_index)
