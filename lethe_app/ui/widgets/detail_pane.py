"""Pane beside a list with the details of the selected row."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from lethe_app.ui.widgets.card_column import create_card, create_placeholder, create_side_sheet

HEIGHT = 600
"""Initial height in pixels."""


class DetailPane(QStackedWidget):
    """Stack of a placeholder, which is shown while nothing is selected, and the sheet with the details."""

    def __init__(self, placeholder: str, min_width: int, width: int, parent: QWidget | None = None) -> None:
        """Create the pane; `width` is its initial width in pixels."""
        super().__init__(parent)
        self._width = width
        self.setMinimumWidth(min_width)
        self._sheet = create_side_sheet()
        self.addWidget(create_placeholder(placeholder))
        self.addWidget(self._sheet)

    def add_card(self, *widgets: QWidget, title: str = "", help_text: str = "") -> tuple[QWidget, QVBoxLayout]:
        """Add a card with these widgets to the sheet, and return it with its layout."""
        card, column = create_card(title, help_text)
        for widget in widgets:
            column.addWidget(widget)
        self._sheet.add_widget(card)
        return card, column

    def sizeHint(self) -> QSize:
        return QSize(self._width, HEIGHT)
