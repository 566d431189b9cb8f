"""List of titled texts that can be edited and deleted: a persona's goals or journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.text_area import TextAreaField

INITIAL_ROWS, ROWS_PER_STEP = 3, 10


@dataclass(frozen=True)
class MindNote:
    """Memory as shown in a list, with its title and a note on its date."""

    memory: MemoryUnit
    title: str
    note: str


class WritingRow(QWidget):
    """Row of a text: title, note, delete button, and a field that grows with the text."""

    text_edited = Signal(object, str)
    forget_requested = Signal(object)

    def __init__(self, theme: Theme, writing: MindNote, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.writing = writing
        self._title, self._note = QLabel(writing.title), QLabel(writing.note)
        self._title.setProperty("field", True)
        self._title.setWordWrap(True)
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setProperty("small", True)
        self.delete_button = IconButton(theme, "trash", self.tr("Delete “{name}”").format(name=writing.title))
        self.delete_button.clicked.connect(lambda: self.forget_requested.emit(self.writing))
        self.field = TextAreaField(writing.title, 1, 16)
        self.field.set_text(writing.memory.content)
        self.field.edited.connect(lambda text: self.text_edited.emit(self.writing, text))
        title_column = QVBoxLayout()
        title_column.setSpacing(0)
        title_column.addWidget(self._title)
        title_column.addWidget(self._note)
        head = QHBoxLayout()
        head.setSpacing(SPACE_2)
        head.addLayout(title_column, 1)
        head.addWidget(self.delete_button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addLayout(head)
        column.addWidget(self.field)

    def show_writing(self, writing: MindNote) -> None:
        """Show title and note. The text is set separately, because the field may have text that is not stored yet."""
        self.writing = writing
        self._title.setText(writing.title)
        self._note.setText(writing.note)


class WritingList(QWidget):
    """List of texts with a button that shows more; widgets are created only for those on display, as there can be thousands."""

    text_edited = Signal(object, str)
    """A `MindNote`, and its new text."""
    forget_requested = Signal(object)

    def __init__(self, theme: Theme, more_label: str, parent: QWidget | None = None) -> None:
        """Create the list; `more_label` is the label of the button for more, in which {n} is the number of texts not shown."""
        super().__init__(parent)
        self._theme, self._more_label = theme, more_label
        self._notes: list[MindNote] = []
        self._row_limit = INITIAL_ROWS
        self.rows: list[WritingRow] = []
        self.empty_label = build_small_label("")
        self._row_column = QVBoxLayout()
        self._row_column.setSpacing(SPACE_4)
        self.more_button = QPushButton()
        self.more_button.setProperty("link", True)
        self.more_button.clicked.connect(self._show_more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_4)
        column.addWidget(self.empty_label)
        column.addLayout(self._row_column)
        column.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_writings(self, writings: Sequence[MindNote], empty_text: str, is_unsaved: Callable[[str], bool]) -> None:
        """Show texts, or `empty_text` if there are none; fields for which `is_unsaved` is true keep their text."""
        self._notes = list(writings)
        self.empty_label.setText(empty_text)
        self.empty_label.setVisible(not writings)
        self._update_rows(is_unsaved)

    def set_text(self, guid: str, text: str) -> None:
        """Show the text of the memory with this GUID, if it is on display, without emitting `text_edited`."""
        for row in self.rows:
            if str(row.writing.memory.guid) == guid:
                row.field.set_text(text)

    def reset_row_limit(self) -> None:
        """Show only the first few texts again, for another persona."""
        self._row_limit = INITIAL_ROWS

    def _show_more(self) -> None:
        before = len(self.rows)
        self._row_limit += ROWS_PER_STEP
        # The rows on display keep their text, which may not be stored yet.
        self._update_rows(lambda _key: True)
        if before < len(self.rows):
            self.rows[before].field.setFocus()

    def _update_rows(self, is_unsaved: Callable[[str], bool]) -> None:
        visible = self._notes[: self._row_limit]
        shown_guids = [row.writing.memory.guid for row in self.rows]
        if shown_guids != [note.memory.guid for note in visible][: len(shown_guids)] or len(shown_guids) > len(visible):
            for row in self.rows:
                row.hide()
                row.deleteLater()
            self.rows = []
        for row, writing in zip(self.rows, visible, strict=False):
            row.show_writing(writing)
            if not is_unsaved(str(writing.memory.guid)):
                row.field.set_text(writing.memory.content)
        for writing in visible[len(self.rows) :]:
            row = WritingRow(self._theme, writing)
            row.text_edited.connect(self.text_edited)
            row.forget_requested.connect(self.forget_requested)
            self._row_column.addWidget(row)
            previous = self.rows[-1].field if self.rows else self.empty_label
            if self.rows:
                QWidget.setTabOrder(previous, row.delete_button)
            QWidget.setTabOrder(row.delete_button, row.field)
            self.rows.append(row)
        if self.rows:
            QWidget.setTabOrder(self.rows[-1].field, self.more_button)
        hidden_count = len(self._notes) - len(self.rows)
        self.more_button.setVisible(hidden_count > 0)
        self.more_button.setText(self._more_label.format(n=hidden_count))


class GoalFields(QWidget):
    """Fields for what the goals are to be about, and for the guidelines they have to follow."""

    request_edited = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request_field = TextAreaField(self.tr("Goals to pursue"), 1, 8)
        self.notice_field = TextAreaField(self.tr("Guidelines for goals"), 1, 8)
        self.request_field.setPlaceholderText(self.tr("For example: find out which books I would love"))
        self.notice_field.setPlaceholderText(self.tr("For example: nothing about work at the weekend"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(build_field_label(self.tr("Goals to pursue"), self.request_field))
        column.addWidget(self.request_field)
        column.addSpacing(SPACE_3)
        column.addWidget(build_field_label(self.tr("Guidelines for goals"), self.notice_field))
        column.addWidget(self.notice_field)
        column.addWidget(
            build_small_label(self.tr("One goal a day is created from this while you are away, if background activity is on."))
        )
        for field in (self.request_field, self.notice_field):
            field.edited.connect(lambda _text: self.request_edited.emit(self.request_field.text, self.notice_field.text))


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
            column = QVBoxLayout()
            column.setSpacing(SPACE_1)
            column.addWidget(build_field_label(label, field))
            column.addWidget(field)
            self.column.addLayout(column)
        self.text_field.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.primary.setEnabled(False)
        self.title_field.setFocus()


def build_field_label(text: str, field: QWidget) -> QLabel:
    """Return the label of a field."""
    label = QLabel(text)
    label.setProperty("field", True)
    label.setWordWrap(True)
    label.setBuddy(field)
    return label
