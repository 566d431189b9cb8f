"""Placeholder of the window before anything is loaded: outlines of sidebar and header, or one line at the first start."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.palette import Palette

SIDEBAR_WIDTH, HEADER_HEIGHT, SIDEBAR_MIN_WINDOW_WIDTH = 264, 52, 720


class Skeleton(QWidget):
    """Placeholder that needs no layout or stylesheet.

    Its colours are those of widgets, because a painter that is given a colour first creates all enumerations of the namespace
    `Qt`, which takes a tenth of the time to the first paint.
    """

    def __init__(self, palette: Palette, *, show_outlines: bool) -> None:
        super().__init__()
        _set_colours(self, palette.background, palette.muted)
        self._text = "" if show_outlines else self.tr("Starting Lethe…")
        self._outlines = [QWidget(self) for _area in range(3)] if show_outlines else []
        for area, colour in zip(self._outlines, (palette.surface, palette.border, palette.border), strict=False):
            _set_colours(area, colour, palette.muted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width, height = self.width(), self.height()
        left = SIDEBAR_WIDTH if width >= SIDEBAR_MIN_WINDOW_WIDTH else 0
        rects = QRect(0, 0, left, height), QRect(left, 0, 1, height), QRect(left, HEADER_HEIGHT, width - left, 1)
        for area, rect in zip(self._outlines, rects, strict=False):
            area.setGeometry(rect)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawText(self.rect().center() - painter.fontMetrics().boundingRect(self._text).center(), self._text)
        painter.end()


def _set_colours(widget: QWidget, background: str, text: str) -> None:
    colours = QPalette()
    colours.setColor(QPalette.ColorRole.Window, QColor(background))
    colours.setColor(QPalette.ColorRole.WindowText, QColor(text))
    widget.setPalette(colours)
    widget.setAutoFillBackground(True)
