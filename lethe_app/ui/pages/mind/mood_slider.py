"""Slider for a mood dimension, drawn as a coloured bar."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider, QStyle, QStyleOptionSlider, QWidget

from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.core.theme import Theme, mix_colours

STEPS = 100
EMIT_DELAY_MS = 400
"""Time in milliseconds after the last movement until `value_chosen` is emitted."""
KNOB_SIZE = SPACE_4


class MoodSlider(QSlider):
    """Slider of a mood dimension; `value_chosen` carries the value from 0 to 1 set by the user and is not emitted by
    `show_value`.
    """

    value_chosen = Signal(float)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._colour = theme.palette.water
        self._is_silent = False
        self.setRange(0, STEPS)
        self.setSingleStep(1)
        self.setPageStep(10)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._emit_timer = QTimer(self, singleShot=True, interval=EMIT_DELAY_MS)
        self._emit_timer.timeout.connect(self._emit_value)
        self.valueChanged.connect(self._on_value_changed)

    @property
    def is_moving(self) -> bool:
        """True while the slider is being moved and until `value_chosen` was emitted."""
        return self._emit_timer.isActive() or self.isSliderDown()

    def emit_pending(self) -> None:
        """Emit `value_chosen` now if a movement waits for it."""
        if self._emit_timer.isActive():
            self._emit_timer.stop()
            self._emit_value()

    def show_value(self, value: float) -> None:
        if not self.is_moving:
            self._is_silent = True
            self.setValue(round(value * STEPS))
            self._is_silent = False

    def set_colour(self, colour: str) -> None:
        """Set the bar's colour, which is the colour of the dimension's line in the chart."""
        self._colour = colour
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, KNOB_SIZE + SPACE_2)

    def minimumSizeHint(self) -> QSize:
        return QSize(96, KNOB_SIZE + SPACE_2)

    def _on_value_changed(self, _value: int) -> None:
        self.update()
        if not self._is_silent:
            self._emit_timer.start()

    def _emit_value(self) -> None:
        self.value_chosen.emit(self.value() / STEPS)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the wheel scrolls the page

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the handle to the pointer; in most styles a QSlider would only move by a page step."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._move_to_pointer(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self._move_to_pointer(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(False)

    def _move_to_pointer(self, event: QMouseEvent) -> None:
        share = (event.position().x() - KNOB_SIZE / 2) / max(1, self.width() - KNOB_SIZE)
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            share = 1 - share
        self.setValue(round(min(max(share, 0.0), 1.0) * STEPS))

    def paintEvent(self, _event: QPaintEvent) -> None:
        palette, middle = self._theme.palette, self.height() / 2
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        share = 1 - self.value() / STEPS if is_mirrored else self.value() / STEPS
        knob = KNOB_SIZE / 2 + share * (self.width() - KNOB_SIZE)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(mix_colours(palette.surface, palette.text, 0.10)))
        track = QRectF(0, middle - SPACE_1, self.width(), SPACE_2)
        painter.drawRoundedRect(track, SPACE_1, SPACE_1)
        colour = QColor(self._colour if self.isEnabled() else mix_colours(palette.surface, palette.muted, 0.5))
        painter.setBrush(colour)
        filled = (
            QRectF(knob, track.top(), self.width() - knob, SPACE_2) if is_mirrored else QRectF(0, track.top(), knob, SPACE_2)
        )
        painter.drawRoundedRect(filled, SPACE_1, SPACE_1)
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        is_highlighted = self.hasFocus() or self.underMouse() or bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setBrush(QColor(palette.surface))
        painter.setPen(QPen(QColor(palette.text) if self.hasFocus() else colour, 2.5))
        radius = KNOB_SIZE / 2 - 1.5 if is_highlighted else KNOB_SIZE / 2 - 3
        painter.drawEllipse(QPointF(knob, middle), radius, radius)
        painter.end()
