"""Icons rendered from the program's SVG files in the requested colour, sharp at every screen density."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from lethe_app.paths import Paths, shipped_root
from lethe_app.ui.core.palette import ICON, SPACE_1

DENSITIES = (1, 2, 3)
"""Device pixel ratios for which icons are rendered."""
BEFORE_WORDS = QSize(ICON + SPACE_1, ICON - SPACE_1)
"""Size of icons from `icon_before_words`, in logical pixels; the extra width is the gap between icon and text."""


def _drawing(name: str) -> Path:
    return Paths(home=Path(), cache=Path(), shipped=shipped_root()).icons / f"{name}.svg"


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return _drawing(name).read_text(encoding="utf-8")


def picture(name: str, colour: str, size: int = ICON, density: float = 1.0) -> QPixmap:
    """Return the SVG `name` in `colour`, `size` logical pixels wide, for a screen of `density` device pixels per logical
    pixel.
    """
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415 - a library of its own, not needed for the first paint

    drawn = QPixmap(round(size * density), round(size * density))
    drawn.setDevicePixelRatio(density)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    source = _source(name).replace("currentColor", colour)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return drawn


@lru_cache(maxsize=256)
def icon(name: str, colour: str, size: int = ICON) -> QIcon:
    """Return the icon `name` in `colour`. Raise FileNotFoundError if there is no such SVG."""
    made = QIcon()
    for density in DENSITIES:
        made.addPixmap(picture(name, colour, size, density))
    return made


@lru_cache(maxsize=32)
def icon_before_words(name: str, colour: str, idle: str = "") -> QIcon:
    """Return the icon of a button with text, padded on the right because Qt places text too close to an icon.

    Use it with the icon size `BEFORE_WORDS`. `idle` is the colour of the disabled button, if it is not just paler.
    """
    made = QIcon()
    modes = [(QIcon.Mode.Normal, colour), *([(QIcon.Mode.Disabled, idle)] if idle else [])]
    for density, (mode, ink) in product(DENSITIES, modes):
        drawn = QPixmap(BEFORE_WORDS * density)
        drawn.setDevicePixelRatio(density)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        painter.drawPixmap(0, 0, picture(name, ink, BEFORE_WORDS.height(), density))
        painter.end()
        made.addPixmap(drawn, mode)
    return made


@lru_cache(maxsize=1)
def application_icon() -> QIcon:
    """Return the icon of the program, for title bars and task lists; it has colours of its own."""
    made = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        made.addPixmap(picture("lethe", "", size))
    return made
