"""Icons of one family, drawn from our own SVG files in the colour that is asked for, sharp on every screen."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from lethe_app.paths import Paths, shipped_root
from lethe_app.ui.core.palette import ICON, SPACE_1

DENSITIES = (1, 2, 3)
BEFORE_WORDS = QSize(ICON + SPACE_1, ICON - SPACE_1)


def _drawing(name: str) -> Path:
    return Paths(home=Path(), cache=Path(), shipped=shipped_root()).icons / f"{name}.svg"


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return _drawing(name).read_text(encoding="utf-8")


def picture(name: str, colour: str, size: int = ICON, density: float = 1.0) -> QPixmap:
    """The drawing `name` in `colour`, `size` logical pixels wide on a screen of `density` pixels per pixel."""
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
    """The icon `name` in `colour`; raises FileNotFoundError for a name that was never drawn."""
    made = QIcon()
    for density in DENSITIES:
        made.addPixmap(picture(name, colour, size, density))
    return made


@lru_cache(maxsize=32)
def icon_before_words(name: str, colour: str, idle: str = "") -> QIcon:
    """The icon for a button with words, which Qt would put too close behind it: `BEFORE_WORDS` is its size.

    `idle` is its colour while the button can do nothing, where that is not simply paler.
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
    """The sign of the program, for title bars and task lists; it brings its own colours."""
    made = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        made.addPixmap(picture("lethe", "", size))
    return made
