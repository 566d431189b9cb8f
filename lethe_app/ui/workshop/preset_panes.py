"""The list of presets, the fields of one and what it does: beside each other, or the last two by turns where it is narrow."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSplitter, QWidget

from lethe_app.ui.workshop.split import side_by_side

WITH_ASIDE = 800  # pixels from which on there is room for more than the list and the fields


class PresetPanes(QWidget):
    """`button` belongs into the page's head: it is seen only where it has something to turn over."""

    def __init__(self, table: QWidget, fields: QWidget, asides: list[QWidget]) -> None:
        super().__init__()
        self._fields, self._asides = fields, asides
        self._aside = asides[0]
        self.button = QPushButton(self.tr("What it does"), self)  # of its own, it would be shown as a window
        self.button.setToolTip(self.tr("Instead of the fields; Esc leads back to them"))
        self.button.setCheckable(True)
        self.button.setProperty("filled", True)
        self.button.toggled.connect(lambda _checked: self._arrange())
        self._split: QSplitter = side_by_side(table, fields, grows=1)
        for aside in asides:
            self._split.addWidget(aside)
        self._split.setSizes([220, 560, *(400 for _aside in asides)])
        self._split.setParent(self)
        self._arrange()

    def show_aside(self, aside: QWidget) -> None:
        """That one tells from now on what a preset does."""
        self._aside = aside
        self._arrange()

    @property
    def is_turned(self) -> bool:
        """Does it stand where the fields were?"""
        return self.width() < WITH_ASIDE and self.button.isChecked()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._split.setGeometry(self.rect())
        self._arrange()

    def _arrange(self) -> None:
        has_room = self.width() >= WITH_ASIDE
        self.button.setVisible(not has_room)
        self._fields.setVisible(has_room or not self.button.isChecked())
        for aside in self._asides:
            aside.setVisible(aside is self._aside and (has_room or self.button.isChecked()))
