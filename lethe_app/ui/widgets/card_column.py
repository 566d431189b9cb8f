"""A column of cards that scrolls: what most pages consist of."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QSplitter, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.pages.page import explanation, headline

COLUMN = 760
"""Widest a column of cards becomes, in pixels."""


class Sheet(QScrollArea):
    """Cards from top to bottom, centred, at most `width` wide."""

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
        """Put `widget` below the others."""
        self.column.insertWidget(self.column.count() - 1, widget)

    def add_card(self, title: str = "", words: str = "") -> QVBoxLayout:
        """A card with a title and a sentence; returns where its content goes."""
        card, column = made_card(title, words)
        self.add(card)
        return column

    def show_widget(self, widget: QWidget) -> None:
        """Scroll so that `widget` can be seen."""
        self.ensureWidgetVisible(widget, 0, SPACE_6)


def side_sheet() -> Sheet:
    """A sheet with less room around its cards, for one that stands beside a list."""
    sheet = Sheet()
    sheet.column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
    return sheet


def invitation(words: str) -> QLabel:
    """What stands beside a list while nothing in it is chosen."""
    label = QLabel(words)
    label.setProperty("quiet", True)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setWordWrap(True)
    label.setMargin(SPACE_6)
    return label


def made_card(title: str = "", words: str = "") -> tuple[QFrame, QVBoxLayout]:
    """A framed card and the column inside it."""
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
    """Both, with a thin line between that can be dragged; neither can be pushed away. `grows` is which gets the room left."""
    split = QSplitter(Qt.Orientation.Horizontal)
    split.setChildrenCollapsible(False)
    split.setHandleWidth(1)
    split.addWidget(left)
    split.addWidget(right)
    split.setStretchFactor(grows, 1)
    return split
