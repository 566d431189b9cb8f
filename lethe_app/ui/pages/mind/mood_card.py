"""Card of the mood: a sentence, a slider for each mood dimension, and a chart of the past days."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QLabel, QSlider, QStyle, QWidget

from lethe_app.domain.mood import MoodSample
from lethe_app.services.mood import MoodDimension
from lethe_app.ui.core.accessibility import chain_focus
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme, mix_colours
from lethe_app.ui.pages.mind.labels import describe_mood, format_adjective, format_cause, mood_colours
from lethe_app.ui.pages.mind.mood_plot import MoodPlot
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

STEPS = 100
EMIT_DELAY_MS = 400
"""Time in milliseconds after the last movement until `value_chosen` is emitted."""
KNOB_SIZE = SPACE_4


class MoodSlider(QSlider):
    """Slider of a mood dimension, drawn as a coloured bar; `value_chosen` carries the value from 0 to 1 set by the user and is
    not emitted by `show_value`.
    """

    value_chosen = Signal(float)

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme = theme
        self.setRange(0, STEPS)
        self.setPageStep(10)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._emit_timer = QTimer(self, singleShot=True, interval=EMIT_DELAY_MS)
        self._emit_timer.timeout.connect(self._emit_value)
        self.valueChanged.connect(lambda _value: self._emit_timer.start())

    def emit_pending(self) -> None:
        """Emit `value_chosen` now if a movement waits for it."""
        if self._emit_timer.isActive():
            self._emit_timer.stop()
            self._emit_value()

    def show_value(self, value: float) -> None:
        """Show a value, unless the slider is being moved or its value is about to be emitted."""
        if not self._emit_timer.isActive() and not self.isSliderDown():
            with QSignalBlocker(self):
                self.setValue(round(value * STEPS))

    def set_colour(self, colour: str) -> None:
        """Set the bar's colour, which is the colour of the dimension's line in the chart."""
        palette = self._theme.palette
        track, disabled = (mix_colours(palette.surface, *other) for other in ((palette.text, 0.1), (palette.muted, 0.5)))
        self.setStyleSheet(
            f"QSlider {{ min-height: {KNOB_SIZE + SPACE_2}px; min-width: 96px; }}"
            f"QSlider::groove {{ height: {SPACE_2}px; border-radius: {SPACE_1}px; background: {track}; }}"
            f"QSlider::sub-page {{ border-radius: {SPACE_1}px; background: {colour}; }}"
            f"QSlider::sub-page:disabled {{ background: {disabled}; }}"
            f"QSlider::handle {{ width: {KNOB_SIZE - 6}px; margin: -3px 0; border-radius: {KNOB_SIZE // 2 - 1}px;"
            f" border: 2px solid {colour}; background: {palette.surface}; }}"
            f"QSlider::handle:hover, QSlider::handle:focus {{ width: {KNOB_SIZE - 4}px; margin: -4px 0;"
            f" border-radius: {KNOB_SIZE // 2}px; }}"
            f"QSlider::handle:focus {{ border-color: {palette.text}; }}"
        )

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
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        place, span = round(event.position().x() - KNOB_SIZE / 2), max(1, self.width() - KNOB_SIZE)
        self.setValue(QStyle.sliderValueFromPosition(0, STEPS, place, span, is_mirrored))


class MoodRow(QWidget):
    """Row of a mood dimension: name, adjective, slider, and the cause of the last change."""

    def __init__(self, theme: Theme, dimension: MoodDimension, colour_index: int) -> None:
        super().__init__()
        self._theme, self.dimension, self._colour_index = theme, dimension, colour_index
        self.title_label = QLabel(dimension.title)
        self.title_label.setProperty("field", True)
        self.adjective_label = QLabel()
        self.cause_label = build_small_label("")
        self.slider = MoodSlider(theme)
        self.slider.setAccessibleName(dimension.title)
        self.title_label.setBuddy(self.slider)
        theme.changed.connect(self.apply_theme)
        head = build_row(self.title_label, 1, self.adjective_label, spacing=SPACE_3)
        build_column(head, self.slider, self.cause_label, spacing=SPACE_1, parent=self)
        self.show_dimension(dimension)

    def show_dimension(self, dimension: MoodDimension) -> None:
        """Show the current state of the dimension."""
        self.dimension = dimension
        adjective, cause = format_adjective(dimension), format_cause(dimension.feeling)
        self.adjective_label.setText(adjective)
        self.cause_label.setText(cause)
        self.slider.show_value(dimension.feeling.value)
        self.slider.setAccessibleDescription(f"{adjective}. {cause}")
        if dimension.words:
            self.slider.setToolTip(self.tr("From {low} to {high}").format(low=dimension.words[0], high=dimension.words[-1]))
        self.apply_theme()

    def apply_theme(self) -> None:
        palette = mood_colours(self._theme.palette)
        self.slider.set_colour(palette[self._colour_index % len(palette)])


class MoodCard(QFrame):
    """Card of the mood. The page carries out what its switches and buttons say, and sets their state."""

    mood_chosen = Signal(str, float)
    """Id of a mood dimension, and the value from 0 to 1 set by the user."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rows: dict[str, MoodRow] = {}
        self.setProperty("panel", True)
        self.setAccessibleName(self.tr("Mood"))
        self.sentence_label = create_text_label("", "hero")
        self.hint = build_small_label("")
        self.enable_for_all_button = build_button(self.tr("Turn on for all personas"))
        self.turn_on_button = build_button(self.tr("Turn on moods"))
        self.moods_check = QCheckBox(self.tr("Moods"))
        self.moods_check.setToolTip(self.tr("Let your messages and the time you are away change the persona's mood"))
        self.fixed_check = QCheckBox(self.tr("Fixed mood"))
        self.fixed_check.setToolTip(self.tr("Keep the moods of all personas as they are, unless you change them yourself"))
        self.plot = MoodPlot(theme)
        self._content = QWidget()
        self._rows_column = build_column(spacing=SPACE_4)
        build_column(self._rows_column, self.plot, spacing=SPACE_4, margins=(0, SPACE_3, 0, 0), parent=self._content)
        buttons = [(button, 0, Qt.AlignmentFlag.AlignLeft) for button in (self.enable_for_all_button, self.turn_on_button)]
        margins = (SPACE_4 + SPACE_3, SPACE_4 + SPACE_1, SPACE_4 + SPACE_3, SPACE_4)
        build_column(self.sentence_label, self.hint, *buttons, self._content, spacing=SPACE_3, margins=margins, parent=self)

    def show_switches(self, name: str, *, is_enabled: bool, is_fixed: bool, enabled_for_all: bool) -> None:
        """Show the state of the switches; `enabled_for_all` is the setting that enables moods for all personas."""
        self.moods_check.setChecked(is_enabled)
        self.fixed_check.setChecked(is_fixed)
        self.fixed_check.setVisible(is_enabled and enabled_for_all)  # without a mood there is nothing to keep
        self.enable_for_all_button.setVisible(is_enabled and not enabled_for_all)
        self.turn_on_button.setVisible(not is_enabled)
        self.sentence_label.setVisible(is_enabled)
        self._content.setVisible(is_enabled)
        text = ""
        if not is_enabled:
            text = self.tr(
                "Moods are off for {name}. Turn them on to let your messages and the time you are away affect the mood."
            )
        elif not enabled_for_all:
            text = self.tr("Moods are turned off in the settings, so {name} does not show any.")
        elif is_fixed:
            text = self.tr("Fixed mood: only you can change it.")
        self.hint.setText(text.format(name=name))
        self.hint.setVisible(bool(text))

    def emit_pending(self) -> None:
        """Emit `mood_chosen` now for every slider that was just moved."""
        for row in self.rows.values():
            row.slider.emit_pending()

    def show_mood(self, name: str, dimensions: Sequence[MoodDimension], samples: Sequence[MoodSample]) -> None:
        """Show the current mood and its history."""
        if list(self.rows) != [dimension.id for dimension in dimensions]:
            self._build_rows(dimensions)
        for dimension in dimensions:
            self.rows[dimension.id].show_dimension(dimension)
        self.sentence_label.setText(describe_mood(name, list(dimensions)))
        self.plot.show_history(dimensions, samples)

    def _build_rows(self, dimensions: Sequence[MoodDimension]) -> None:
        self.rows = {dimension.id: MoodRow(self._theme, dimension, index) for index, dimension in enumerate(dimensions)}
        fill_layout(self._rows_column, self.rows.values())
        # Qt's tab order is the order of creation, and these rows are created after the widgets below them.
        chain_focus(self.enable_for_all_button, *(row.slider for row in self.rows.values()))
        for dimension_id, row in self.rows.items():
            row.slider.value_chosen.connect(partial(self.mood_chosen.emit, dimension_id))
