"""The round faces beside messages: the persona's picture, or a coloured disc with an initial where there is none."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPixmap

from lethe_app.ui.message_style import MessageStyle
from lethe_app.ui.palette import AVATAR

Avatars = Callable[[str], QPixmap | None]
"""Gives the picture of a speaker, if there is one."""


class Faces:
    """Draws each face once for each density of screen."""

    def __init__(self, style: MessageStyle, avatars: Avatars) -> None:
        self._style, self._avatars = style, avatars
        self._drawn: dict[tuple[str, str, float], QPixmap] = {}

    def get(self, speaker: str, name: str, density: float) -> QPixmap:
        key = (speaker, name, density)
        if key not in self._drawn:
            self._drawn[key] = self._draw(speaker, name, density)
        return self._drawn[key]

    def _draw(self, speaker: str, name: str, density: float) -> QPixmap:
        made = QPixmap(round(AVATAR * density), round(AVATAR * density))
        made.setDevicePixelRatio(density)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        circle = QPainterPath()
        circle.addEllipse(0, 0, AVATAR, AVATAR)
        picture = self._avatars(speaker)
        if picture is not None and not picture.isNull():
            side = min(picture.width(), picture.height())
            top = QRectF((picture.width() - side) / 2, 0, side, side)  # portraits have their face in the upper part
            painter.setClipPath(circle)
            painter.drawPixmap(QRectF(0, 0, AVATAR, AVATAR), picture, top)
        else:
            self._draw_initial(painter, circle, speaker, name)
        painter.end()
        return made

    def _draw_initial(self, painter: QPainter, circle: QPainterPath, speaker: str, name: str) -> None:
        """The colour follows from who it is, so that it never changes."""
        palette = self._style.palette
        hue = blake2b((speaker or name).encode("utf-8", "replace"), digest_size=1).digest()[0] / 255
        painter.fillPath(circle, QColor.fromHslF(hue, 0.28, 0.36 if palette.is_dark else 0.42))
        painter.setFont(self._style.name_font)
        painter.setPen(QColor(palette.text if palette.is_dark else palette.surface))
        painter.drawText(QRectF(0, 0, AVATAR, AVATAR), Qt.AlignmentFlag.AlignCenter, name[:1].upper())
