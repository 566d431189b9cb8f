"""Line above the composer that shows which participant of a group answers next, and opens the choice."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.shell.actions import hint
from lethe_app.ui.transcript.row_layout import AROUND, WIDEST

ARROW = 14
AROUND_WORDS = 2 * SPACE_2 + ARROW + SPACE_2
"""Pixels that the button takes besides its text."""
OPENING = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down, Qt.Key.Key_Up}
"""Keys that open the menu."""


class Chooser(QWidget):
    """Line with the choice button; shown in groups only."""

    opened = Signal()
    """Emitted when the user opens the choice."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.button = ChoiceButton()
        self.button.clicked.connect(lambda _checked=False: self.opened.emit())
        frame = QFrame()
        frame.setMaximumWidth(WIDEST)
        line = QHBoxLayout(frame)
        line.setContentsMargins(SPACE_2, 0, SPACE_2, 0)
        line.addWidget(self.button)
        line.addStretch(1)
        around = QHBoxLayout(self)
        around.setContentsMargins(AROUND, 0, AROUND, 0)
        around.addWidget(frame)
        theme.changed.connect(self.dress)
        self.hide()

    def say(self, words: str) -> None:
        """Show the line with this text."""
        self.button.set_full(words)
        self.show()

    def dress(self) -> None:
        """Apply the icon of the current theme."""
        self.button.setIcon(icon("chevron-down", self._theme.palette.muted, ARROW))


class ChoiceButton(QPushButton):
    """Button with an elided text and an arrow behind it; the whole text is in the tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full = ""
        self.setProperty("small", True)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow stands behind the words
        self.setIconSize(QSize(ARROW, ARROW))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_full(self, words: str) -> None:
        """Set the text; it is elided to the current width."""
        self._full = words
        self.setAccessibleName(words)
        self.setToolTip(f"{words}\n{hint('who_answers')}")
        self.updateGeometry()
        self._elide()

    def _elide(self) -> None:
        room = max(40, self.width() - AROUND_WORDS)
        shown = self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, room)
        # A single & would mark a mnemonic.
        self.setText(shown.replace("&", "&&"))

    def sizeHint(self) -> QSize:
        """Return the width of the whole text, because the text that is set may be elided already."""
        return QSize(self.fontMetrics().horizontalAdvance(self._full) + AROUND_WORDS + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(96, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in OPENING:
            self.click()
        else:
            super().keyPressEvent(event)
