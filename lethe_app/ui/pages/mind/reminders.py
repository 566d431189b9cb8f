"""Card of reminders: a list by date, and fields for a new one whose date is entered in natural language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.pages.mind.labels import coming_in_words, day_in_words, hour_in_words
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.widgets.datetime_field import DateTimeField
from lethe_app.ui.widgets.text_area import ProseField

Understand = Callable[[str], datetime | date | None]


class ReminderRow(QWidget):
    """Row of a reminder: date, text, and buttons to edit and delete it."""

    edit_wanted = Signal(object)
    forget_wanted = Signal(object)

    def __init__(self, theme: Theme, memory: MemoryUnit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.memory = memory
        words = QLabel(memory.content)
        words.setWordWrap(True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        when = QLabel(coming_in_words(memory.added))
        when.setProperty("small", True)
        text = QVBoxLayout()
        text.setSpacing(0)
        text.addWidget(words)
        text.addWidget(when)
        name = memory.name
        self._theme = theme
        self.edit = _small(self.tr("Edit “{name}”").format(name=name))
        self.edit.clicked.connect(lambda: self.edit_wanted.emit(self.memory))
        self.bin = _small(self.tr("Delete “{name}”").format(name=name))
        self.bin.clicked.connect(lambda: self.forget_wanted.emit(self.memory))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_1)
        row.addLayout(text, 1)
        row.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.bin, 0, Qt.AlignmentFlag.AlignTop)
        self.dress()

    def dress(self) -> None:
        """Apply the theme's colours to the icons."""
        self.edit.setIcon(icon("edit", self._theme.palette.muted))
        self.bin.setIcon(icon("trash", self._theme.palette.muted))


class ReminderForm(QWidget):
    """List of reminders and fields for a new one; `added` carries its text and its date or time."""

    added = Signal(str, object)
    edit_wanted = Signal(object)
    forget_wanted = Signal(object)

    def __init__(self, theme: Theme, understand: Understand, parent: QWidget | None = None) -> None:
        """Create the form; `understand` parses a date or time, or returns None."""
        super().__init__(parent)
        self._theme, self._understand = theme, understand
        self.rows: list[ReminderRow] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(SPACE_3)
        self.nothing = explanation("")
        self.what = _Line(self.tr("Reminder"), self.tr("Ask how the exam went"))
        self.when = _Line(self.tr("When"), self.tr("Friday 18:00"))
        self.button = QPushButton(self.tr("Add reminder"))
        self.button.setProperty("filled", True)
        self.button.clicked.connect(self.add)
        self.meant = explanation("")
        self.what.entered.connect(self.when.setFocus)
        self.when.entered.connect(self.add)
        for field in (self.what, self.when):
            field.textChanged.connect(lambda _text: self._follow())
        self._build()
        self._follow()

    def _build(self) -> None:
        fields = QHBoxLayout()
        fields.setSpacing(SPACE_2)
        fields.addWidget(self.what, 3)
        fields.addWidget(self.when, 2)
        fields.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_3)
        column.addWidget(self.nothing)
        column.addLayout(self._list)
        column.addLayout(fields)
        column.addWidget(self.meant)

    def show_reminders(self, name: str, reminders: Sequence[MemoryUnit]) -> None:
        """Show the reminders, in the order given: the next one first."""
        self.nothing.setVisible(not reminders)
        self.nothing.setText(self.tr("No reminders yet. {name} will bring up what you add here.").format(name=name))
        if [row.memory for row in self.rows] == list(reminders):
            return
        for row in self.rows:
            row.hide()
            row.deleteLater()
        self.rows = [ReminderRow(self._theme, one) for one in reminders]
        before: QWidget | None = None
        for row in self.rows:
            row.edit_wanted.connect(self.edit_wanted)
            row.forget_wanted.connect(self.forget_wanted)
            self._list.addWidget(row)
            if before is not None:
                QWidget.setTabOrder(before, row.edit)
            QWidget.setTabOrder(row.edit, row.bin)
            before = row.bin
        if before is not None:
            QWidget.setTabOrder(before, self.what)

    def add(self) -> None:
        """Emit `added` if there is a text and the date was recognised, else focus the field that is missing."""
        when = self._understand(self.when.text())
        if not self.what.text().strip():
            self.what.setFocus()
        elif when is None:
            self.when.setFocus()
        else:
            self.added.emit(self.what.text().strip(), when)
            self.what.clear()
            self.when.clear()
            self.what.setFocus()

    def _follow(self) -> None:
        """Show which date was recognised, and enable the button if the entry is complete."""
        typed = self.when.text().strip()
        when = self._understand(typed) if typed else None
        words = ""
        if isinstance(when, datetime):
            words = f"{day_in_words(when.astimezone().date())}, {hour_in_words(when)}"
        elif when is not None:
            words = day_in_words(when)
        elif typed:
            words = self.tr("Date not recognised. Try “tomorrow at 9”, “in two weeks”, “Friday” or “24 December”.")
        self.meant.setText(words)
        self.meant.setVisible(bool(words))
        self.button.setEnabled(bool(self.what.text().strip()) and when is not None)


class ReminderDialog(QuestionDialog):
    """Dialog that edits text and time of a reminder."""

    def __init__(self, parent: QWidget, memory: MemoryUnit) -> None:
        super().__init__(parent, self.tr("Edit reminder"), self.tr("Save"), spacing=SPACE_3)
        self.text = ProseField(self.tr("Reminder"), 2, 6)
        self.text.set_text(memory.content)
        self.moment = DateTimeField(self.tr("When"))
        self.moment.set_value(memory.added)
        self.text.edited.connect(lambda words: self.primary.setEnabled(bool(words.strip())))
        for title, field in ((self.tr("Reminder"), self.text), (self.tr("When"), self.moment)):
            label = QLabel(title)
            label.setProperty("field", True)
            label.setBuddy(field)
            self.column.addWidget(label)
            self.column.addWidget(field)
        self.text.setMinimumWidth(372)
        self.text.setFocus()


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


def _small(name: str) -> QToolButton:
    button = QToolButton()
    button.setIconSize(QSize(ICON, ICON))
    button.setAccessibleName(name)
    button.setToolTip(name)
    return button
