"""Combo box for a persona's field whose choices are loaded later."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from lethe_app.ui.widgets.fields import NoWheelComboBox


class ComboField(NoWheelComboBox):
    """Combo box for one string value or none. A value that is not among the choices is listed as missing."""

    chosen = Signal(str)

    def __init__(self, name: str, none_label: str, missing_label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(420)
        self._none_label, self._missing_label = none_label, missing_label
        self._choices: list[tuple[str, str]] = []
        self._value = ""
        self.currentIndexChanged.connect(self._on_index_changed)
        self._refresh_items()

    def set_choices(self, choices: Sequence[tuple[str, str]]) -> None:
        self._choices = list(choices)
        self._refresh_items()

    def set_value(self, value: str) -> None:
        """Select a value without emitting `chosen`."""
        self._value = value
        self._refresh_items()

    def _refresh_items(self) -> None:
        items = [("", self._none_label), *self._choices]
        if self._value and self._value not in dict(self._choices):
            items.append((self._value, self._missing_label.format(name=self._value)))
        with QSignalBlocker(self):
            self.clear()
            for value, label in items:
                self.addItem(label, value)
            self.setCurrentIndex([value for value, _label in items].index(self._value))

    def _on_index_changed(self, _index: int) -> None:
        value = str(self.currentData() or "")
        if value != self._value:
            self._value = value
            self.chosen.emit(value)
