"""Round avatars beside messages: the persona's picture, or a coloured disc with an initial."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPixmap

from lethe_app.ui.core.avatars import draw_letter
from lethe_app.ui.core.palette import AVATAR
from lethe_app.ui.transcript.painting.style import MessageStyle

Avatars = Callable[[str], QPixmap | None]
"""Return the picture of a speaker; None if there is none."""

ANYBODY = "…"
"""Stands for the speaker while it is open which participant answers."""


class Faces:
    """Cache of drawn avatars by speaker, name and pixel ratio."""

    def __init__(self, style: MessageStyle, avatars: Avatars) -> None:
        self._style, self._avatars = style, avatars
        self._drawn: dict[tuple[str, str, float], QPixmap] = {}

    def get(self, speaker: str, name: str, density: float) -> QPixmap:
        """Return the avatar of a speaker, drawn for the pixel ratio `density`."""
        name = ANYBODY if speaker == ANYBODY else name
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
            draw_letter(painter, speaker, name, AVATAR, self._style.palette)
        painter.end()
        return made
