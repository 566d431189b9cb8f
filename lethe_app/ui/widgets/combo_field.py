"""Combo box for a persona's field whose choices are loaded later."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from lethe_app.ui.widgets.fields import NoWheelComboBox


class Pick(NoWheelComboBox):
    """Combo box for one string value or none. A value that is not among the choices is listed as missing."""

    chosen = Signal(str)

    def __init__(self, name: str, none: str, missing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(420)
        self._none, self._missing = none, missing
        self._choices: list[tuple[str, str]] = []
        self._value = ""
        self.currentIndexChanged.connect(self._choose)
        self._show()

    def offer(self, choices: Sequence[tuple[str, str]]) -> None:
        self._choices = list(choices)
        self._show()

    def set_value(self, value: str) -> None:
        """Select a value without emitting `chosen`."""
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
