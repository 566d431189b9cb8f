"""Round pictures of personas: their own image, or the first letter of their name on a disc in a colour of their own."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImageReader, QPainter, QPainterPath, QPixmap

from lethe_app.ui.core.palette import Palette


@lru_cache(maxsize=256)
def avatar(picture: Path | None, who: str, name: str, size: int, palette: Palette, density: float = 1.0) -> QPixmap:
    """The avatar of `who` as a disc of `size` logical pixels; a picture that cannot be read gives the letter."""
    drawn = QPixmap(round(size * density), round(size * density))
    drawn.setDevicePixelRatio(density)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    if not (picture is not None and _draw_picture(painter, picture, size, density)):
        draw_letter(painter, who, name, size, palette)
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


def disc_colours(who: str, palette: Palette) -> tuple[QColor, QColor]:
    """Disc and letter: the hue follows from who it is, so that it is the same everywhere and never changes."""
    hue = blake2b(who.encode("utf-8", "replace"), digest_size=1).digest()[0] / 256
    return QColor.fromHslF(hue, 0.28, 0.32), QColor(palette.text if palette.is_dark else palette.surface)


def draw_letter(painter: QPainter, who: str, name: str, size: int, palette: Palette) -> None:
    """Draw the disc of someone without a picture at the painter's origin."""
    disc, ink = disc_colours(who or name, palette)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(disc)
    painter.drawEllipse(QRectF(0, 0, size, size))
    font = QFont(painter.font())
    font.setPixelSize(round(size * 0.42))
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    painter.setPen(ink)
    painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, name.strip()[:1].upper() or "?")
