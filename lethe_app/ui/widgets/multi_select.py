"""A field that chooses several of what there is, by ticks."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.pages.page import explanation


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

    def set_chosen(self, chosen: Sequence[str]) -> None:
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
