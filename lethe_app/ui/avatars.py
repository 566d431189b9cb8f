"""Round pictures of personas: their own image, or the first letter of their name on a quiet disc."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImageReader, QPainter, QPainterPath, QPixmap

from lethe_app.ui.palette import Palette
from lethe_app.ui.theme import mixed


@lru_cache(maxsize=256)
def avatar(picture: Path | None, name: str, size: int, palette: Palette, density: float = 1.0) -> QPixmap:
    """The avatar as a disc of `size` logical pixels; a picture that cannot be read gives the letter."""
    drawn = QPixmap(round(size * density), round(size * density))
    drawn.setDevicePixelRatio(density)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    if not (picture is not None and _draw_picture(painter, picture, size, density)):
        _draw_letter(painter, name, size, palette)
    painter.end()
    return drawn


def _draw_picture(painter: QPainter, path: Path, size: int, density: float) -> bool:
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    full = reader.size()
    if full.isValid():  # decode no more than is shown
        pixels = round(size * density)
        reader.setScaledSize(full.scaled(QSize(pixels, pixels), Qt.AspectRatioMode.KeepAspectRatioByExpanding))
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


def _draw_letter(painter: QPainter, name: str, size: int, palette: Palette) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(mixed(palette.raised, palette.water, 0.22)))
    painter.drawEllipse(QRectF(0, 0, size, size))
    font = QFont(painter.font())
    font.setPixelSize(round(size * 0.44))
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    painter.setPen(QColor(palette.text))
    painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, name.strip()[:1].upper() or "?")
