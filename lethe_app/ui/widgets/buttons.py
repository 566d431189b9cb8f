"""Buttons: with a text, chips that stay pressed, menus of filters, and icons that follow the theme."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.formatting import join_with_or
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


Choice = TypeVar("Choice", bound=Hashable)


class FilterMenu(QPushButton, Generic[Choice]):
    """Button with a menu of values that can be checked; its text names the checked ones. `changed` is emitted for each change
    of the user.
    """

    changed = Signal()

    def __init__(self, title: str, values: Iterable[Choice], format_value: Callable[[Choice], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._title = title
        self._format_value: Callable[[Choice], str] = format_value
        self.setProperty("chip", True)
        menu = QMenu(self)
        self.actions_by_value: dict[Choice, QAction] = {value: menu.addAction(format_value(value)) for value in values}
        for action in self.actions_by_value.values():
            action.setCheckable(True)
            action.toggled.connect(self._on_toggled)
        self.setMenu(menu)
        self._update_text()

    @property
    def selected(self) -> frozenset[Choice]:
        return frozenset(value for value, action in self.actions_by_value.items() if action.isChecked())

    def show_counts(self, counts: Mapping[Any, int]) -> None:
        """Offer the values that have entries, with their number; a checked value stays. Hidden if there is only one."""
        offered = [value for value, action in self.actions_by_value.items() if action.isChecked() or counts.get(value)]
        for value, action in self.actions_by_value.items():
            action.setVisible(value in offered)
            action.setText(f"{self._format_value(value)}\t{counts.get(value, 0)}")
        self.setVisible(len(offered) > 1)

    def uncheck_all(self) -> None:
        """Uncheck all values without emitting `changed`."""
        for action in self.actions_by_value.values():
            with QSignalBlocker(action):
                action.setChecked(False)
        self._update_text()

    def _on_toggled(self) -> None:
        self._update_text()
        self.changed.emit()

    def _update_text(self) -> None:
        names = join_with_or([self._format_value(value) for value in self.actions_by_value if value in self.selected])
        text = self.tr("{title}: {values}").format(title=self._title, values=names) if names else self._title
        self.setText(f"{text} ▾")
        self.setAccessibleName(text)


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
