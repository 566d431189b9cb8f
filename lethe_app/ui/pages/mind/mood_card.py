"""Card of the mood: a sentence, a slider for each mood dimension, and a chart of the past days."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.mood import MoodSample
from lethe_app.services.mood import Side
from lethe_app.ui.core.palette import SPACE_1, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.mind.labels import adjective_in_words, cause_in_words, colours, mood_in_words
from lethe_app.ui.pages.mind.mood_plot import DrawnSide, MoodPlot
from lethe_app.ui.pages.mind.mood_slider import MoodBar
from lethe_app.ui.pages.page import explanation


class SideRow(QWidget):
    """Row of a mood dimension: name, adjective, slider, and the cause of the last change."""

    chosen = Signal(str, float)

    def __init__(self, theme: Theme, side: Side, place: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self.side, self._place = theme, side, place
        self.title = QLabel(side.title)
        self.title.setProperty("field", True)
        self.adjective = QLabel()
        self.why = explanation("")
        self.bar = MoodBar(theme)
        self.bar.setAccessibleName(side.title)
        self.title.setBuddy(self.bar)
        self.bar.chosen.connect(lambda value: self.chosen.emit(self.side.id, value))
        head = QHBoxLayout()
        head.setSpacing(SPACE_3)
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.adjective)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addLayout(head)
        column.addWidget(self.bar)
        column.addWidget(self.why)
        self.show_side(side)

    def show_side(self, side: Side) -> None:
        """Show the current state of the dimension."""
        self.side = side
        words, why = adjective_in_words(side), cause_in_words(side.feeling)
        self.adjective.setText(words)
        self.why.setText(why)
        self.bar.show_value(side.feeling.value)
        self.bar.setAccessibleDescription(f"{words}. {why}")
        if side.words:
            self.bar.setToolTip(self.tr("From {low} to {high}").format(low=side.words[0], high=side.words[-1]))
        self.dress()

    def dress(self) -> None:
        palette = colours(self._theme.palette)
        self.bar.wear(palette[self._place % len(palette)])


class MoodCard(QFrame):
    """Card of the mood. It only emits signals; the page carries them out and sets the state of both switches."""

    chosen = Signal(str, float)
    """Id of a mood dimension, and the value from 0 to 1 set by the user."""
    allowed = Signal(bool)
    """True if the persona is to have moods."""
    steadied = Signal(bool)
    """True if the moods of all personas are to stay fixed."""
    wanted_for_all = Signal()
    """Moods are to be enabled in the settings, where they are turned off."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.rows: dict[str, SideRow] = {}
        self.setProperty("panel", True)
        self.setAccessibleName(self.tr("Mood"))
        self.sentence = QLabel()
        self.sentence.setProperty("hero", True)
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.hint = explanation("")
        self.for_all = QPushButton(self.tr("Enable moods"))
        self.for_all.setProperty("link", True)
        self.for_all.clicked.connect(self.wanted_for_all)
        self.has_moods = QCheckBox(self.tr("Moods"))
        self.has_moods.setToolTip(self.tr("Let your messages and the time you are away change the persona's mood"))
        self.has_moods.clicked.connect(self.allowed)
        self.steady = QCheckBox(self.tr("Fixed mood"))
        self.steady.setToolTip(self.tr("Keep the moods of all personas as they are, unless you change them yourself"))
        self.steady.clicked.connect(self.steadied)
        self.plot = MoodPlot(theme)
        self._build()

    def _build(self) -> None:
        self._all = QWidget()
        self._sides = QVBoxLayout()
        self._sides.setSpacing(SPACE_4)
        felt = QVBoxLayout(self._all)
        felt.setContentsMargins(0, SPACE_3, 0, 0)
        felt.setSpacing(SPACE_4)
        felt.addLayout(self._sides)
        felt.addWidget(self.plot)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_4 + SPACE_3, SPACE_4 + SPACE_1, SPACE_4 + SPACE_3, SPACE_4)
        column.setSpacing(SPACE_3)
        column.addWidget(self.sentence)
        column.addWidget(self.hint)
        column.addWidget(self.for_all, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._all)

    def show_switches(self, name: str, *, has: bool, steady: bool, anybody: bool) -> None:
        """Show the state of the switches; `anybody` is the setting that enables moods for all personas."""
        self.has_moods.setChecked(has)
        self.steady.setChecked(steady)
        self.for_all.setVisible(has and not anybody)
        self.sentence.setVisible(has)
        self._all.setVisible(has)
        words = ""
        if not has:
            words = self.tr(
                "Moods are off for {name}. Turn them on to let your messages and the time you are away affect the mood."
            )
        elif not anybody:
            words = self.tr("Moods are turned off in the settings, so {name} does not show any.")
        elif steady:
            words = self.tr("Fixed mood: only you can change it.")
        self.hint.setText(words.format(name=name))
        self.hint.setVisible(bool(words))

    def show_mood(self, name: str, sides: Sequence[Side], samples: Sequence[MoodSample]) -> None:
        """Show the current mood and its history."""
        if list(self.rows) != [side.id for side in sides]:
            self._make_rows(sides)
        for side in sides:
            self.rows[side.id].show_side(side)
        self.sentence.setText(mood_in_words(name, list(sides)))
        self.plot.show_history([DrawnSide(side.id, side.title) for side in sides], samples)

    def _make_rows(self, sides: Sequence[Side]) -> None:
        for row in self.rows.values():
            row.deleteLater()
        self.rows = {side.id: SideRow(self._theme, side, place) for place, side in enumerate(sides)}
        # Qt's tab order is the order of creation, and these rows are created after the widgets below them.
        before: QWidget = self.for_all
        for row in self.rows.values():
            row.chosen.connect(self.chosen)
            self._sides.addWidget(row)
            QWidget.setTabOrder(before, row.bar)
            before = row.bar

    def dress(self) -> None:
        """Apply the theme's colours."""
        for row in self.rows.values():
            row.dress()
        self.plot.update()
