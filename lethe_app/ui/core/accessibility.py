"""What screen readers hear: announcements, and the names of buttons."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def set_button_tooltip(button: QWidget, tooltip: str, name: str = "") -> None:
    """Set a tooltip of the form “title  shortcut”: the title (or `name`) becomes the accessible name, the shortcut the
    description.
    """
    title, _, shortcut = tooltip.partition("  ")
    button.setToolTip(tooltip)
    button.setAccessibleName(name or title)
    button.setAccessibleDescription(shortcut)


def is_screen_reader_active() -> bool:
    """Return whether a screen reader, or another assistive technology, is connected."""
    return QAccessible.isActive()


def announce(widget: QWidget, text: str) -> None:
    """Announce `text` on behalf of `widget`, if a screen reader is running."""
    if is_screen_reader_active():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
