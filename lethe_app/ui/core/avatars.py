"""Round avatars of personas: the persona's image, or the first letter of its name on a coloured disc."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImage, QImageReader, QImageWriter, QPainter, QPainterPath, QPixmap

from lethe_app.ui.core.palette import Palette

IMAGE_EXTENSIONS = ("png", "jpg", "jpeg", "webp")
"""File extensions of the image formats that can be read."""
UNDECIDED_SPEAKER = "…"
"""Stands for the speaker while it is open which participant answers."""


@lru_cache(maxsize=256)
def render_avatar(
    image_path: Path | None, persona_id: str, name: str, size: int, palette: Palette, device_pixel_ratio: float = 1.0
) -> QPixmap:
    """Return the avatar of persona `persona_id` as a disc of `size` logical pixels; the letter if `image_path` is None or
    unreadable.
    """
    reader = QImageReader(str(image_path)) if image_path is not None else None
    return _render_disc(reader, persona_id, name, size, palette, device_pixel_ratio)


def render_portrait(content: bytes, name: str, size: int, palette: Palette, device_pixel_ratio: float) -> QPixmap:
    """Return an image file's content as a disc of `size` logical pixels; the first letter of `name` if it is empty or
    unreadable.
    """
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    return _render_disc(QImageReader(buffer) if content else None, name, name, size, palette, device_pixel_ratio)


def shrink_picture(content: bytes, side: int) -> bytes:
    """Return an image file's content as a PNG whose shorter side has at most `side` pixels; empty if it is unreadable.

    Decoding a large image takes long; unlike `render_portrait` this may be done in a thread.
    """
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    if reader.size().isValid():
        reader.setScaledSize(reader.size().scaled(QSize(side, side), Qt.AspectRatioMode.KeepAspectRatioByExpanding))
    image = reader.read()
    return b"" if image.isNull() else encode_png(image)


def encode_png(image: QImage) -> bytes:
    """Return an image as the content of a PNG file."""
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(content.data())


def _render_disc(
    reader: QImageReader | None, persona_id: str, name: str, size: int, palette: Palette, device_pixel_ratio: float
) -> QPixmap:
    pixmap = QPixmap(round(size * device_pixel_ratio), round(size * device_pixel_ratio))
    pixmap.setDevicePixelRatio(device_pixel_ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    if reader is None or not _draw_image(painter, reader, size, device_pixel_ratio):
        draw_letter_avatar(painter, persona_id, name, size, palette)
    painter.end()
    return pixmap


def _draw_image(painter: QPainter, reader: QImageReader, size: int, device_pixel_ratio: float) -> bool:
    reader.setAutoTransform(True)
    image_size = reader.size()
    if image_size.isValid():  # decode no more than is shown
        pixels = round(size * device_pixel_ratio)
        reader.setScaledSize(image_size.scaled(QSize(pixels, pixels), Qt.AspectRatioMode.KeepAspectRatioByExpanding))
    image = reader.read()
    if image.isNull():
        return False
    disc = QPainterPath()
    disc.addEllipse(QRectF(0, 0, size, size))
    painter.setClipPath(disc)
    side = min(image.width(), image.height())
    # portraits have their face in the upper part, so a tall picture is cropped from the top
    painter.drawImage(QRectF(0, 0, size, size), image, QRectF((image.width() - side) / 2, 0, side, side))
    return True


def disc_colours(persona_id: str, palette: Palette) -> tuple[QColor, QColor]:
    """Return the colours of disc and letter. The hue is derived from a hash of the id, so that it is stable everywhere."""
    hue = blake2b(persona_id.encode("utf-8", "replace"), digest_size=1).digest()[0] / 256
    return QColor.fromHslF(hue, 0.28, 0.32), QColor(palette.text if palette.is_dark else palette.surface)


def draw_letter_avatar(painter: QPainter, persona_id: str, name: str, size: int, palette: Palette) -> None:
    """Draw the letter avatar of `size` logical pixels at the painter's origin."""
    disc, ink = disc_colours(persona_id or name, palette)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(disc)
    painter.drawEllipse(QRectF(0, 0, size, size))
    font = QFont(painter.font())
    font.setPixelSize(round(size * 0.42))
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    painter.setPen(ink)
    painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, name.strip()[:1].upper() or "?")
