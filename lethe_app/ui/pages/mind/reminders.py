"""Fields for a new reminder, whose date is entered in natural language, and the dialog that edits one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.labels.dates import format_time
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.pages.mind.labels import format_weekday
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.form import build_field_label
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.text_area import TextAreaField

ParseDate = Callable[[str], datetime | date | None]


class ReminderForm(QWidget):
    """Fields for a new reminder; `reminder_entered` carries its text and its date or time."""

    reminder_entered = Signal(str, object)

    def __init__(self, parse_date: ParseDate) -> None:
        """Create the form; `parse_date` parses a date or time, or returns None."""
        super().__init__()
        self._parse_date = parse_date
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
        build_column(fields, self.parsed_date_label, spacing=SPACE_3, parent=self)
        self._update_parsed_date()

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
