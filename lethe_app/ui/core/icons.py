"""Icons rendered from the program's SVG files in the requested colour, sharp at every screen density."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from lethe_app.paths import Paths, shipped_root
from lethe_app.ui.core.palette import ICON, SPACE_1

DEVICE_PIXEL_RATIOS = (1, 2, 3)
"""Device pixel ratios for which icons are rendered."""
BUTTON_ICON_SIZE = QSize(ICON + SPACE_1, ICON - SPACE_1)
"""Size of icons from `load_button_icon`, in logical pixels; the extra width is the gap between icon and text."""


@lru_cache(maxsize=64)
def _svg_source(name: str) -> str:
    folder = Paths(home=Path(), cache=Path(), shipped=shipped_root()).icons
    return (folder / f"{name}.svg").read_text(encoding="utf-8")


def render_icon(name: str, colour: str, size: int = ICON, device_pixel_ratio: float = 1.0) -> QPixmap:
    """Return the SVG `name` in `colour`, `size` logical pixels wide, for a screen of `device_pixel_ratio` device pixels per
    logical pixel.
    """
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415 - a library of its own, not needed for the first paint

    pixmap = QPixmap(round(size * device_pixel_ratio), round(size * device_pixel_ratio))
    pixmap.setDevicePixelRatio(device_pixel_ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    source = _svg_source(name).replace("currentColor", colour)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap


@lru_cache(maxsize=256)
def load_icon(name: str, colour: str, size: int = ICON) -> QIcon:
    """Return the icon `name` in `colour`. Raise FileNotFoundError if there is no such SVG."""
    result = QIcon()
    for device_pixel_ratio in DEVICE_PIXEL_RATIOS:
        result.addPixmap(render_icon(name, colour, size, device_pixel_ratio))
    return result


@lru_cache(maxsize=32)
def load_button_icon(name: str, colour: str, disabled_colour: str = "") -> QIcon:
    """Return the icon of a button with text, padded on the right because Qt places text too close to an icon.

    Use it with the icon size `BUTTON_ICON_SIZE`. `disabled_colour` is the colour of the disabled button, if it is not just
    paler.
    """
    result = QIcon()
    modes = [(QIcon.Mode.Normal, colour), *([(QIcon.Mode.Disabled, disabled_colour)] if disabled_colour else [])]
    for device_pixel_ratio, (mode, ink) in product(DEVICE_PIXEL_RATIOS, modes):
        pixmap = QPixmap(BUTTON_ICON_SIZE * device_pixel_ratio)
        pixmap.setDevicePixelRatio(device_pixel_ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.drawPixmap(0, 0, render_icon(name, ink, BUTTON_ICON_SIZE.height(), device_pixel_ratio))
        painter.end()
        result.addPixmap(pixmap, mode)
    return result


@lru_cache(maxsize=1)
def application_icon() -> QIcon:
    """Return the icon of the program, for title bars and task lists; it has colours of its own."""
    result = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        result.addPixmap(render_icon("lethe", "", size))
    return result
