"""Round avatars of personas: the persona's image, or the first letter of its name on a coloured disc."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QImageReader, QPainter, QPainterPath, QPixmap

from lethe_app.ui.core.palette import Palette


@lru_cache(maxsize=256)
def avatar(picture: Path | None, who: str, name: str, size: int, palette: Palette, density: float = 1.0) -> QPixmap:
    """Return the avatar of persona `who` as a disc of `size` logical pixels; the letter if `picture` is None or unreadable."""
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
    """Return the colours of disc and letter. The hue is derived from a hash of the id, so that it is stable everywhere."""
    hue = blake2b(who.encode("utf-8", "replace"), digest_size=1).digest()[0] / 256
    return QColor.fromHslF(hue, 0.28, 0.32), QColor(palette.text if palette.is_dark else palette.surface)


def draw_letter(painter: QPainter, who: str, name: str, size: int, palette: Palette) -> None:
    """Draw the letter avatar of `size` logical pixels at the painter's origin."""
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
