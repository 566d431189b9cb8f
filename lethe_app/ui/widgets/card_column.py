"""Scrolling column of cards, the layout of most pages."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QSplitter, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.pages.page import explanation, headline

COLUMN = 760
"""Maximum width of a column of cards, in pixels."""


class Sheet(QScrollArea):
    """Scroll area with cards from top to bottom, centred, at most `width` pixels wide."""

    def __init__(self, width: int = COLUMN, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        inside = QWidget()
        inside.setObjectName("sheet")
        inside.setMaximumWidth(width + 2 * SPACE_6)
        self.column = QVBoxLayout(inside)
        self.column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_6)
        self.column.setSpacing(SPACE_4)
        self.column.addStretch(1)
        self.setWidget(inside)

    def add(self, widget: QWidget) -> None:
        """Add `widget` at the bottom."""
        self.column.insertWidget(self.column.count() - 1, widget)

    def add_card(self, title: str = "", words: str = "") -> QVBoxLayout:
        """Add a card with a title and an explanation, and return the layout for its content."""
        card, column = made_card(title, words)
        self.add(card)
        return column

    def show_widget(self, widget: QWidget) -> None:
        """Scroll until `widget` is visible."""
        self.ensureWidgetVisible(widget, 0, SPACE_6)


def side_sheet() -> Sheet:
    """Create a sheet with smaller margins, for use beside a list."""
    sheet = Sheet()
    sheet.column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
    return sheet


def invitation(words: str) -> QLabel:
    """Create the placeholder that is shown beside a list while nothing is selected."""
    label = QLabel(words)
    label.setProperty("quiet", True)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setWordWrap(True)
    label.setMargin(SPACE_6)
    return label


def made_card(title: str = "", words: str = "") -> tuple[QFrame, QVBoxLayout]:
    """Create a framed card and return it with the layout for its content."""
    card = QFrame()
    card.setProperty("panel", True)
    card.setAccessibleName(title)
    column = QVBoxLayout(card)
    column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
    column.setSpacing(SPACE_3)
    if title:
        column.addWidget(headline(title))
    if words:
        column.addWidget(explanation(words))
    return card, column


def side_by_side(left: QWidget, right: QWidget, *, grows: int = 0) -> QSplitter:
    """Create a splitter of two widgets, neither of which can be collapsed; `grows` is the index of the one that takes extra
    width.
    """
    split = QSplitter(Qt.Orientation.Horizontal)
    split.setChildrenCollapsible(False)
    split.setHandleWidth(1)
    split.addWidget(left)
    split.addWidget(right)
    split.setStretchFactor(grows, 1)
    return split
