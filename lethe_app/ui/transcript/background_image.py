"""Background image of the transcript, faint enough to keep all text legible."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QLinearGradient, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

STRENGTH = 0.06
"""Opacity of the image. With more, muted text falls below a contrast of 4.5 : 1 on the brightest and darkest images."""
MOST_MEGABYTES = 256
"""Memory limit for decoding an image, in MB."""
FADING = 48
"""Height in pixels over which the image fades out at its lower edge, above the composer."""


class Backdrop:
    """Image that covers a widget; the scaled copy is cached for the current size."""

    def __init__(self, place: QWidget) -> None:
        self._place = place
        self._path = ""
        self._picture: QPixmap | None = None
        self._scaled: QPixmap | None = None

    def show_picture(self, path: str) -> None:
        """Load the image; an empty path, or a file that cannot be read, removes it."""
        if path == self._path:
            return
        self._path, self._scaled = path, None
        self._picture = read_picture(Path(path)) if path else None
        # Child widgets, such as the scroll bar, paint their own part of the image.
        for part in (self._place, *self._place.findChildren(QWidget)):
            part.update()

    def draw(self, painter: QPainter, part: QWidget | None = None) -> None:
        """Draw the image over the background and below the text; on the child widget `part`, the section that lies there."""
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
    """Load an image; None if the file is no image or exceeds the memory limit."""
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    QImageReader.setAllocationLimit(MOST_MEGABYTES)
    image = reader.read()
    return None if image.isNull() else QPixmap.fromImage(image)


def covering(picture: QPixmap, size: QSize) -> QPixmap:
    """Return the middle of `picture`, scaled to fill `size` in its own aspect ratio."""
    modes = Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
    larger = picture.scaled(size, *modes)
    left, top = (larger.width() - size.width()) // 2, (larger.height() - size.height()) // 2
    return larger.copy(left, top, size.width(), size.height())


def fading(picture: QPixmap, height: int) -> QPixmap:
    """Return a copy of `picture` that fades out over its last `height` pixels."""
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
