"""How far words stand out from what is really painted behind them, read off the picture of a window."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

BOLDEST = 0.02
"""Of the pixels that differ from the ground, so many are the middle of a stroke; all others are its edges."""
MIN_PIXELS = 12
"""Differing from the ground, before there are words at all."""


def ratios(page: QWidget, picture: QImage) -> Iterator[tuple[str, float]]:
    """Each widget with words that can be seen, and their contrast by WCAG, told from the darkest strokes of the letters."""
    window = page.window()
    scale, pixels = picture.devicePixelRatio(), read_pixels(picture)
    for widget in page.findChildren(QWidget):
        words = words_of(widget)
        if not words or not widget.isVisible():
            continue
        visible = widget.visibleRegion().boundingRect()
        if not isinstance(widget, QAbstractItemView) and visible != widget.rect():
            continue  # half under the edge of a scrolled column
        for area in areas(widget, visible):
            place = widget.mapTo(window, area.topLeft()) * scale
            found = contrast(pixels, QRect(place, area.size() * scale))
            if found is not None:
                yield f"{type(widget).__name__} “{words[:40]}”", found


def words_of(widget: QWidget) -> str:
    """What a reader would read there."""
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        return widget.text() or (widget.placeholderText() if isinstance(widget, QLineEdit) else "")
    if isinstance(widget, QComboBox):
        return widget.currentText()
    if isinstance(widget, QPlainTextEdit):
        return widget.toPlainText()[:40] or widget.placeholderText()
    if isinstance(widget, QTabBar):
        return widget.tabText(0)
    return "rows" if isinstance(widget, QAbstractItemView) else ""


def areas(widget: QWidget, visible: QRect) -> list[QRect]:
    """Each row, tab or line by itself: their grounds may differ."""
    if isinstance(widget, QTabBar):
        return [widget.tabRect(place).intersected(visible) for place in range(widget.count())]
    if isinstance(widget, QAbstractItemView):
        model, origin = widget.model(), widget.viewport().pos()
        columns = 1 if isinstance(widget, QListView) else model.columnCount()
        cells = [model.index(row, column) for row in range(model.rowCount()) for column in range(columns)]
        rects = [widget.visualRect(cell).translated(origin) for cell in cells[:200] if str(cell.data() or "")]
        return [rect for rect in rects if visible.contains(rect)]
    return [visible]


def read_pixels(picture: QImage) -> np.ndarray:
    """The colours of a picture as numbers, row by row."""
    converted = picture.convertToFormat(QImage.Format.Format_ARGB32)
    return np.array(converted.constBits()).view(np.uint32).reshape(converted.height(), converted.width())


def contrast(pixels: np.ndarray, area: QRect) -> float | None:
    """Of the strongest strokes in that part against its commonest colour; None where nothing is written there."""
    rows, columns = slice(max(0, area.top()), area.bottom() + 1), slice(max(0, area.left()), area.right() + 1)
    colours, counts = np.unique(pixels[rows, columns], return_counts=True)
    counted = dict(zip(colours.tolist(), counts.tolist(), strict=True))
    if not counted:
        return None
    ground = luminance(max(counted, key=lambda colour: counted[colour]))
    differing = sorted(((ratio(luminance(colour), ground), count) for colour, count in counted.items()), reverse=True)
    inked = [(value, count) for value, count in differing if value > 1.15]
    whole = sum(count for _value, count in inked)
    if whole < MIN_PIXELS:
        return None
    needed = max(1.0, whole * BOLDEST)
    for value, count in inked:
        needed -= count
        if needed <= 0:
            return value
    return inked[-1][0]


@cache
def luminance(number: int) -> float:
    """As WCAG reckons it."""
    colour = QColor(number)

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def ratio(one: float, other: float) -> float:
    """From 1 to 21."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
