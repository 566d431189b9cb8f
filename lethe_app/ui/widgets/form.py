"""Form for the fields of any record: titles, help texts, a note beside a title and an error message below a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.fields import Field, FieldKind, FieldSpec, OptionalChoiceBox, create_field
from lethe_app.ui.widgets.labels import ElidedLabel, build_small_label
from lethe_app.ui.widgets.multi_select import MultiSelect

NARROW_KINDS = frozenset(
    {FieldKind.INTEGER, FieldKind.FLOAT, FieldKind.PERCENT, FieldKind.COMBO_BOX, FieldKind.OPTIONAL_CHOICE}
)
"""Kinds of fields that do not take the whole width."""
MAX_SHORT_TEXT = 10
"""Maximum length of a text, such as a time of day, whose field does not take the whole width either."""


class Form(QWidget):
    """Widget that shows values and emits the user's changes; it stores and validates nothing."""

    changed = Signal(str, object)
    """Field name and new value; emitted for changes by the user, never by `show_values` or `set_field`."""

    def __init__(self, specs: Sequence[FieldSpec], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fields: dict[str, Field] = {}
        self._rows: dict[str, QWidget] = {}
        self._field_lines: dict[str, QHBoxLayout] = {}
        self._titles: dict[str, QLabel] = {}
        self._notes: dict[str, ElidedLabel] = {}
        self._error_labels: dict[str, QLabel] = {}
        self._helps: dict[str, str] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_4)
        for spec in specs:
            self._add_row(spec, theme)

    def _add_row(self, spec: FieldSpec, theme: Theme) -> None:
        name = spec.name
        field = create_field(spec, theme, lambda value: self.changed.emit(name, value))
        self._fields[name] = field
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addLayout(self._build_title_line(spec, field))
        if spec.help:
            column.addWidget(build_small_label(spec.help))
        if spec.kind is not FieldKind.CHECKBOX:
            column.addLayout(self._build_field_line(spec, field))
        error_label = QLabel()
        error_label.setProperty("complaint", True)
        error_label.setWordWrap(True)
        error_label.hide()
        column.addWidget(error_label)
        self._error_labels[name], self._rows[name], self._helps[name] = error_label, row, spec.help
        self._column.addWidget(row)

    def _build_title_line(self, spec: FieldSpec, field: Field) -> QHBoxLayout:
        """Return the line with title and note; a check box carries its title itself."""
        head = QHBoxLayout()
        head.setSpacing(SPACE_3)
        note = ElidedLabel()  # a long note must not widen the form
        note.setProperty("small", True)
        if spec.kind is FieldKind.CHECKBOX:
            head.addWidget(field.widget)
        else:
            title = QLabel(spec.title)
            title.setProperty("field", True)
            title.setBuddy(field.widget)
            self._titles[spec.name] = title
            head.addWidget(title)
        head.addStretch(1)
        head.addWidget(note)
        self._notes[spec.name] = note
        return head

    def _build_field_line(self, spec: FieldSpec, field: Field) -> QHBoxLayout:
        """Return the line with the field, and with the buttons that belong to it."""
        line = QHBoxLayout()
        line.setSpacing(SPACE_2)
        is_narrow = spec.kind in NARROW_KINDS or (spec.kind is FieldKind.TEXT and spec.max_length <= MAX_SHORT_TEXT)
        line.addWidget(field.widget, 0 if is_narrow else 1)
        if is_narrow:
            line.addStretch(1)
        self._field_lines[spec.name] = line
        return line

    # Values

    def show_values(self, values: Mapping[str, Any]) -> None:
        """Show the values that have a field, without emitting `changed`."""
        for name, value in values.items():
            if name in self._fields:
                self._fields[name].put(value)

    def set_field(self, name: str, value: object) -> None:
        """Show one value without emitting `changed`."""
        self._fields[name].put(value)

    def set_choices(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        """Set the choices of check boxes or of an optional choice as pairs of value and label."""
        widget = self._fields[name].widget
        if isinstance(widget, MultiSelect | OptionalChoiceBox):
            widget.set_choices(choices)

    def value_of(self, name: str) -> Any:  # noqa: ANN401 - as the field's kind says
        return self._fields[name].get()

    def field_widget(self, name: str) -> QWidget:
        """Return the widget of a field, for focus and tests."""
        return self._fields[name].widget

    @property
    def field_names(self) -> list[str]:
        return list(self._fields)

    # Notes and errors

    def show_note(self, name: str, text: str) -> None:
        """Show a short muted text at the right of the title, such as a token count."""
        self._notes[name].set_full_text(text)

    def show_error(self, name: str, message: str) -> None:
        """Show an error message below a field; an empty text removes it."""
        label = self._error_labels[name]
        label.setText(message)
        label.setVisible(bool(message))
        # With the help text, or a screen reader would say it only until the first change.
        self._fields[name].widget.setAccessibleDescription(" ".join(filter(None, (message, self._helps[name]))))

    def set_row_visible(self, name: str, visible: bool) -> None:
        self._rows[name].setVisible(visible)

    def add_title_widget(self, name: str, widget: QWidget) -> None:
        """Add a small button or label at the right end of the title line."""
        head = self._rows[name].layout()
        first = head.itemAt(0) if head is not None else None
        line = first.layout() if first is not None else None
        if line is not None:
            line.addWidget(widget)

    def add_field_button(self, name: str, button: QWidget) -> None:
        """Add a button beside a field, such as one that opens a file dialog."""
        self._field_lines[name].insertWidget(1, button, 0, Qt.AlignmentFlag.AlignTop)

    def for_each_field(self, callback: Callable[[str, QWidget], None]) -> None:
        for name, field in self._fields.items():
            callback(name, field.widget)
