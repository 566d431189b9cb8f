"""Buttons: with a text, chips that stay pressed, menus of filters, and icons that follow the theme."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import ICON, Palette
from lethe_app.ui.core.theme import Theme


def build_button(
    text: str = "", slot: Callable[[], object] | None = None, *, tooltip: str = "", primary: bool = False
) -> QPushButton:
    """Create a filled button, in the accent colour if it is `primary`, which calls `slot` without arguments."""
    button = QPushButton(text)
    button.setProperty("primary" if primary else "filled", True)
    button.setToolTip(tooltip)
    if slot is not None:
        button.clicked.connect(lambda _checked=False: slot())
    return button


def build_chip(text: str, tooltip: str = "") -> QPushButton:
    """Create a checkable chip, for filters above a list."""
    chip = QPushButton(text)
    chip.setProperty("chip", True)
    chip.setCheckable(True)
    chip.setToolTip(tooltip)
    return chip


class IconButton(QToolButton):
    """Tool button without a text; `text` is its tooltip, “title  shortcut”, and its accessible name unless another is given."""

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
        set_button_tooltip(self, text, accessible_name)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setIcon(load_icon(self._icon_name, self._colour(self._theme.palette)))
