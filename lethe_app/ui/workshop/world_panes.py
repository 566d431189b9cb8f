"""Lays list, table and detail side by side where there is room, and over each other where there is not."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from lethe_app.ui.theme import Theme, chrome_size

WIDE, MEDIUM = 1060, 760
"""Pixels, at the usual size of text, from which on there are three panes, and two."""
LIST, DETAIL = 236, 372


class Panes(QSplitter):
    """Wide: all three. Less: the list, and table or detail. Least: only one of them."""

    fitted = Signal()

    def __init__(self, theme: Theme, list_: QWidget, table: QWidget, detail: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._list, self._table, self._detail = theme, list_, table, detail
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        for widget in (list_, table, detail):
            self.addWidget(widget)
        self.setStretchFactor(1, 1)
        self._front = "table"
        self._mode = self._shown = ""
        self._arrange()

    @property
    def is_wide(self) -> bool:
        return self._mode == "wide"

    @property
    def hides_list(self) -> bool:
        return self._mode == "narrow"

    @property
    def is_detail_over(self) -> bool:
        """Does the detail stand where the table was?"""
        return not self.is_wide and self._front == "detail"

    def show_detail(self) -> None:
        self._bring("detail")

    def show_table(self) -> None:
        self._bring("table")

    def show_list(self) -> None:
        """The list instead of the table, or away again."""
        self._bring("table" if self._front == "list" else "list")

    def _bring(self, front: str) -> None:
        self._front = front
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        scale = chrome_size(self._theme.prose_size) / 13
        width = self.width() / scale
        mode = "wide" if width >= WIDE else "medium" if width >= MEDIUM else "narrow"
        front = self._front if mode != "medium" or self._front != "list" else "table"
        self._list.setVisible(mode != "narrow" or front == "list")
        self._table.setVisible(mode == "wide" or front == "table")
        self._detail.setVisible(mode == "wide" or front == "detail")
        if (mode, front) == (self._mode, self._shown):
            return
        self._mode, self._shown = mode, front
        self._list.setMinimumWidth(round(150 * scale))
        self._detail.setMinimumWidth(round(330 * scale))
        left, right = round(LIST * scale), round(DETAIL * scale)
        rest = max(self.width() - left, 100)
        self.setSizes([left, max(rest - right, 100), right] if mode == "wide" else [left, rest, rest])
        self.fitted.emit()
