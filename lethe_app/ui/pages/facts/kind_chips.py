"""Filter chips of the facts page: the view, and the kinds of facts."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QWidget

from lethe_app.domain.facts import FactKind
from lethe_app.ui.core.labels.facts import format_kind
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.pages.facts.table_model import FactListView, format_view
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.flow_layout import FlowLayout


class ViewChips(QWidget):
    """Chips for the view; exactly one is checked."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        flow = FlowLayout(self, spacing=SPACE_1)
        self.chips: dict[FactListView, QPushButton] = {}
        for view in FactListView:
            chip = self.chips[view] = build_chip(format_view(view))
            self._group.addButton(chip)
            flow.addWidget(chip)
        self.chips[FactListView.KNOWN].setChecked(True)
        self._group.buttonClicked.connect(lambda _button: self.changed.emit())

    @property
    def selected_view(self) -> FactListView:
        return next(view for view, chip in self.chips.items() if chip.isChecked())

    def select_view(self, view: FactListView) -> None:
        self.chips[view].setChecked(True)


class KindChips(QWidget):
    """Chips for the kinds of facts; if none is checked, all kinds are listed. Kinds that no fact has are hidden."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        flow = FlowLayout(self, spacing=SPACE_1)
        self.chips: dict[FactKind, QPushButton] = {}
        for kind in FactKind:
            chip = self.chips[kind] = build_chip(format_kind(kind))
            chip.toggled.connect(lambda _on: self.changed.emit())
            flow.addWidget(chip)
        self.show_kinds(())

    @property
    def selected_kinds(self) -> frozenset[FactKind]:
        return frozenset(kind for kind, chip in self.chips.items() if chip.isChecked())

    def show_kinds(self, kinds: Collection[FactKind]) -> None:
        """Show the chips of these kinds; a single kind is no choice, so the row is hidden then."""
        for kind, chip in self.chips.items():
            chip.setVisible(kind in kinds and len(kinds) > 1)
            if chip.isHidden() and chip.isChecked():
                with QSignalBlocker(chip):
                    chip.setChecked(False)
        self.setVisible(len(kinds) > 1)

    def uncheck_all(self) -> None:
        for chip in self.chips.values():
            chip.setChecked(False)
