"""Text of a key press that no widget has taken, so that typing is not lost because the focus was elsewhere."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

SHORTCUT_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


def typed_text(event: QKeyEvent) -> str:
    """Return what a key press types; empty for spaces, control characters and shortcuts."""
    text = event.text().strip()
    return text if text.isprintable() and not event.modifiers() & SHORTCUT_MODIFIERS else ""
