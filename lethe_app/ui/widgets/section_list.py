"""List of the sections of a form, which stands beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget

from lethe_app.ui.core.palette import SPACE_4
from lethe_app.ui.core.theme import Theme

MIN_WIDTH = 180
"""Minimum width in pixels."""


class SectionList(QListWidget):
    """List as wide as its longest title."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("sections")
        self.setAccessibleName(self.tr("Sections"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self._fit_width)

    def add_sections(self, titles: list[str]) -> None:
        """Add sections at the end of the list."""
        self.addItems(titles)
        self._fit_width()

    def _fit_width(self) -> None:
        self.setFixedWidth(max(MIN_WIDTH, self.sizeHintForColumn(0) + 2 * SPACE_4))
