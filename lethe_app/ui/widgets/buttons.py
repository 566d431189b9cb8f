"""Buttons: with a text, chips that stay pressed, menus of filters, and icons that follow the theme."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QToolButton

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


MIN_TEXT_WIDTH = 40
"""Pixels of the text of an `ElidedButton` that are always shown."""


class ElidedButton(QPushButton):
    """Button whose text is elided to its width; `padding` and `min_width` are the pixels around the text, and of the button."""

    def __init__(
        self,
        *,
        padding: int,
        min_width: int,
        elide_mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__()
        self.full_text = ""
        """The whole text, even if it is elided on display."""
        self._padding, self._min_width, self._elide_mode = padding, min_width, elide_mode

    def set_full_text(self, text: str) -> None:
        """Set the text; it is elided to the current width."""
        self.full_text = text
        self.updateGeometry()
        self._elide_text()

    def _width_around_text(self) -> int:
        return self._padding if self.icon().isNull() else self._padding + self.iconSize().width() + 6

    def _elide_text(self) -> None:
        width = max(MIN_TEXT_WIDTH, self.width() - self._width_around_text())
        shown = self.fontMetrics().elidedText(self.full_text, self._elide_mode, width)
        self.setText(shown.replace("&", "&&"))  # a single & would mark a mnemonic

    def sizeHint(self) -> QSize:
        """Return the width of the whole text, because the text that is set may be elided already."""
        width = self.fontMetrics().horizontalAdvance(self.full_text) + self._width_around_text()
        return QSize(width + 4, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self._min_width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide_text()


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
    ) -> None:
        super().__init__()
        self._theme, self._icon_name, self._colour = theme, icon_name, colour
        self.setIconSize(QSize(size, size))
        set_button_tooltip(self, text, accessible_name)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setIcon(load_icon(self._icon_name, self._colour(self._theme.palette)))
