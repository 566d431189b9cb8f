"""How far words stand out from what is really painted behind them, read off the picture of a window."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
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
    if not colours.size:
        return None
    light = luminance(colours)
    values = ratio(light, light[counts.argmax()])
    order = np.argsort(-values)
    values, counts = values[order], counts[order]
    is_ink = values > 1.15
    values, counts = values[is_ink], counts[is_ink]
    if counts.sum() < MIN_PIXELS:
        return None
    return float(values[np.searchsorted(counts.cumsum(), max(1.0, counts.sum() * BOLDEST))])


def luminance(colours: np.ndarray) -> np.ndarray:
    """As WCAG reckons it, of colours 0xAARRGGBB."""
    parts = np.stack([colours >> 16 & 255, colours >> 8 & 255, colours & 255]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return np.array([0.2126, 0.7152, 0.0722]) @ linear


def ratio(one: np.ndarray, other: float) -> np.ndarray:
    """From 1 to 21."""
    return (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)
