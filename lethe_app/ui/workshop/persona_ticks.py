"""Fields of a persona that choose from what there is: several by ticks, one from a list that is found later."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from lethe_app.ui.palette import SPACE_1
from lethe_app.ui.workshop.fields import QuietCombo
from lethe_app.ui.workshop.page import explanation


class Ticks(QWidget):
    """`list[str]` of names, ticked among those that there are. One that is gone stays ticked until the user takes it away."""

    changed = Signal(list)

    def __init__(self, name: str, nothing: str, missing: str, parent: QWidget | None = None) -> None:
        """`nothing` stands there where there is nothing to choose from; `missing` takes {name} for one that is gone."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self._missing = missing
        self._choices: dict[str, str] = {}
        self._chosen: list[str] = []
        self._boxes: dict[str, QCheckBox] = {}
        self._nothing = explanation(nothing)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_1)
        self._column.addWidget(self._nothing)

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        """Value and words of everything there is."""
        self._choices = dict(choices)
        self._show()

    @property
    def chosen(self) -> list[str]:
        return list(self._chosen)

    def put(self, chosen: Sequence[str]) -> None:
        """Tick these, silently."""
        self._chosen = list(chosen)
        self._show()

    def box(self, value: str) -> QCheckBox:
        return self._boxes[value]

    def _show(self) -> None:
        gone = {value: self._missing.format(name=value) for value in self._chosen if value not in self._choices}
        wanted = self._choices | gone
        for value in [value for value in self._boxes if value not in wanted]:
            box = self._boxes.pop(value)
            box.hide()
            box.deleteLater()
        for value, words in wanted.items():
            if value not in self._boxes:
                self._boxes[value] = self._box(value)
            box = self._boxes[value]
            box.setText(words)
            with QSignalBlocker(box):
                box.setChecked(value in self._chosen)
        self._nothing.setVisible(not wanted)

    def _box(self, value: str) -> QCheckBox:
        box = QCheckBox()
        box.toggled.connect(lambda on: self._tick(value, on=on))
        self._column.addWidget(box)
        return box

    def _tick(self, value: str, *, on: bool) -> None:
        others = [other for other in self._chosen if other != value]
        self._chosen = [*others, value] if on else others
        self.changed.emit(list(self._chosen))


class Pick(QuietCombo):
    """One `str` of those there are, or none; a value that was not found keeps its place in the list."""

    chosen = Signal(str)

    def __init__(self, name: str, none: str, missing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QuietCombo.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(420)
        self._none, self._missing = none, missing
        self._choices: list[tuple[str, str]] = []
        self._value = ""
        self.currentIndexChanged.connect(self._choose)
        self._show()

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        self._choices = list(choices)
        self._show()

    def put(self, value: str) -> None:
        """Show this one, silently."""
        self._value = value
        self._show()

    def _show(self) -> None:
        there = [("", self._none), *self._choices]
        if self._value and self._value not in dict(self._choices):
            there.append((self._value, self._missing.format(name=self._value)))
        with QSignalBlocker(self):
            self.clear()
            for value, words in there:
                self.addItem(words, value)
            self.setCurrentIndex([value for value, _words in there].index(self._value))

    def _choose(self, _place: int) -> None:
        value = str(self.currentData() or "")
        if value != self._value:
            self._value = value
            self.chosen.emit(value)
