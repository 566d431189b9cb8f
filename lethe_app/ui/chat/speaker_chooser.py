"""Line above the composer that shows which participant of a group answers next, and opens the choice."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from lethe_app.ui.core.actions import action_tooltip
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.transcript.row_layout import COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.buttons import ElidedButton
from lethe_app.ui.widgets.layouts import build_row

ARROW_SIZE = 14
MENU_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down, Qt.Key.Key_Up}
"""Keys that open the menu."""


class SpeakerChooser(QWidget):
    """Line with the choice button; shown in groups only."""

    opened = Signal()
    """Emitted when the user opens the choice."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.button = ChoiceButton()
        self.button.clicked.connect(lambda _checked=False: self.opened.emit())
        frame = QFrame()
        frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        build_row(self.button, 1, margins=(SPACE_2, 0, SPACE_2, 0), parent=frame)
        build_row(frame, margins=(COLUMN_MARGIN, 0, COLUMN_MARGIN, 0), parent=self)
        theme.changed.connect(self.apply_theme)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show the line with this text."""
        self.button.set_full_text(text)
        self.show()

    def apply_theme(self) -> None:
        """Apply the icon of the current theme."""
        self.button.setIcon(load_icon("chevron-down", self._theme.palette.muted, ARROW_SIZE))


class ChoiceButton(ElidedButton):
    """Button with an elided text and an arrow behind it; the whole text is in the tooltip."""

    def __init__(self) -> None:
        super().__init__(padding=2 * SPACE_2 + 2, min_width=96)
        self.setProperty("small", True)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # puts the arrow to the right of the text
        self.setIconSize(QSize(ARROW_SIZE, ARROW_SIZE))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_full_text(self, text: str) -> None:
        """Set the text; it is elided to the current width."""
        super().set_full_text(text)
        self.setAccessibleName(text)
        self.setToolTip(f"{text}\n{action_tooltip('choose_speaker')}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in MENU_KEYS:
            self.click()
        else:
            super().keyPressEvent(event)
