"""Round avatars beside messages: the persona's picture, or a coloured disc with an initial."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPixmap

from lethe_app.ui.core.avatars import draw_letter_avatar
from lethe_app.ui.core.palette import AVATAR
from lethe_app.ui.transcript.painting.style import MessageStyle

AvatarSource = Callable[[str], QPixmap | None]
"""Return the picture of a speaker; None if there is none."""

UNDECIDED_SPEAKER = "…"
"""Stands for the speaker while it is open which participant answers."""


class AvatarCache:
    """Cache of drawn avatars by speaker, name and pixel ratio."""

    def __init__(self, style: MessageStyle, source: AvatarSource) -> None:
        self._style, self._source = style, source
        self._pixmaps: dict[tuple[str, str, float], QPixmap] = {}

    def get(self, speaker: str, name: str, device_pixel_ratio: float) -> QPixmap:
        """Return the avatar of a speaker, drawn for the pixel ratio `device_pixel_ratio`."""
        name = UNDECIDED_SPEAKER if speaker == UNDECIDED_SPEAKER else name
        key = (speaker, name, device_pixel_ratio)
        if key not in self._pixmaps:
            self._pixmaps[key] = self._render_avatar(speaker, name, device_pixel_ratio)
        return self._pixmaps[key]

    def _render_avatar(self, speaker: str, name: str, device_pixel_ratio: float) -> QPixmap:
        pixmap = QPixmap(round(AVATAR * device_pixel_ratio), round(AVATAR * device_pixel_ratio))
        pixmap.setDevicePixelRatio(device_pixel_ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        circle = QPainterPath()
        circle.addEllipse(0, 0, AVATAR, AVATAR)
        picture = self._source(speaker)
        if picture is not None and not picture.isNull():
            side = min(picture.width(), picture.height())
            source_rect = QRectF((picture.width() - side) / 2, 0, side, side)  # portraits have their face in the upper part
            painter.setClipPath(circle)
            painter.drawPixmap(QRectF(0, 0, AVATAR, AVATAR), picture, source_rect)
        else:
            draw_letter_avatar(painter, speaker, name, AVATAR, self._style.palette)
        painter.end()
        return pixmap
