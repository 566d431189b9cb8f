"""Filters of the facts page: chips for the view, and a menu of types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QWidget

from lethe_app.domain.facts import FactKind
from lethe_app.ui.core.labels.facts import format_kind
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.pages.facts.table_model import FactListView, explain_view, format_view
from lethe_app.ui.widgets.buttons import FilterMenu, build_chip
from lethe_app.ui.widgets.flow_layout import FlowLayout


class FactFilters(QWidget):
    """Chips for the view, of which exactly one is checked, and a menu of types, which shows all if none is checked."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        flow = FlowLayout(self, spacing=SPACE_1)
        self.chips: dict[FactListView, QPushButton] = {}
        for view in FactListView:
            chip = self.chips[view] = build_chip(format_view(view), explain_view(view))
            self._group.addButton(chip)
            flow.addWidget(chip)
        self.chips[FactListView.KNOWN].setChecked(True)
        self._group.buttonClicked.connect(lambda _button: self.changed.emit())
        self.kind_menu = FilterMenu[FactKind](self.tr("Type"), FactKind, format_kind, self)
        self.kind_menu.changed.connect(self.changed)
        flow.addWidget(self.kind_menu)
        self.show_kinds(())

    @property
    def selected_view(self) -> FactListView:
        return next(view for view, chip in self.chips.items() if chip.isChecked())

    def select_view(self, view: FactListView) -> None:
        self.chips[view].setChecked(True)

    @property
    def selected_kinds(self) -> frozenset[FactKind]:
        return self.kind_menu.selected

    def show_kinds(self, kinds: Iterable[FactKind]) -> None:
        """Offer the kinds of these facts, with their number; a single kind is no choice, so the menu is hidden then."""
        self.kind_menu.show_counts(Counter(kinds))
