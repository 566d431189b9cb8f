"""Placeholder of the window before anything is loaded: outlines of sidebar and header, or one line at the first start."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.palette import Palette

SIDEBAR_WIDTH, HEADER_HEIGHT, SIDEBAR_MIN_WINDOW_WIDTH = 264, 52, 720


class Skeleton(QWidget):
    """Painted placeholder that needs no layout, stylesheet or child widgets."""

    def __init__(self, palette: Palette, *, show_outlines: bool) -> None:
        super().__init__()
        self._palette = palette
        self._show_outlines = show_outlines

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(self._palette.background))
        if self._show_outlines:
            self._draw_outlines(painter)
        else:
            painter.setPen(QColor(self._palette.muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.tr("Starting Lethe…"))
        painter.end()

    def _draw_outlines(self, painter: QPainter) -> None:
        left = SIDEBAR_WIDTH if self.width() >= SIDEBAR_MIN_WINDOW_WIDTH else 0
        border = QColor(self._palette.border)
        painter.fillRect(QRect(0, 0, left, self.height()), QColor(self._palette.surface))
        painter.fillRect(QRect(left, 0, 1, self.height()), border)
        painter.fillRect(QRect(left, HEADER_HEIGHT, self.width() - left, 1), border)
