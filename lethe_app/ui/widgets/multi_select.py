"""Field for several of a set of choices, as check boxes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column


class MultiSelect(QWidget):
    """Check boxes for a list[str]. A checked value that is not among the choices stays until the user unchecks it."""

    changed = Signal(list)

    def __init__(self, name: str, empty_text: str, missing_label: str) -> None:
        """Set up the field. `empty_text` is shown if there are no choices; `missing_label` is the label of unknown values, with
        {name}.
        """
        super().__init__()
        self.setAccessibleName(name)
        self._missing_label = missing_label
        self._choices: dict[str, str] = {}
        self._checked_values: list[str] = []
        self._boxes: dict[str, QCheckBox] = {}
        self._empty_text, self._empty_label = empty_text, build_small_label(self.tr("Loading…"))
        self._column = build_column(self._empty_label, spacing=SPACE_1, parent=self)

    def set_choices(self, choices: Sequence[tuple[str, str]]) -> None:
        """Set the choices as pairs of value and label."""
        self._choices = dict(choices)
        self._empty_label.setText(self._empty_text)
        self._refresh_boxes()

    @property
    def checked_values(self) -> list[str]:
        return list(self._checked_values)

    def set_checked_values(self, values: Sequence[str]) -> None:
        """Check these values without emitting `changed`."""
        self._checked_values = list(values)
        self._refresh_boxes()

    def box_for(self, value: str) -> QCheckBox:
        return self._boxes[value]

    def _refresh_boxes(self) -> None:
        missing_labels = {
            value: self._missing_label.format(name=value) for value in self._checked_values if value not in self._choices
        }
        labels = self._choices | missing_labels
        for value in [value for value in self._boxes if value not in labels]:
            box = self._boxes.pop(value)
            box.hide()
            box.deleteLater()
        for value, label in labels.items():
            if value not in self._boxes:
                self._boxes[value] = self._create_box(value)
            box = self._boxes[value]
            box.setText(label)
            with QSignalBlocker(box):
                box.setChecked(value in self._checked_values)
        self._empty_label.setVisible(not labels)

    def _create_box(self, value: str) -> QCheckBox:
        box = QCheckBox()
        box.toggled.connect(lambda on: self._on_toggled(value, is_checked=on))
        self._column.addWidget(box)
        return box

    def _on_toggled(self, value: str, *, is_checked: bool) -> None:
        others = [other for other in self._checked_values if other != value]
        self._checked_values = [*others, value] if is_checked else others
        self.changed.emit(list(self._checked_values))
