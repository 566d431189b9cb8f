"""The chips above the list of conversations: what all that are listed have in common."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.ui.palette import SPACE_1
from lethe_app.ui.workshop.flow import Flow
from lethe_app.ui.workshop.session_rows import Mark, mark_in_words


class MarkChips(QWidget):
    """None pressed is no condition."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        flow = Flow(self, spacing=SPACE_1)
        self.chips: dict[Mark, QPushButton] = {}
        for mark in Mark:
            chip = self.chips[mark] = QPushButton(mark_in_words(mark))
            chip.setProperty("chip", True)
            chip.setCheckable(True)
            chip.toggled.connect(lambda _on: self.changed.emit())
            flow.addWidget(chip)

    @property
    def marks(self) -> set[Mark]:
        return {mark for mark, chip in self.chips.items() if chip.isChecked()}

    def turn_off(self) -> None:
        for chip in self.chips.values():
            chip.setChecked(False)
