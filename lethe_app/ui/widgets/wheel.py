"""Widgets that ignore the mouse wheel, so that scrolling a page does not change the value below the pointer."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QWidget


class IgnoresWheel:
    """Mixin of a widget that ignores the mouse wheel."""

    def __init__(self, *parent: QWidget | None) -> None:
        super().__init__(*parent)
        cast("QWidget", self).setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # by default the wheel would give it the focus

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
