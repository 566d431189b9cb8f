"""The card of the mood: how she feels in a sentence, a bar for each side of it, and a drawing of the days."""

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
    """Name and adjective, the bar, and why it moved last."""

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
        """As it is now."""
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
    """Tells what the user wants; shows what it is given. Where its two switches stand is for the page to say."""

    chosen = Signal(str, float)
    """A side, and the value the user has given it."""
    allowed = Signal(bool)
    """Has she moods?"""
    steadied = Signal(bool)
    """Is nothing to change any mood?"""
    wanted_for_all = Signal()
    """Moods are switched off for everybody, and the user wants them back."""

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
        self.for_all = QPushButton(self.tr("Switch moods on for everybody"))
        self.for_all.setProperty("link", True)
        self.for_all.clicked.connect(self.wanted_for_all)
        self.has_moods = QCheckBox(self.tr("Has moods"))
        self.has_moods.setToolTip(self.tr("What you say and how long you are away changes how they feel, and they may show it"))
        self.has_moods.clicked.connect(self.allowed)
        self.steady = QCheckBox(self.tr("Steady"))
        self.steady.setToolTip(self.tr("Nothing but your own hand changes any mood, of anybody"))
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
        """`anybody` is the switch of the settings."""
        self.has_moods.setChecked(has)
        self.steady.setChecked(steady)
        self.for_all.setVisible(has and not anybody)
        self.sentence.setVisible(has)
        self._all.setVisible(has)
        words = ""
        if not has:
            words = self.tr("{name} is the same every day. With moods, what you say and how long you are away leaves a trace.")
        elif not anybody:
            words = self.tr("Moods are switched off in the settings, so {name} does not show any.")
        elif steady:
            words = self.tr("Steady: nothing but your own hand changes it.")
        self.hint.setText(words.format(name=name))
        self.hint.setVisible(bool(words))

    def show_mood(self, name: str, sides: Sequence[Side], samples: Sequence[MoodSample]) -> None:
        """How she feels now, and how it went."""
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
        before: QWidget = self.for_all
        for row in self.rows.values():
            row.chosen.connect(self.chosen)
            self._sides.addWidget(row)
            QWidget.setTabOrder(before, row.bar)
            before = row.bar

    def dress(self) -> None:
        """In the colours of the theme."""
        for row in self.rows.values():
            row.dress()
        self.plot.update()
