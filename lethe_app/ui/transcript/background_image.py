"""A picture of the user's own behind the conversation, so faint that every word stays as legible as without it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QLinearGradient, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

STRENGTH = 0.06
"""Share of the picture in what is seen; with more, muted words fall below 4.5 : 1 on the brightest and darkest pictures."""
MOST_MEGABYTES = 256
FADING = 48
"""Pixels over which it fades away at its lower edge, where the writing field begins."""


class Backdrop:
    """Fills the place from edge to edge; scaled once for each size."""

    def __init__(self, place: QWidget) -> None:
        self._place = place
        self._path = ""
        self._picture: QPixmap | None = None
        self._scaled: QPixmap | None = None

    def show_picture(self, path: str) -> None:
        """That file, or none where it is empty or cannot be read."""
        if path == self._path:
            return
        self._path, self._scaled = path, None
        self._picture = read_picture(Path(path)) if path else None
        for part in (self._place, *self._place.findChildren(QWidget)):
            part.update()

    def draw(self, painter: QPainter, part: QWidget | None = None) -> None:
        """Over the background and under the words; on `part` of the place, what of the picture lies there."""
        if self._picture is None:
            return
        size, density = self._place.size(), self._place.devicePixelRatioF()
        wanted = QSize(round(size.width() * density), round(size.height() * density))
        if self._scaled is None or self._scaled.size() != wanted:
            self._scaled = fading(covering(self._picture, wanted), round(FADING * density))
            self._scaled.setDevicePixelRatio(density)
        painter.setOpacity(STRENGTH)
        painter.drawPixmap(QPoint(0, 0) if part is None else part.mapFrom(self._place, QPoint(0, 0)), self._scaled)
        painter.setOpacity(1.0)


def read_picture(path: Path) -> QPixmap | None:
    """None for what is no picture, or one so large that it would fill the memory."""
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    QImageReader.setAllocationLimit(MOST_MEGABYTES)
    image = reader.read()
    return None if image.isNull() else QPixmap.fromImage(image)


def covering(picture: QPixmap, size: QSize) -> QPixmap:
    """The middle of `picture`, scaled to fill `size` without being distorted."""
    modes = Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
    larger = picture.scaled(size, *modes)
    left, top = (larger.width() - size.width()) // 2, (larger.height() - size.height()) // 2
    return larger.copy(left, top, size.width(), size.height())


def fading(picture: QPixmap, height: int) -> QPixmap:
    """Less and less of it over its last pixels."""
    image = picture.toImage().convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    end = image.height()
    shade = QLinearGradient(0, end - height, 0, end)
    shade.setColorAt(0, QColor(0, 0, 0, 255))
    shade.setColorAt(1, QColor(0, 0, 0, 0))
    painter = QPainter(image)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_DestinationIn)
    painter.fillRect(0, end - height, image.width(), height, shade)
    painter.end()
    return QPixmap.fromImage(image)
