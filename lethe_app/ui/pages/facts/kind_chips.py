"""The chips above the list of facts: which of them are listed, and of which kinds."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QWidget

from lethe_app.domain.facts import FactKind
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.pages.facts.labels import kind_in_words
from lethe_app.ui.pages.facts.table_model import FactListView, view_in_words
from lethe_app.ui.widgets.flow_layout import Flow


class ViewChips(QWidget):
    """One view is chosen at any time."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        flow = Flow(self, spacing=SPACE_1)
        self.chips: dict[FactListView, QPushButton] = {}
        for view in FactListView:
            chip = self.chips[view] = made_chip(view_in_words(view))
            self._group.addButton(chip)
            flow.addWidget(chip)
        self.chips[FactListView.KNOWN].setChecked(True)
        self._group.buttonClicked.connect(lambda _button: self.changed.emit())

    @property
    def view(self) -> FactListView:
        return next(view for view, chip in self.chips.items() if chip.isChecked())

    def choose(self, view: FactListView) -> None:
        self.chips[view].setChecked(True)


class KindChips(QWidget):
    """Each kind can be on or off; none on is no condition. Kinds that no fact has are not offered."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        flow = Flow(self, spacing=SPACE_1)
        self.chips: dict[FactKind, QPushButton] = {}
        for kind in FactKind:
            chip = self.chips[kind] = made_chip(kind_in_words(kind))
            chip.toggled.connect(lambda _on: self.changed.emit())
            flow.addWidget(chip)
        self.offer(())

    @property
    def kinds(self) -> frozenset[FactKind]:
        return frozenset(kind for kind, chip in self.chips.items() if chip.isChecked())

    def offer(self, kinds: Collection[FactKind]) -> None:
        """Show these kinds, and none where there is but one to choose."""
        for kind, chip in self.chips.items():
            chip.setVisible(kind in kinds and len(kinds) > 1)
            if chip.isHidden() and chip.isChecked():
                with QSignalBlocker(chip):
                    chip.setChecked(False)
        self.setVisible(len(kinds) > 1)

    def turn_off(self) -> None:
        for chip in self.chips.values():
            chip.setChecked(False)


def made_chip(words: str) -> QPushButton:
    """A button that stays pressed."""
    chip = QPushButton(words)
    chip.setProperty("chip", True)
    chip.setCheckable(True)
    return chip
