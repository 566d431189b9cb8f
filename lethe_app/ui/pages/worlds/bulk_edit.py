"""Panel that sets fields of several entries at once, each by its own button."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QSpinBox, QWidget

from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.labels import tr
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.fields import FieldSpec, build_field_spec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_heading, build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row

SHARED_FIELDS = ("position_index", "priority", "trigger_chance", "duration", "cooldown", "scan_depth")
ChangedFields = Callable[[WorldEntry, Any], Mapping[str, object]]
"""Function that returns the changed fields of an entry for a value."""


def _set_value(name: str, _entry: WorldEntry, value: object) -> Mapping[str, object]:
    return {name: value}


def _add_to_group(entry: WorldEntry, name: str) -> Mapping[str, object]:
    group = name.strip()
    return {"groups": [*entry.groups, group] if group and group not in entry.groups else entry.groups}


def _remove_from_group(entry: WorldEntry, name: str) -> Mapping[str, object]:
    return {"groups": [group for group in entry.groups if group != name.strip()]}


class BulkEditPanel(QWidget):
    """Panel shown while several entries are selected."""

    def __init__(self, theme: Theme, book: WorldEditorState) -> None:
        super().__init__()
        self._book = book
        self._entries: Sequence[WorldEntry] = ()
        self.buttons: dict[str, QPushButton] = {}
        self.title_label = build_heading("")
        self.title_label.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_1)
        groups = {"group": (tr("Add to group"), _add_to_group), "out": (tr("Remove from group"), _remove_from_group)}
        specs = [build_field_spec(WorldEntry, name) for name in SHARED_FIELDS]
        specs += [FieldSpec(name, title, placeholder=tr("group name")) for name, (title, _change) in groups.items()]
        self.form = Form(specs, theme)
        for spec in specs:
            self._add_button(spec, groups[spec.name][1] if spec.name in groups else partial(_set_value, spec.name))
        enable, disable = self.tr("Enable"), self.tr("Disable")
        switches = [
            build_button(title, partial(self._set_on_entries, title, partial(_set_value, "enabled"), is_on))
            for title, is_on in ((enable, True), (disable, False))
        ]
        self.delete_button = build_button(slot=lambda: book.delete_entries(self._entries))
        sheet, hint = CardColumn(), self.tr("Changes apply to all selected entries and can be undone in one step.")
        sheet.column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
        buttons = QWidget()
        build_row(*switches, 1, spacing=SPACE_2, parent=buttons)
        for widget in (build_small_label(hint), buttons, self.form):
            sheet.add_widget(widget)
        sheet.column.insertWidget(sheet.column.count() - 1, self.delete_button, 0, Qt.AlignmentFlag.AlignLeft)
        build_column(self.title_label, (sheet, 1), parent=self)

    def _add_button(self, spec: FieldSpec, change: ChangedFields) -> None:
        """Add the button that sets a field on all entries, by `change` of each."""
        field = self.form.field_widget(spec.name)
        if isinstance(field, QSpinBox):
            field.setKeyboardTracking(True)  # the button must find what was typed
        button = build_button(
            self.tr("Set"), lambda: self._set_on_entries(spec.title.lower(), change, self.form.value_of(spec.name))
        )
        button.setAccessibleName(self.tr("Set for all: {field}").format(field=spec.title))
        self.form.add_field_button(spec.name, button)
        self.buttons[spec.name] = button

    def show_entries(self, entries: Sequence[WorldEntry]) -> None:
        """Show the values that all entries share; fields with different values are marked."""
        self._entries = entries
        text = format_count(len(entries), self.tr("{n} entry"), self.tr("{n} entries"))
        self.title_label.setText(text)
        self.delete_button.setText(self.tr("Delete {count}").format(count=text))
        for name in SHARED_FIELDS:
            first, *others = [getattr(entry, name) for entry in self._entries]
            is_mixed = any(other != first for other in others)
            self.form.show_note(name, self.tr("Mixed values.") if is_mixed else "")
            if not is_mixed:
                self.form.set_field(name, first)

    def _set_on_entries(self, title: str, change: ChangedFields, value: object) -> None:
        """Set fields of all entries, in one step of undo."""
        text = self.tr("{field} of {count}").format(field=title, count=self.title_label.text())
        self._book.edit_entries(text, [entry.model_copy(update=dict(change(entry, value))) for entry in self._entries])
