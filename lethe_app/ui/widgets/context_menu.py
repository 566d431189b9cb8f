"""Context menus of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget


class MenuEntry(NamedTuple):
    """Entry of a context menu."""

    title: str
    """Title; after a tab character, the key that does the same in the list."""
    run: Callable[[], object]
    is_enabled: bool = True


def popup_menu(parent: QWidget, position: QPoint, entries: Iterable[MenuEntry]) -> None:
    """Show a menu at a position in global coordinates."""
    menu = QMenu(parent)
    # Otherwise it would exist as long as its parent.
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for entry in entries:
        menu.addAction(entry.title, entry.run).setEnabled(entry.is_enabled)
    menu.popup(position)
