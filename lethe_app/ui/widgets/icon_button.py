"""Tool button with an icon that follows the theme."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QToolButton, QWidget

from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import ICON, Palette
from lethe_app.ui.core.theme import Theme


class IconButton(QToolButton):
    """Tool button without a text; `text` is its tooltip and, unless another is given, its accessible name."""

    def __init__(
        self,
        theme: Theme,
        icon_name: str,
        text: str,
        *,
        accessible_name: str = "",
        colour: Callable[[Palette], str] = attrgetter("muted"),
        size: int = ICON,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon_name, self._colour = theme, icon_name, colour
        self.setIconSize(QSize(size, size))
        self.setToolTip(text)
        self.setAccessibleName(accessible_name or text)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setIcon(load_icon(self._icon_name, self._colour(self._theme.palette)))
