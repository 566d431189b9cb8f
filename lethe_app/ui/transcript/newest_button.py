"""Button at the lower edge of the transcript that leads to the newest message."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.ui.core.palette import SPACE_1, SPACE_3, SPACE_4
from lethe_app.ui.transcript.painting.style import MessageStyle


class NewestButton(QPushButton):
    """Button that is shown while new text is out of view. Its parent is the viewport."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self.setText(self.tr("↓ new"))
        self.setObjectName("newestButton")
        self.setAccessibleName(self.tr("Go to the newest message"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    def apply_style(self, style: MessageStyle) -> None:
        """Apply palette and fonts of `style`."""
        palette = style.palette
        self.setFont(style.small_font)
        self.setStyleSheet(
            f"#newestButton {{ background: {palette.raised}; color: {palette.water}; border: 1px solid {palette.border};"
            f" border-radius: 14px; padding: 0 {SPACE_4}px; min-height: 26px; max-height: 26px; }}"
            f"#newestButton:hover {{ border-color: {palette.water}; }}"
        )

    def place(self, obstacle: QWidget) -> None:
        """Move the button to the middle of the lower edge, or above `obstacle` if that is visible and in the way."""
        self.adjustSize()
        self.move((self._viewport.width() - self.width()) // 2, self._viewport.height() - self.height() - SPACE_3)
        if obstacle.isVisible() and obstacle.geometry().intersects(self.geometry()):
            self.move(self.x(), obstacle.y() - self.height() - SPACE_1)
        self.raise_()
