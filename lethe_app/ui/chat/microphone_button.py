"""Button that starts and ends dictation, with the level of the microphone while it is on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton

from lethe_app.ui.core.accessibility import set_button_tooltip
from lethe_app.ui.core.actions import action_tooltip
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import ICON
from lethe_app.ui.core.theme import Theme

METER_HEIGHT = 3
MIN_LEVEL_CHANGE = 0.03
"""Change of the level, from 0 to 1, below which the meter is not painted again."""


class MicrophoneButton(QToolButton):
    """`pressed` and `released` begin and end dictation; what a short press means is decided by their receiver."""

    hovered = Signal()
    """Emitted when the mouse or the focus comes to the button, before its tooltip is shown."""
    hidden = Signal()
    """Emitted when the button is no longer visible, so that no microphone is on unseen."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._is_on = False
        self._level = 0.0
        self.setIconSize(QSize(ICON, ICON))
        # Space and Enter press a button with the focus; holding Space dictates as holding the mouse does.
        self.setAutoRepeat(False)
        self.show_problem("")
        theme.changed.connect(self.apply_theme)
        self.apply_theme()

    @property
    def level(self) -> float:
        """Return the level on display, from 0 to 1."""
        return self._level

    def apply_theme(self) -> None:
        """Apply the icon of the current theme."""
        palette = self._theme.palette
        self.setIcon(load_icon("microphone", palette.surface if self._is_on else palette.muted))

    def show_problem(self, problem: str) -> None:
        """Say in the tooltip why dictation is not possible; empty if it is."""
        set_button_tooltip(self, action_tooltip("dictate"))
        if problem:
            self.setToolTip(f"{action_tooltip('dictate')}\n{problem}")
            self.setAccessibleDescription(problem)

    def set_on(self, *, is_on: bool) -> None:
        """Show whether the microphone is on: in the colour of a recording, not that of the button beside it."""
        self._is_on, self._level = is_on, 0.0
        self.setProperty("recording", is_on)
        self.style().polish(self)
        self.apply_theme()
        if is_on:
            set_button_tooltip(self, self.tr("Stop dictation"))
        else:
            self.show_problem("")

    def set_level(self, level: float) -> None:
        """Show the level of the microphone, from 0 to 1."""
        if self._is_on and abs(level - self._level) >= MIN_LEVEL_CHANGE:
            self._level = level
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._is_on:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        colour = QColor(self._theme.palette.surface)
        full_width = self.width() - 4 * METER_HEIGHT
        top = self.height() - METER_HEIGHT - 2
        for width, opacity in ((full_width, 0.3), (full_width * self._level, 1.0)):
            colour.setAlphaF(opacity)
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(2 * METER_HEIGHT, top, width, METER_HEIGHT), METER_HEIGHT / 2, METER_HEIGHT / 2)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Report the mouse and the focus."""
        if event.type() in {QEvent.Type.Enter, QEvent.Type.FocusIn}:
            self.hovered.emit()
        return super().event(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.hidden.emit()
