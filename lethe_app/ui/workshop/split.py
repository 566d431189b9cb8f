"""A list and, beside it, what is known of the row that was chosen: how most pages of the workshop part their room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget


def side_by_side(left: QWidget, right: QWidget, *, grows: int = 0) -> QSplitter:
    """Both, with a thin line between that can be dragged; neither can be pushed away. `grows` is which gets the room left."""
    split = QSplitter(Qt.Orientation.Horizontal)
    split.setChildrenCollapsible(False)
    split.setHandleWidth(1)
    split.addWidget(left)
    split.addWidget(right)
    split.setStretchFactor(grows, 1)
    return split
