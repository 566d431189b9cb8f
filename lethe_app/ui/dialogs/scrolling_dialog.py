"""Scroll area for a dialog's content: shown whole if the screen has room, otherwise scrolled, with the buttons always
visible.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QScrollArea, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_3, SPACE_6

LEAST = 96
"""Minimum visible height of the content, in pixels."""


class Tall(QScrollArea):
    """Scroll area with content in `column`; `grown` is called when the content may need another height."""

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
        """Return the height in pixels of the whole content in a width of `width` pixels."""
        wrapped = self.column.totalHeightForWidth(width) if self.column.hasHeightForWidth() else 0
        return max(wrapped, self.column.totalMinimumSize().height())

    def sizeHint(self) -> QSize:
        width = self.column.totalSizeHint().width()
        return QSize(width, self.wanted(width))

    def minimumSizeHint(self) -> QSize:
        """Return the width of the content, limited by the screen, and the height of a line or two."""
        least = self.column.totalMinimumSize()
        return QSize(min(least.width(), room_for(self).width() - 2 * SPACE_6), min(least.height(), LEAST))


def room_for(widget: QWidget) -> QSize:
    """Return the maximum size of a dialog on the screen of `widget`, in pixels."""
    return widget.screen().availableSize() - QSize(SPACE_3, SPACE_6)  # the system's frame comes on top


def fitting_height(dialog: QDialog, tall: Tall, width: int) -> int:
    """Return the height of `dialog` that shows its whole content in a width of `width` pixels, limited by the screen."""
    dialog.ensurePolished()
    layout = dialog.layout()
    if layout is None:
        return dialog.height()
    margins = layout.contentsMargins()
    wrapped = layout.totalMinimumHeightForWidth(width) if layout.hasHeightForWidth() else 0
    around = max(wrapped, layout.totalMinimumSize().height()) - tall.minimumSizeHint().height()
    needed = around + tall.wanted(width - margins.left() - margins.right())
    return min(needed, room_for(dialog).height())
