"""Fields of several rows that can be added and removed: names with values, and longer texts such as greetings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.layouts import Item, build_column, build_row
from lethe_app.ui.widgets.text_area import TextAreaField

MAX_NAME_LENGTH, MAX_VALUE_LENGTH = 80, 1000


class RowsField(QWidget):
    """Rows, and below them the buttons that add one."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._button_row = build_row(1, spacing=SPACE_2)
        self._column = build_column(self._button_row, spacing=SPACE_2, parent=self)
        theme.changed.connect(self._apply_theme)

    def _add_button(self, label: str, slot: Callable[[], object]) -> QPushButton:
        button = QPushButton(label, self)
        button.setProperty("row", True)
        button.setIconSize(BUTTON_ICON_SIZE)
        button.clicked.connect(lambda _checked=False: slot())
        self._button_row.insertWidget(self._button_row.count() - 1, button)
        self._apply_theme()
        return button

    def _add_row(self, *items: Item) -> None:
        row = QWidget()
        build_row(*items, spacing=SPACE_1, parent=row)
        self._column.insertWidget(self._column.count() - 1, row)

    def _delete_row(self, field: QWidget) -> None:
        """Delete the row of a field."""
        row = field.parentWidget()
        assert row is not None
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _create_tool_button(self, icon_name: str, tooltip: str, slot: Callable[[], object]) -> IconButton:
        button = IconButton(self._theme, icon_name, tooltip, size=ICON - SPACE_1)
        button.clicked.connect(lambda _checked=False: slot())
        return button

    def _apply_theme(self) -> None:
        for button in self.findChildren(QPushButton, options=Qt.FindChildOption.FindDirectChildrenOnly):
            button.setIcon(load_button_icon("plus", self._theme.palette.muted))


class KeyValueField(RowsField):
    """Table of names and values, for a dict[str, str]. `changed` is emitted for every change by the user, never by
    `set_values`; rows without a name are ignored, and the last of several rows with the same name counts.
    """

    changed = Signal(dict)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.rows: list[tuple[QLineEdit, QLineEdit]] = []
        """Fields of name and value of each row."""
        self.add_button = self._add_button(self.tr("Add"), self._add_by_user)
        self.setFocusProxy(self.add_button)

    @property
    def values(self) -> dict[str, str]:
        return {name.text().strip(): value.text().strip() for name, value in self.rows if name.text().strip()}

    def set_values(self, values: Mapping[str, str]) -> None:
        """Show these names and values without emitting `changed`."""
        if dict(values) == self.values:
            return
        while self.rows:
            self._delete_row(self.rows.pop()[0])
        for name, value in values.items():
            name_field, value_field = self._create_row()
            name_field.setText(name)
            name_field.setCursorPosition(0)
            value_field.setText(value)

    def _add_by_user(self) -> None:
        self._create_row()[0].setFocus()

    def _create_row(self) -> tuple[QLineEdit, QLineEdit]:
        number = len(self.rows) + 1
        fields = (
            self._create_line(self.tr("name"), self.tr("Name {number}").format(number=number), MAX_NAME_LENGTH),
            self._create_line(self.tr("value"), self.tr("Value {number}").format(number=number), MAX_VALUE_LENGTH),
        )
        remove_button = self._create_tool_button("close", self.tr("Remove"), lambda: self._remove_by_user(fields))
        self.rows.append(fields)
        self._add_row((fields[0], 1), (fields[1], 1), remove_button)
        return fields

    def _create_line(self, placeholder: str, name: str, max_length: int) -> QLineEdit:
        line = QLineEdit(placeholderText=placeholder, maxLength=max_length)
        line.setAccessibleName(name)
        line.textEdited.connect(lambda _text: self.changed.emit(self.values))
        return line

    def _remove_by_user(self, fields: tuple[QLineEdit, QLineEdit]) -> None:
        self.rows.remove(fields)
        self._delete_row(fields[0])
        self.setFocus()
        self.changed.emit(self.values)


class TextListField(RowsField):
    """List of text areas. `changed` is emitted for every change by the user, never by `set_texts`."""

    changed = Signal(list)

    def __init__(self, theme: Theme, name: str, add_label: str, min_lines: int = 2) -> None:
        """Set up the field. `name` is the name of one text (“Greeting”), `add_label` the label of the button that adds one."""
        super().__init__(theme)
        self._name, self._min_lines = name, min_lines
        self._fields: list[TextAreaField] = []
        self.add_template(add_label, "")

    @property
    def texts(self) -> list[str]:
        return [field.text for field in self._fields]

    def set_texts(self, texts: Sequence[str]) -> None:
        """Show these texts without emitting `changed`."""
        if list(texts) == self.texts:
            return
        while len(self._fields) > len(texts):
            self._delete_row(self._fields.pop())
        while len(self._fields) < len(texts):
            self._create_field()
        for field, text in zip(self._fields, texts, strict=True):
            field.set_text(text)

    def add_template(self, label: str, text: str) -> None:
        """Add a button that adds a text which begins with `text`; the cursor is put at the end of its first line."""
        self._add_button(label, lambda: self._append_field(text))

    def _append_field(self, text: str) -> None:
        field = self._create_field()
        field.set_text(text)
        field.setFocus()
        cursor = field.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Start)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        field.setTextCursor(cursor)
        self.changed.emit(self.texts)

    def _create_field(self) -> TextAreaField:
        name = self.tr("{name} {number}").format(name=self._name, number=len(self._fields) + 1)
        field, top = TextAreaField(name, self._min_lines, 10), Qt.AlignmentFlag.AlignTop
        field.edited.connect(lambda _text: self.changed.emit(self.texts))
        up_button = self._create_tool_button("chevron-up", self.tr("Move up"), lambda: self._move_up(field))
        remove_button = self._create_tool_button("close", self.tr("Remove"), lambda: self._remove_by_user(field))
        self._fields.append(field)
        self._add_row((field, 1), (up_button, 0, top), (remove_button, 0, top))
        return field

    def _move_up(self, field: TextAreaField) -> None:
        if position := self._fields.index(field):
            texts = self.texts
            texts[position - 1], texts[position] = texts[position], texts[position - 1]
            self.set_texts(texts)
            self._fields[position - 1].setFocus()
            self.changed.emit(self.texts)

    def _remove_by_user(self, field: TextAreaField) -> None:
        self._fields.remove(field)
        self._delete_row(field)
        self.changed.emit(self.texts)
