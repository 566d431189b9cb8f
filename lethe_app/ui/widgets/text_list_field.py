"""Field for several longer texts such as greetings, which can be edited, moved, removed and added."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.text_area import TextAreaField


class TextListField(QWidget):
    """List of text areas. `changed` is emitted for every change by the user, never by `set_texts`."""

    changed = Signal(list)

    def __init__(self, theme: Theme, name: str, add_label: str, min_lines: int = 2, parent: QWidget | None = None) -> None:
        """Set up the field. `name` is the name of one text (“Greeting”), `add_label` the label of the button that adds one."""
        super().__init__(parent)
        self._theme, self._name, self._min_lines = theme, name, min_lines
        self._fields: list[TextAreaField] = []
        self._add_buttons: list[QPushButton] = []
        self._button_row = build_row(1, spacing=SPACE_2)
        self._column = build_column(self._button_row, spacing=SPACE_2, parent=self)
        self.add_template(add_label, "")
        theme.changed.connect(self._apply_theme)

    @property
    def texts(self) -> list[str]:
        return [field.text for field in self._fields]

    def set_texts(self, texts: Sequence[str]) -> None:
        """Show these texts without emitting `changed`."""
        if list(texts) == self.texts:
            return
        while len(self._fields) > len(texts):
            self._remove_field(self._fields[-1])
        while len(self._fields) < len(texts):
            self._create_field()
        for field, text in zip(self._fields, texts, strict=True):
            field.set_text(text)

    def add_template(self, label: str, text: str) -> None:
        """Add a button that adds a text which begins with `text`; the cursor is put at the end of its first line."""
        button = QPushButton(label)
        button.setProperty("row", True)
        button.setIconSize(BUTTON_ICON_SIZE)
        button.clicked.connect(lambda _checked=False: self._append_field(text))
        self._button_row.insertWidget(self._button_row.count() - 1, button)
        self._add_buttons.append(button)
        self._apply_theme()

    def _append_field(self, text: str) -> None:
        field = self._create_field()
        field.set_text(text)
        field.setFocus()
        cursor = field.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Start)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        field.setTextCursor(cursor)
        self._emit_changed()

    def _create_field(self) -> TextAreaField:
        field = TextAreaField(
            self.tr("{name} {number}").format(name=self._name, number=len(self._fields) + 1), self._min_lines, 10
        )
        field.edited.connect(lambda _text: self._emit_changed())
        row, top = QWidget(), Qt.AlignmentFlag.AlignTop
        up_button = self._create_tool_button("chevron-up", self.tr("Move up"), lambda: self._move_field(field, -1))
        remove_button = self._create_tool_button("close", self.tr("Remove"), lambda: self._remove_by_user(field))
        build_row((field, 1), (up_button, 0, top), (remove_button, 0, top), spacing=SPACE_1, parent=row)
        self._fields.append(field)
        self._column.insertWidget(self._column.count() - 1, row)
        return field

    def _create_tool_button(self, icon_name: str, tooltip: str, slot: object) -> IconButton:
        button = IconButton(self._theme, icon_name, tooltip, size=ICON - SPACE_1)
        button.clicked.connect(slot)
        return button

    def _move_field(self, field: TextAreaField, step: int) -> None:
        position = self._fields.index(field)
        if 0 <= position + step < len(self._fields):
            texts = self.texts
            texts[position], texts[position + step] = texts[position + step], texts[position]
            self.set_texts(texts)
            self._fields[position + step].setFocus()
            self._emit_changed()

    def _remove_by_user(self, field: TextAreaField) -> None:
        self._remove_field(field)
        self._emit_changed()

    def _remove_field(self, field: TextAreaField) -> None:
        self._fields.remove(field)
        row = field.parentWidget()
        assert row is not None
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _emit_changed(self) -> None:
        self.changed.emit(self.texts)

    def _apply_theme(self) -> None:
        for button in self._add_buttons:
            button.setIcon(load_button_icon("plus", self._theme.palette.muted))
