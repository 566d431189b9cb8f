"""A veil over the chat while a drawer or a panel lies over it; a click on it takes that away."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QWidget


class Scrim(QFrame):
    """Lets nothing through."""

    pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("scrim")

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        self.pressed.emit()
