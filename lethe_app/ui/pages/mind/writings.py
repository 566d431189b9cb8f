"""List of what a persona notes, each of which can be edited and deleted: reminders, goals or the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.accessibility import chain_focus, set_button_tooltip
from lethe_app.ui.core.formatting import shorten_text
from lethe_app.ui.core.palette import SPACE_1, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.form import build_field_label
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.text_area import TextAreaField

INITIAL_ROWS, ROWS_PER_STEP = 3, 10
MAX_NAME_LENGTH = 60
"""Maximum characters of a note's title in the names of its buttons."""


@dataclass(frozen=True)
class MindNote:
    """Memory as shown in a list, with its title and a note on its date."""

    memory: MemoryUnit
    title: str
    note: str
    text: str = ""
    """Its text, which may not be stored yet, if it is edited in the list."""


class WritingRow(QWidget):
    """Row of a note: title, date and buttons. With `has_field` a field that grows with its text is below them; otherwise a
    button is for its editing.
    """

    text_edited = Signal(object, str)
    edit_requested = Signal(object)
    forget_requested = Signal(object)

    def __init__(self, theme: Theme, writing: MindNote, *, has_field: bool) -> None:
        super().__init__()
        self._title, self._note = create_text_label(""), build_small_label("")
        self._title.setProperty("field", has_field)
        self.edit_button = IconButton(theme, "edit", "")
        self.edit_button.clicked.connect(lambda: self.edit_requested.emit(self.writing))
        self.delete_button = IconButton(theme, "trash", "")
        self.delete_button.clicked.connect(lambda: self.forget_requested.emit(self.writing))
        self.field = TextAreaField(writing.title, 1, 16)
        self.field.edited.connect(lambda text: self.text_edited.emit(self.writing, text))
        (self.edit_button if has_field else self.field).hide()
        title_column = build_column(self._title, self._note)
        buttons = [(button, 0, Qt.AlignmentFlag.AlignTop) for button in (self.edit_button, self.delete_button)]
        head = build_row((title_column, 1), *buttons, spacing=SPACE_1)
        build_column(head, self.field, spacing=SPACE_1, parent=self)
        self.show_writing(writing)

    def show_writing(self, writing: MindNote) -> None:
        """Show a newer state of the text with its title and note."""
        self.writing = writing
        self._title.setText(writing.title)
        name = shorten_text(writing.title, MAX_NAME_LENGTH)
        set_button_tooltip(self.edit_button, self.tr("Edit “{name}”").format(name=name))
        set_button_tooltip(self.delete_button, self.tr("Delete “{name}”").format(name=name))
        self.field.setAccessibleName(name)
        self._note.setText(writing.note)
        self.field.set_text(writing.text)


class WritingList(QWidget):
    """List of texts with a button that shows more; widgets are created only for those on display, as there can be thousands."""

    text_edited = Signal(object, str)
    """A `MindNote`, and its new text."""
    edit_requested = Signal(object)
    forget_requested = Signal(object)

    def __init__(self, theme: Theme, more_label: str, *, has_fields: bool = True) -> None:
        """Create the list; `more_label` is the label of the button for more, in which {n} is the number of texts not shown.
        With `has_fields`, the texts are edited in the list.
        """
        super().__init__()
        self._theme, self._more_label, self._has_fields = theme, more_label, has_fields
        self._notes: list[MindNote] = []
        self._row_limit = INITIAL_ROWS
        self.rows: list[WritingRow] = []
        self.empty_label = build_small_label("")
        self._row_column = build_column(spacing=SPACE_4)
        self.more_button = QPushButton()
        self.more_button.setProperty("link", True)
        self.more_button.clicked.connect(self._show_more)
        more = (self.more_button, 0, Qt.AlignmentFlag.AlignLeft)
        build_column(self.empty_label, self._row_column, more, spacing=SPACE_4, parent=self)

    def show_writings(self, writings: Sequence[MindNote], empty_text: str) -> None:
        """Show texts, or `empty_text` if there are none."""
        self._notes = list(writings)
        self.empty_label.setText(empty_text)
        self.empty_label.setVisible(not writings)
        shown_guids = [row.writing.memory.guid for row in self.rows]
        visible_guids = [note.memory.guid for note in self._notes[: self._row_limit]]
        if shown_guids != visible_guids[: len(shown_guids)]:
            fill_layout(self._row_column, [])
            self.rows = []
        for row, writing in zip(self.rows, self._notes, strict=False):
            row.show_writing(writing)
        self._add_rows()

    def set_text(self, guid: UUID, text: str) -> None:
        """Show the text of the memory with this GUID, if it is on display, without emitting `text_edited`."""
        for row in self.rows:
            if row.writing.memory.guid == guid:
                row.field.set_text(text)

    def reset_row_limit(self) -> None:
        """Show only the first few texts again, for another persona."""
        self._row_limit = INITIAL_ROWS

    def _show_more(self) -> None:
        before = len(self.rows)
        self._row_limit += ROWS_PER_STEP
        self._add_rows()
        if before < len(self.rows):
            row = self.rows[before]
            (row.field if self._has_fields else row.edit_button).setFocus()

    def _add_rows(self) -> None:
        """Create the rows that are missing; those on display keep their text, which may not be stored yet."""
        for writing in self._notes[len(self.rows) : self._row_limit]:
            row = WritingRow(self._theme, writing, has_field=self._has_fields)
            row.text_edited.connect(self.text_edited)
            row.edit_requested.connect(self.edit_requested)
            row.forget_requested.connect(self.forget_requested)
            self._row_column.addWidget(row)
            self.rows.append(row)
        chain_focus(
            *(widget for row in self.rows for widget in (row.edit_button, row.delete_button, row.field)), self.more_button
        )
        hidden_count = len(self._notes) - len(self.rows)
        self.more_button.setVisible(hidden_count > 0)
        self.more_button.setText(self._more_label.format(n=hidden_count))


class EntryDialog(QuestionDialog):
    """Dialog for title and text of a new journal entry."""

    def __init__(self, parent: QWidget, name: str) -> None:
        tr = QCoreApplication.translate
        super().__init__(
            parent, tr("EntryDialog", "New journal entry for {name}").format(name=name), tr("EntryDialog", "Save entry")
        )
        self.title_field = QLineEdit()
        self.title_field.setAccessibleName(self.tr("Entry title"))
        self.title_field.setMaxLength(80)
        self.text_field = TextAreaField(self.tr("Entry text"), 6, 16)
        self.text_field.setMinimumWidth(420)
        for label, field in ((self.tr("Title"), self.title_field), (self.tr("What happened"), self.text_field)):
            self.column.addLayout(build_column(build_field_label(label, field), field, spacing=SPACE_1))
        self.text_field.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.primary.setEnabled(False)
        self.title_field.setFocus()
