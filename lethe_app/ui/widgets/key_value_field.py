"""Field for a dict[str, str]: a table of names and values, to which rows can be added and from which they can be removed."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.layouts import build_column, build_row

MAX_NAME_LENGTH, MAX_VALUE_LENGTH = 80, 1000


class KeyValueField(QWidget):
    """Table of names and values. `changed` is emitted for every change by the user, never by `set_values`; rows without a name
    are ignored, and the last of several rows with the same name counts.
    """

    changed = Signal(dict)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: list[tuple[QLineEdit, QLineEdit]] = []
        self.add_button = QPushButton(self.tr("Add"))
        self.add_button.setProperty("row", True)
        self.add_button.setIconSize(BUTTON_ICON_SIZE)
        self.add_button.clicked.connect(self._add_by_user)
        self._column = build_column(build_row(self.add_button, 1), spacing=SPACE_2, parent=self)
        self.setFocusProxy(self.add_button)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    @property
    def values(self) -> dict[str, str]:
        return {name.text().strip(): value.text().strip() for name, value in self._rows if name.text().strip()}

    @property
    def rows(self) -> list[tuple[QLineEdit, QLineEdit]]:
        """Return the fields of name and value of each row, for tests."""
        return list(self._rows)

    def set_values(self, values: Mapping[str, str]) -> None:
        """Show these names and values without emitting `changed`."""
        if dict(values) == self.values:
            return
        while self._rows:
            self._delete_row(self._rows[-1])
        for name, value in values.items():
            name_field, value_field = self._create_row()
            name_field.setText(name)
            name_field.setCursorPosition(0)
            value_field.setText(value)

    def _add_by_user(self) -> None:
        self._create_row()[0].setFocus()

    def _create_row(self) -> tuple[QLineEdit, QLineEdit]:
        number = len(self._rows) + 1
        row, name_field, value_field = QWidget(), QLineEdit(), QLineEdit()
        name_field.setMaxLength(MAX_NAME_LENGTH)
        value_field.setMaxLength(MAX_VALUE_LENGTH)
        name_field.setPlaceholderText(self.tr("name"))
        value_field.setPlaceholderText(self.tr("value"))
        name_field.setAccessibleName(self.tr("Name {number}").format(number=number))
        value_field.setAccessibleName(self.tr("Value {number}").format(number=number))
        fields = (name_field, value_field)
        remove_button = IconButton(self._theme, "close", self.tr("Remove"), size=ICON - SPACE_1)
        remove_button.clicked.connect(lambda: self._remove_by_user(fields))
        build_row((name_field, 1), (value_field, 1), remove_button, spacing=SPACE_1, parent=row)
        for field in fields:
            field.textEdited.connect(lambda _text: self.changed.emit(self.values))
        self._rows.append(fields)
        self._column.insertWidget(self._column.count() - 1, row)
        return fields

    def _remove_by_user(self, fields: tuple[QLineEdit, QLineEdit]) -> None:
        self._delete_row(fields)
        self.add_button.setFocus()
        self.changed.emit(self.values)

    def _delete_row(self, fields: tuple[QLineEdit, QLineEdit]) -> None:
        self._rows.remove(fields)
        row = fields[0].parentWidget()
        if row is not None:
            row.hide()
            row.deleteLater()

    def _apply_theme(self) -> None:
        self.add_button.setIcon(load_button_icon("plus", self._theme.palette.muted))
