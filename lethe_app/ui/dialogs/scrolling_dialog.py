"""Scroll area for a dialog's content: shown whole if the screen has room, otherwise scrolled, with the buttons always
visible.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QScrollArea, QWidget

from lethe_app.ui.core.palette import SPACE_3, SPACE_6
from lethe_app.ui.widgets.layouts import build_column

MIN_CONTENT_HEIGHT = 96
"""Minimum visible height of the content, in pixels."""


class GrowingScrollArea(QScrollArea):
    """Scroll area with content in `column`; `on_content_changed` is called when the content may need another height."""

    def __init__(self, spacing: int, on_content_changed: Callable[[], None]) -> None:
        super().__init__()
        self._on_content_changed = on_content_changed
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        content = QWidget()
        content.setObjectName("sheet")
        self.column = build_column(spacing=spacing, parent=content)
        self.setWidget(content)
        content.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_handled = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._on_content_changed()
        return is_handled

    def content_height(self, width: int) -> int:
        """Return the height in pixels of the whole content in a width of `width` pixels."""
        wrapped_height = self.column.totalHeightForWidth(width) if self.column.hasHeightForWidth() else 0
        return max(wrapped_height, self.column.totalMinimumSize().height())

    def sizeHint(self) -> QSize:
        width = self.column.totalSizeHint().width()
        return QSize(width, self.content_height(width))

    def minimumSizeHint(self) -> QSize:
        """Return the width of the content, limited by the screen, and the height of a line or two."""
        least = self.column.totalMinimumSize()
        return QSize(min(least.width(), max_dialog_size(self).width() - 2 * SPACE_6), min(least.height(), MIN_CONTENT_HEIGHT))


def max_dialog_size(widget: QWidget) -> QSize:
    """Return the maximum size of a dialog on the screen of `widget`, in pixels."""
    return widget.screen().availableSize() - QSize(SPACE_3, SPACE_6)  # room for the frame of the window system


def fitting_height(dialog: QDialog, scroll_area: GrowingScrollArea, width: int) -> int:
    """Return the height of `dialog` that shows its whole content in a width of `width` pixels, limited by the screen."""
    dialog.ensurePolished()
    layout = dialog.layout()
    if layout is None:
        return dialog.height()
    margins = layout.contentsMargins()
    wrapped_height = layout.totalMinimumHeightForWidth(width) if layout.hasHeightForWidth() else 0
    surrounding_height = max(wrapped_height, layout.totalMinimumSize().height()) - scroll_area.minimumSizeHint().height()
    needed = surrounding_height + scroll_area.content_height(width - margins.left() - margins.right())
    return min(needed, max_dialog_size(dialog).height())
