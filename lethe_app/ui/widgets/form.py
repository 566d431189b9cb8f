"""Form for the fields of any record, in one column or in cards: titles, help texts, notes and error messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.fields import Field, FieldKind, FieldSpec, OptionalChoiceBox, create_field
from lethe_app.ui.widgets.labels import ElidedLabel, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.multi_select import MultiSelect

NARROW_KINDS = frozenset(
    {
        FieldKind.INTEGER,
        FieldKind.FLOAT,
        FieldKind.PERCENT,
        FieldKind.COMBO_BOX,
        FieldKind.OPTIONAL_CHOICE,
        FieldKind.MOMENT,
    }
)
"""Kinds of fields that do not take the whole width."""
MIN_SECTIONS_WIDTH = 180
"""Minimum width of the list of sections in pixels."""
MAX_SHORT_TEXT = 10
"""Maximum length of a text, such as a time of day, whose field does not take the whole width either."""


class FieldRow(QWidget):
    """Row of a form: title and note, help text, field, and the error message below it. A check box carries its title itself."""

    def __init__(self, spec: FieldSpec, field: Field) -> None:
        super().__init__()
        self.field, self._help = field, spec.help
        self.note = ElidedLabel()  # a long note must not widen the form
        self.note.setProperty("small", True)
        self._error_label = create_text_label("", "complaint")
        self._error_label.hide()
        is_narrow = spec.kind in NARROW_KINDS or (spec.kind is FieldKind.TEXT and spec.max_length <= MAX_SHORT_TEXT)
        has_own_title = spec.kind is FieldKind.CHECKBOX
        title = field.widget if has_own_title else build_field_label(spec.title, field.widget)
        self.title_line = build_row(title, 1, self.note, spacing=SPACE_3)
        self.field_line = build_row(spacing=SPACE_2)
        column = build_column(self.title_line, spacing=SPACE_1, parent=self)
        if spec.help:
            column.addWidget(build_small_label(spec.help))
        if not has_own_title:
            self.field_line.addWidget(field.widget, int(not is_narrow))
            self.field_line.addStretch(int(is_narrow))
        column.addLayout(self.field_line)
        column.addWidget(self._error_label)

    def show_error(self, message: str) -> None:
        """Show an error message below the field; an empty text removes it."""
        self._error_label.setText(message)
        self._error_label.setVisible(bool(message))
        # With the help text, or a screen reader would say it only until the first change.
        self.field.widget.setAccessibleDescription(" ".join(filter(None, (message, self._help))))


class Form(QWidget):
    """Widget that shows values and emits the user's changes; it stores and validates nothing."""

    changed = Signal(str, object)
    """Field name and new value; emitted for changes by the user, never by `show_values` or `set_field`."""

    def __init__(self, specs: Sequence[FieldSpec], theme: Theme) -> None:
        """Create the form of these fields; `add_card` adds others in a card below them."""
        super().__init__()
        self._theme = theme
        self._rows: dict[str, FieldRow] = {}
        self.column = build_column(spacing=SPACE_4, parent=self)
        self._add_rows(specs, self.column)

    def add_card(self, title: str, specs: Sequence[FieldSpec], help_text: str = "", *above: QWidget) -> QFrame:
        """Add a card with a title, an explanation, the widgets `above` and the fields, and return it."""
        card, column = create_card(title, help_text)
        for widget in above:
            column.addWidget(widget)
        rows = build_column(spacing=SPACE_4)
        self._add_rows(specs, rows)
        column.addLayout(rows)
        self.column.addWidget(card)
        return card

    def _add_rows(self, specs: Sequence[FieldSpec], column: QVBoxLayout) -> None:
        for spec in specs:
            field = create_field(spec, self._theme, partial(self.changed.emit, spec.name))
            self._rows[spec.name] = FieldRow(spec, field)
            column.addWidget(self._rows[spec.name])

    # Values

    def show_values(self, values: Mapping[str, Any]) -> None:
        """Show the values that have a field, without emitting `changed`."""
        for name in values.keys() & self._rows.keys():
            self.set_field(name, values[name])

    def set_field(self, name: str, value: object) -> None:
        """Show one value without emitting `changed`."""
        self._rows[name].field.put(value)

    def set_choices(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        """Set the choices of check boxes or of an optional choice as pairs of value and label."""
        widget = self.field_widget(name)
        if isinstance(widget, MultiSelect | OptionalChoiceBox):
            widget.set_choices(choices)

    def value_of(self, name: str) -> Any:  # noqa: ANN401 - as the field's kind says
        return self._rows[name].field.get()

    def field_widget(self, name: str) -> QWidget:
        """Return the widget of a field."""
        return self._rows[name].field.widget

    @property
    def field_names(self) -> list[str]:
        return list(self._rows)

    # Notes, errors and buttons

    def show_note(self, name: str, text: str) -> None:
        """Show a short muted text at the right of the title, such as a token count."""
        self._rows[name].note.set_full_text(text)

    def show_error(self, name: str, message: str) -> None:
        """Show an error message below a field; an empty text removes it."""
        self._rows[name].show_error(message)

    def set_row_visible(self, name: str, visible: bool) -> None:
        self._rows[name].setVisible(visible)

    def add_title_widget(self, name: str, widget: QWidget) -> None:
        """Add a small button or label at the right end of the title line."""
        self._rows[name].title_line.addWidget(widget)

    def add_field_button(self, name: str, button: QWidget) -> None:
        """Add a button beside a field, such as one that opens a file dialog."""
        self._rows[name].field_line.insertWidget(1, button, 0, Qt.AlignmentFlag.AlignTop)


class SectionList(QListWidget):
    """List of the sections of a form, which stands beside it; as wide as its longest title."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("sections")
        self.setAccessibleName(self.tr("Sections"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self._fit_width)

    def add_sections(self, titles: list[str]) -> None:
        """Add sections at the end of the list."""
        self.addItems(titles)
        self._fit_width()

    def _fit_width(self) -> None:
        self.setFixedWidth(max(MIN_SECTIONS_WIDTH, self.sizeHintForColumn(0) + 2 * SPACE_4))


def build_field_label(text: str, field: QWidget) -> QLabel:
    """Return the title of a field."""
    label = create_text_label(text, "field")
    label.setWordWrap(False)
    label.setBuddy(field)
    return label
