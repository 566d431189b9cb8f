"""Field for several of a set of choices, as check boxes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.pages.page import explanation


class Ticks(QWidget):
    """Check boxes for a list[str]. A checked value that is not among the choices stays until the user unchecks it."""

    changed = Signal(list)

    def __init__(self, name: str, nothing: str, missing: str, parent: QWidget | None = None) -> None:
        """Set up the field. `nothing` is shown if there are no choices; `missing` is the label of unknown values, with
        {name}.
        """
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
        """Set the choices as pairs of value and label."""
        self._choices = dict(choices)
        self._show()

    @property
    def chosen(self) -> list[str]:
        return list(self._chosen)

    def set_chosen(self, chosen: Sequence[str]) -> None:
        """Check these values without emitting `changed`."""
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
