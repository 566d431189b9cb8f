"""Card of reminders: a list by date, and fields for a new one whose date is entered in natural language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.accessibility import chain_focus
from lethe_app.ui.core.labels.dates import format_time
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.pages.mind.labels import format_due_date, format_weekday
from lethe_app.ui.widgets.buttons import IconButton, build_button
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.form import build_field_label
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.text_area import TextAreaField

ParseDate = Callable[[str], datetime | date | None]


class ReminderRow(QWidget):
    """Row of a reminder: date, text, and buttons to edit and delete it."""

    edit_requested = Signal(object)
    forget_requested = Signal(object)

    def __init__(self, theme: Theme, memory: MemoryUnit) -> None:
        super().__init__()
        self.memory = memory
        date_label = QLabel(format_due_date(memory.added))
        date_label.setProperty("small", True)
        text_column = build_column(create_text_label(memory.content), date_label)
        name = memory.name
        self.edit_button = IconButton(theme, "edit", self.tr("Edit “{name}”").format(name=name))
        self.edit_button.clicked.connect(lambda: self.edit_requested.emit(self.memory))
        self.delete_button = IconButton(theme, "trash", self.tr("Delete “{name}”").format(name=name))
        self.delete_button.clicked.connect(lambda: self.forget_requested.emit(self.memory))
        buttons = [(button, 0, Qt.AlignmentFlag.AlignTop) for button in (self.edit_button, self.delete_button)]
        build_row((text_column, 1), *buttons, spacing=SPACE_1, parent=self)


class ReminderForm(QWidget):
    """List of reminders and fields for a new one; `reminder_entered` carries its text and its date or time."""

    reminder_entered = Signal(str, object)
    edit_requested = Signal(object)
    forget_requested = Signal(object)

    def __init__(self, theme: Theme, parse_date: ParseDate) -> None:
        """Create the form; `parse_date` parses a date or time, or returns None."""
        super().__init__()
        self._theme, self._parse_date = theme, parse_date
        self.rows: list[ReminderRow] = []
        self._row_column = build_column(spacing=SPACE_3)
        self.empty_label = build_small_label("")
        self.text_field = _Line(self.tr("Reminder"), self.tr("Ask how the exam went"))
        self.date_field = _Line(self.tr("When"), self.tr("Friday 18:00"))
        self.add_button = build_button(self.tr("Add reminder"))
        self.add_button.clicked.connect(self.submit_reminder)
        self.parsed_date_label = build_small_label("")
        self.text_field.entered.connect(self.date_field.setFocus)
        self.date_field.entered.connect(self.submit_reminder)
        for field in (self.text_field, self.date_field):
            field.textChanged.connect(lambda _text: self._update_parsed_date())
        fields = build_row((self.text_field, 3), (self.date_field, 2), self.add_button, spacing=SPACE_2)
        items = (self.empty_label, self._row_column, fields, self.parsed_date_label)
        build_column(*items, spacing=SPACE_3, parent=self)
        self._update_parsed_date()

    def show_reminders(self, name: str, reminders: Sequence[MemoryUnit]) -> None:
        """Show the reminders, in the order given: the next one first."""
        self.empty_label.setVisible(not reminders)
        self.empty_label.setText(self.tr("No reminders yet. {name} will bring up what you add here.").format(name=name))
        if [row.memory for row in self.rows] == list(reminders):
            return
        self.rows = [ReminderRow(self._theme, reminder) for reminder in reminders]
        fill_layout(self._row_column, self.rows)
        for row in self.rows:
            row.edit_requested.connect(self.edit_requested)
            row.forget_requested.connect(self.forget_requested)
        buttons = (button for row in self.rows for button in (row.edit_button, row.delete_button))
        chain_focus(*buttons, self.text_field)

    def submit_reminder(self) -> None:
        """Emit `reminder_entered` if there is a text and the date was recognised, else focus the field that is missing."""
        parsed = self._parse_date(self.date_field.text())
        if not self.text_field.text().strip():
            self.text_field.setFocus()
        elif parsed is None:
            self.date_field.setFocus()
        else:
            self.reminder_entered.emit(self.text_field.text().strip(), parsed)
            self.text_field.clear()
            self.date_field.clear()
            self.text_field.setFocus()

    def _update_parsed_date(self) -> None:
        """Show which date was recognised, and enable the button if the entry is complete."""
        date_text = self.date_field.text().strip()
        parsed = self._parse_date(date_text) if date_text else None
        text = ""
        if isinstance(parsed, datetime):
            text = f"{format_weekday(parsed.astimezone().date())}, {format_time(parsed)}"
        elif parsed is not None:
            text = format_weekday(parsed)
        elif date_text:
            text = self.tr("Date not recognised. Try “tomorrow at 9”, “in two weeks”, “Friday” or “24 December”.")
        self.parsed_date_label.setText(text)
        self.parsed_date_label.setVisible(bool(text))
        self.add_button.setEnabled(bool(self.text_field.text().strip()) and parsed is not None)


class ReminderDialog(QuestionDialog):
    """Dialog that edits text and time of a reminder."""

    def __init__(self, parent: QWidget, memory: MemoryUnit) -> None:
        super().__init__(parent, self.tr("Edit reminder"), self.tr("Save"), spacing=SPACE_3)
        self.text_field = TextAreaField(self.tr("Reminder"), 2, 6)
        self.text_field.set_text(memory.content)
        self.date_field = DateTimeField(self.tr("When"))
        self.date_field.set_value(memory.added)
        self.text_field.edited.connect(lambda words: self.primary.setEnabled(bool(words.strip())))
        for title, field in ((self.tr("Reminder"), self.text_field), (self.tr("When"), self.date_field)):
            self.column.addWidget(build_field_label(title, field))
            self.column.addWidget(field)
        self.text_field.setMinimumWidth(372)
        self.text_field.setFocus()


class _Line(QLineEdit):
    """Line edit as wide as its placeholder. Enter emits `entered` and is not passed on to the page."""

    entered = Signal()

    def __init__(self, name: str, example: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(example)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.placeholderText()) + 3 * SPACE_4, super().sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.entered.emit()
        else:
            super().keyPressEvent(event)
