"""Panel that sets fields of several entries at once, each by its own button."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSpinBox, QVBoxLayout, QWidget

from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.labels import tr
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.fields import Field, FieldSpec, build_field_spec, create_field
from lethe_app.ui.widgets.labels import build_heading, build_small_label

SHARED_FIELDS = ("position_index", "priority", "trigger_chance", "duration", "cooldown", "scan_depth")
ChangedFields = Callable[[WorldEntry, Any], Mapping[str, object]]
"""Function that returns the changed fields of an entry for a value."""


def bulk_fields() -> list[tuple[FieldSpec, ChangedFields]]:
    """Return the form fields that apply to several entries, with the change each makes to an entry."""
    return [
        *((build_field_spec(WorldEntry, name), partial(_set_value, name)) for name in SHARED_FIELDS),
        (FieldSpec("group", tr("Add to group"), placeholder=tr("group name")), _add_to_group),
        (FieldSpec("out", tr("Remove from group"), placeholder=tr("group name")), _remove_from_group),
    ]


def _set_value(name: str, _entry: WorldEntry, value: object) -> Mapping[str, object]:
    return {name: value}


def _add_to_group(entry: WorldEntry, name: str) -> Mapping[str, object]:
    group = name.strip()
    return {"groups": [*entry.groups, group] if group and group not in entry.groups else entry.groups}


def _remove_from_group(entry: WorldEntry, name: str) -> Mapping[str, object]:
    return {"groups": [group for group in entry.groups if group != name.strip()]}


class BulkEditPanel(QWidget):
    """Panel shown while several entries are selected."""

    delete_requested = Signal()

    def __init__(self, theme: Theme, book: WorldEditorState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._book = theme, book
        self._entries: Sequence[WorldEntry] = ()
        self._fields: dict[str, tuple[Field, FieldSpec, ChangedFields]] = {}
        self._mixed_labels: dict[str, QLabel] = {}
        self.buttons: dict[str, QPushButton] = {}
        self.title_label = build_heading("")
        self.sheet = CardColumn()
        self.sheet.column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
        self.sheet.add_widget(
            build_small_label(self.tr("Changes apply to all selected entries and can be undone in one step."))
        )
        self.sheet.add_widget(self._build_switches())
        self.sheet.add_widget(self._build_fields())
        self.delete_button = build_button()
        self.delete_button.clicked.connect(self.delete_requested)
        self.sheet.column.insertWidget(self.sheet.column.count() - 1, self.delete_button, 0, Qt.AlignmentFlag.AlignLeft)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.title_label.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_1)
        column.addWidget(self.title_label)
        column.addWidget(self.sheet, 1)

    def _build_switches(self) -> QWidget:
        part = QWidget()
        row = QHBoxLayout(part)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_2)
        for title, on in ((self.tr("Enable"), True), (self.tr("Disable"), False)):
            button = build_button(title)
            button.clicked.connect(
                lambda _checked=False, title=title, on=on: self._set_on_entries(title, lambda _one: {"enabled": on})
            )
            row.addWidget(button)
        row.addStretch(1)
        return part

    def _build_fields(self) -> QWidget:
        part = QWidget()
        grid = QGridLayout(part)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE_2)
        grid.setVerticalSpacing(SPACE_2)
        for row, (spec, fields) in enumerate(bulk_fields()):
            title = QLabel(spec.title)
            title.setWordWrap(True)
            mixed_label = build_small_label(self.tr("Mixed values."))
            mixed_label.hide()
            title_column = QVBoxLayout()
            title_column.setSpacing(0)
            title_column.addWidget(title)
            title_column.addWidget(mixed_label)
            self._mixed_labels[spec.name] = mixed_label
            field = create_field(spec, self._theme, lambda _value: None)
            button = build_button(self.tr("Set"))
            button.setAccessibleName(self.tr("Set for all: {field}").format(field=spec.title))
            button.clicked.connect(lambda _checked=False, name=spec.name: self.set_field(name))
            if isinstance(field.widget, QSpinBox):
                field.widget.setKeyboardTracking(True)  # the button must find what was typed
            grid.addLayout(title_column, row, 0)
            grid.addWidget(field.widget, row, 1)
            grid.addWidget(button, row, 2)
            self._fields[spec.name] = (field, spec, fields)
            self.buttons[spec.name] = button
        grid.setColumnStretch(0, 1)
        return part

    def show_entries(self, entries: Sequence[WorldEntry]) -> None:
        """Show the values that all entries share; fields with different values are marked."""
        self._entries = entries
        text = format_count(len(entries), self.tr("{n} entry"), self.tr("{n} entries"))
        self.title_label.setText(text)
        self.delete_button.setText(self.tr("Delete {count}").format(count=text))
        self._show_shared_values()

    def _show_shared_values(self) -> None:
        for name in SHARED_FIELDS:
            first, *others = [getattr(entry, name) for entry in self._entries]
            is_mixed = any(other != first for other in others)
            self._mixed_labels[name].setVisible(is_mixed)
            if not is_mixed:
                self._fields[name][0].put(first)

    def field(self, name: str) -> QWidget:
        return self._fields[name][0].widget

    def set_field(self, name: str) -> None:
        """Set a field of all entries to the value entered. Can be undone in one step."""
        field, spec, fields = self._fields[name]
        value = field.get()
        self._set_on_entries(spec.title.lower(), lambda entry: fields(entry, value))

    def _set_on_entries(self, title: str, fields: Callable[[WorldEntry], Mapping[str, object]]) -> None:
        text = self.tr("{field} of {count}").format(field=title, count=self.title_label.text())
        self._book.edit_entries(text, [entry.model_copy(update=dict(fields(entry))) for entry in self._entries])
