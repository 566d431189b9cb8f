"""What a dialog asks, of any height: all of it where there is room, scrolled on a small screen, the buttons always below it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QScrollArea, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_3, SPACE_6

LEAST = 96
"""Pixels of it that are always seen."""


class Tall(QScrollArea):
    """Put into `column` what there is; `grown` is called when that needs another height than before."""

    def __init__(self, spacing: int, grown: Callable[[], None]) -> None:
        super().__init__()
        self._grown = grown
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        inside = QWidget()
        inside.setObjectName("sheet")
        self.column = QVBoxLayout(inside)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(spacing)
        self.setWidget(inside)
        inside.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        done = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._grown()
        return done

    def wanted(self, width: int) -> int:
        """Pixels of height that all of it takes in that width."""
        wrapped = self.column.totalHeightForWidth(width) if self.column.hasHeightForWidth() else 0
        return max(wrapped, self.column.totalMinimumSize().height())

    def sizeHint(self) -> QSize:
        width = self.column.totalSizeHint().width()
        return QSize(width, self.wanted(width))

    def minimumSizeHint(self) -> QSize:
        """As wide as what is inside, on a screen that has so much; as high as a line or two."""
        least = self.column.totalMinimumSize()
        return QSize(min(least.width(), room_for(self).width() - 2 * SPACE_6), min(least.height(), LEAST))


def room_for(widget: QWidget) -> QSize:
    """Pixels that a dialog may take on the screen where `widget` is."""
    return widget.screen().availableSize() - QSize(SPACE_3, SPACE_6)  # the system's frame comes on top


def fitting_height(dialog: QDialog, tall: Tall, width: int) -> int:
    """What all of it takes in that width, but no more than the screen has."""
    dialog.ensurePolished()
    layout = dialog.layout()
    if layout is None:
        return dialog.height()
    margins = layout.contentsMargins()
    wrapped = layout.totalMinimumHeightForWidth(width) if layout.hasHeightForWidth() else 0
    around = max(wrapped, layout.totalMinimumSize().height()) - tall.minimumSizeHint().height()
    needed = around + tall.wanted(width - margins.left() - margins.right())
    return min(needed, room_for(dialog).height())
