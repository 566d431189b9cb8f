"""Background image of the transcript, faint enough to keep all text legible."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QLinearGradient, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

IMAGE_OPACITY = 0.06
"""Opacity of the image. With more, muted text falls below a contrast of 4.5 : 1 on the brightest and darkest images."""
MAX_IMAGE_MEGABYTES = 256
"""Memory limit for decoding an image, in MB."""
FADE_HEIGHT = 48
"""Height in pixels over which the image fades out at its lower edge, above the composer."""


class BackgroundImage:
    """Image that covers a widget; the scaled copy is cached for the current size."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._path = ""
        self._image: QPixmap | None = None
        self._scaled_image: QPixmap | None = None

    def set_image(self, path: str) -> None:
        """Load the image; an empty path, or a file that cannot be read, removes it."""
        if path == self._path:
            return
        self._path, self._scaled_image = path, None
        self._image = load_image(Path(path)) if path else None
        # Child widgets, such as the scroll bar, paint their own part of the image.
        for part in (self._widget, *self._widget.findChildren(QWidget)):
            part.update()

    def draw(self, painter: QPainter, child_widget: QWidget | None = None) -> None:
        """Draw the image over the background and below the text; on `child_widget` the section behind it."""
        if self._image is None:
            return
        size, device_pixel_ratio = self._widget.size(), self._widget.devicePixelRatioF()
        pixel_size = QSize(round(size.width() * device_pixel_ratio), round(size.height() * device_pixel_ratio))
        if self._scaled_image is None or self._scaled_image.size() != pixel_size:
            self._scaled_image = fade_out_bottom(
                scale_to_cover(self._image, pixel_size), round(FADE_HEIGHT * device_pixel_ratio)
            )
            self._scaled_image.setDevicePixelRatio(device_pixel_ratio)
        painter.setOpacity(IMAGE_OPACITY)
        painter.drawPixmap(
            QPoint(0, 0) if child_widget is None else child_widget.mapFrom(self._widget, QPoint(0, 0)), self._scaled_image
        )
        painter.setOpacity(1.0)


def load_image(path: Path) -> QPixmap | None:
    """Load an image; None if the file is no image or exceeds the memory limit."""
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    QImageReader.setAllocationLimit(MAX_IMAGE_MEGABYTES)
    image = reader.read()
    return None if image.isNull() else QPixmap.fromImage(image)


def scale_to_cover(picture: QPixmap, size: QSize) -> QPixmap:
    """Return the middle of `picture`, scaled to fill `size` in its own aspect ratio."""
    modes = Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
    scaled = picture.scaled(size, *modes)
    left, top = (scaled.width() - size.width()) // 2, (scaled.height() - size.height()) // 2
    return scaled.copy(left, top, size.width(), size.height())


def fade_out_bottom(picture: QPixmap, height: int) -> QPixmap:
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
