"""What screen readers hear: announcements, and the names of buttons."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget


def set_button_tooltip(button: QWidget, tooltip: str, name: str = "") -> None:
    """Set a tooltip of the form “title  shortcut”: the title (or `name`) becomes the accessible name, the shortcut the
    description.
    """
    title, _, shortcut = tooltip.partition("  ")
    button.setToolTip(tooltip)
    button.setAccessibleName(name or title)
    button.setAccessibleDescription(shortcut)


def name_field_buttons(field: QLineEdit) -> None:
    """Name the buttons inside a search field: the one that clears it, which must have been enabled first, and its icon."""
    names = (QCoreApplication.translate("SearchField", "Clear"), QCoreApplication.translate("SearchField", "Search"))
    for button, name in zip(field.findChildren(QToolButton), names, strict=False):
        button.setAccessibleName(name)


def is_screen_reader_active() -> bool:
    """Return whether a screen reader, or another assistive technology, is connected."""
    return QAccessible.isActive()


def announce_focused_child(widget: QWidget, index: int) -> None:
    """Report to screen readers that a child of a widget has the focus, such as a row of a list; `index` is its number."""
    if is_screen_reader_active():
        event = QAccessibleEvent(widget, QAccessible.Event.Focus)
        event.setChild(index)
        QAccessible.updateAccessibility(event)


def announce(widget: QWidget, text: str) -> None:
    """Announce `text` for `widget` if a screen reader is running."""
    if is_screen_reader_active():
        # On behalf of the main window: Orca drops an event that follows another of its kind within 100 ms, except from there.
        window = widget.window()
        while (parent := window.parentWidget()) is not None:
            window = parent.window()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(window, text))


def chain_focus(*widgets: QWidget) -> None:
    """Let the Tab key move from each widget to the next."""
    for widget, next_widget in pairwise(widgets):
        QWidget.setTabOrder(widget, next_widget)
