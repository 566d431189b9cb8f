"""Scrolling column of cards, the layout of most pages."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.widgets.labels import build_heading, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import ContentArea, build_column, build_row

COLUMN_WIDTH = 760
"""Maximum width of a column of cards, in pixels."""
MAX_EMPTY_TEXT_WIDTH = 460
"""Maximum width of the text in place of an empty list, in pixels."""


class CardColumn(ContentArea):
    """Scroll area with cards from top to bottom, centred, at most `COLUMN_WIDTH` pixels wide."""

    def __init__(self) -> None:
        content = QWidget()
        content.setMaximumWidth(COLUMN_WIDTH + 2 * SPACE_6)
        self.column = build_column(1, spacing=SPACE_4, margins=SPACE_6, parent=content)
        super().__init__(content)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def add_widget(self, widget: QWidget) -> None:
        """Add `widget` at the bottom."""
        self.column.insertWidget(self.column.count() - 1, widget)

    def clear_cards(self) -> None:
        """Delete all cards."""
        while self.column.count() > 1:  # the last item is the stretch
            item = self.column.takeAt(0)
            if item is not None and (card := item.widget()) is not None:
                card.hide()
                card.deleteLater()

    def add_card(self, title: str = "", help_text: str = "") -> QVBoxLayout:
        """Add a card with a title and an explanation, and return the layout for its content."""
        card, column = create_card(title, help_text)
        self.add_widget(card)
        return column

    def scroll_to_widget(self, widget: QWidget) -> None:
        """Scroll until `widget` is visible."""
        self.ensureWidgetVisible(widget, 0, SPACE_6)


def create_side_sheet() -> CardColumn:
    """Create a sheet with smaller margins, for use beside a list."""
    sheet = CardColumn()
    sheet.column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
    return sheet


def create_placeholder(text: str) -> QLabel:
    """Create the placeholder that is shown beside a list while nothing is selected."""
    label = create_text_label(text, "quiet")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setMargin(SPACE_6)
    return label


def create_empty_view(label: QLabel, *buttons: QPushButton) -> QWidget:
    """Create what is shown in place of an empty list: why it is empty, and below it buttons for what the user can do."""
    label.setMaximumWidth(MAX_EMPTY_TEXT_WIDTH)
    text_row = build_row((label, 1, Qt.AlignmentFlag.AlignBottom))
    view = QWidget()
    build_column(1, text_row, build_row(1, *buttons, 1, spacing=SPACE_3), 2, spacing=SPACE_2, margins=SPACE_2, parent=view)
    return view


def create_card(title: str = "", help_text: str = "") -> tuple[QFrame, QVBoxLayout]:
    """Create a framed card and return it with the layout for its content."""
    card = QFrame()
    card.setProperty("panel", True)
    card.setAccessibleName(title)
    column = build_column(spacing=SPACE_3, margins=SPACE_4, parent=card)
    if title:
        column.addWidget(build_heading(title))
    if help_text:
        column.addWidget(build_small_label(help_text))
    return card, column


def fill_layout(layout: QLayout, widgets: Iterable[QWidget], start: int = 0) -> None:
    """Replace the widgets of a layout from the index `start` on by others."""
    while (item := layout.takeAt(start)) is not None:
        if (widget := item.widget()) is not None:
            # It is deleted in a later pass of the event loop; until then it would be painted over the new ones.
            widget.hide()
            widget.deleteLater()
    for widget in widgets:
        layout.addWidget(widget)


def create_splitter(left: QWidget, right: QWidget, *, stretch_index: int = 0) -> QSplitter:
    """Create a splitter of two widgets, neither of which can be collapsed; `stretch_index` is the index of the one that takes
    extra width.
    """
    split = QSplitter(Qt.Orientation.Horizontal)
    split.setChildrenCollapsible(False)
    split.setHandleWidth(1)
    split.addWidget(left)
    split.addWidget(right)
    split.setStretchFactor(stretch_index, 1)
    return split
