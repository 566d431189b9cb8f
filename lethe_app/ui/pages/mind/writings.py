"""List of titled texts that can be edited and deleted: a persona's goals or journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.widgets.text_area import ProseField

FIRST, MORE = 3, 10


@dataclass(frozen=True)
class MindNote:
    """Memory as shown in a list, with its title and a note on its date."""

    memory: MemoryUnit
    title: str
    note: str


class WritingRow(QWidget):
    """Row of a text: title, note, delete button, and a field that grows with the text."""

    written = Signal(object, str)
    forget_wanted = Signal(object)

    def __init__(self, theme: Theme, writing: MindNote, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.writing, self._theme = writing, theme
        self._title, self._note = QLabel(writing.title), QLabel(writing.note)
        self._title.setProperty("field", True)
        self._title.setWordWrap(True)
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setProperty("small", True)
        self.bin = QToolButton()
        self.bin.setIconSize(QSize(ICON, ICON))
        self.bin.setAccessibleName(self.tr("Delete “{name}”").format(name=writing.title))
        self.bin.setToolTip(self.tr("Delete “{name}”").format(name=writing.title))
        self.bin.clicked.connect(lambda: self.forget_wanted.emit(self.writing))
        self.field = ProseField(writing.title, 1, 16)
        self.field.set_text(writing.memory.content)
        self.field.edited.connect(lambda text: self.written.emit(self.writing, text))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._title)
        words.addWidget(self._note)
        head = QHBoxLayout()
        head.setSpacing(SPACE_2)
        head.addLayout(words, 1)
        head.addWidget(self.bin, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addLayout(head)
        column.addWidget(self.field)
        self.dress()

    def show_writing(self, writing: MindNote) -> None:
        """Show title and note. The text is set separately, because the field may have text that is not stored yet."""
        self.writing = writing
        self._title.setText(writing.title)
        self._note.setText(writing.note)

    def dress(self) -> None:
        """Apply the theme's colour to the icon."""
        self.bin.setIcon(icon("trash", self._theme.palette.muted))


class Writings(QWidget):
    """List of texts with a button that shows more; widgets are created only for those on display, as there can be thousands."""

    written = Signal(object, str)
    """A `MindNote`, and its new text."""
    forget_wanted = Signal(object)

    def __init__(self, theme: Theme, more_words: str, parent: QWidget | None = None) -> None:
        """Create the list; `more_words` is the label of the button for more, in which {n} is the number of texts not shown."""
        super().__init__(parent)
        self._theme, self._more_words = theme, more_words
        self._all: list[MindNote] = []
        self._shown = FIRST
        self.rows: list[WritingRow] = []
        self.nothing = explanation("")
        self._list = QVBoxLayout()
        self._list.setSpacing(SPACE_4)
        self.more = QPushButton()
        self.more.setProperty("link", True)
        self.more.clicked.connect(self._show_more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_4)
        column.addWidget(self.nothing)
        column.addLayout(self._list)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)

    def show_writings(self, writings: Sequence[MindNote], nothing: str, is_unsaved: Callable[[str], bool]) -> None:
        """Show texts, or `nothing` if there are none; fields for which `is_unsaved` is true keep their text."""
        self._all = list(writings)
        self.nothing.setText(nothing)
        self.nothing.setVisible(not writings)
        self._fit(is_unsaved)

    def set_text(self, guid: str, text: str) -> None:
        """Show the text of the memory with this GUID, if it is on display, without emitting `written`."""
        for row in self.rows:
            if str(row.writing.memory.guid) == guid:
                row.field.set_text(text)

    def begin_anew(self) -> None:
        """Show only the first few texts again, for another persona."""
        self._shown = FIRST

    def _show_more(self) -> None:
        before = len(self.rows)
        self._shown += MORE
        # The rows on display keep their text, which may not be stored yet.
        self._fit(lambda _key: True)
        if before < len(self.rows):
            self.rows[before].field.setFocus()

    def _fit(self, is_unsaved: Callable[[str], bool]) -> None:
        wanted = self._all[: self._shown]
        kept = [row.writing.memory.guid for row in self.rows]
        if kept != [one.memory.guid for one in wanted][: len(kept)] or len(kept) > len(wanted):
            for row in self.rows:
                row.hide()
                row.deleteLater()
            self.rows = []
        for row, writing in zip(self.rows, wanted, strict=False):
            row.show_writing(writing)
            if not is_unsaved(str(writing.memory.guid)):
                row.field.set_text(writing.memory.content)
        for writing in wanted[len(self.rows) :]:
            row = WritingRow(self._theme, writing)
            row.written.connect(self.written)
            row.forget_wanted.connect(self.forget_wanted)
            self._list.addWidget(row)
            before = self.rows[-1].field if self.rows else self.nothing
            if self.rows:
                QWidget.setTabOrder(before, row.bin)
            QWidget.setTabOrder(row.bin, row.field)
            self.rows.append(row)
        if self.rows:
            QWidget.setTabOrder(self.rows[-1].field, self.more)
        left = len(self._all) - len(self.rows)
        self.more.setVisible(left > 0)
        self.more.setText(self._more_words.format(n=left))


class GoalFields(QWidget):
    """Fields for what the goals are to be about, and for the guidelines they have to follow."""

    asked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request = ProseField(self.tr("Goals to pursue"), 1, 8)
        self.notice = ProseField(self.tr("Guidelines for goals"), 1, 8)
        self.request.setPlaceholderText(self.tr("For example: find out which books I would love"))
        self.notice.setPlaceholderText(self.tr("For example: nothing about work at the weekend"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(named(self.tr("Goals to pursue"), self.request))
        column.addWidget(self.request)
        column.addSpacing(SPACE_3)
        column.addWidget(named(self.tr("Guidelines for goals"), self.notice))
        column.addWidget(self.notice)
        column.addWidget(
            explanation(self.tr("One goal a day is created from this while you are away, if background activity is on."))
        )
        for field in (self.request, self.notice):
            field.edited.connect(lambda _text: self.asked.emit(self.request.text, self.notice.text))


class EntryDialog(QuestionDialog):
    """Dialog for title and text of a new journal entry."""

    def __init__(self, parent: QWidget, name: str) -> None:
        tr = QCoreApplication.translate
        super().__init__(
            parent, tr("EntryDialog", "New journal entry for {name}").format(name=name), tr("EntryDialog", "Save entry")
        )
        self.title = QLineEdit()
        self.title.setAccessibleName(self.tr("Entry title"))
        self.title.setMaxLength(80)
        self.text = ProseField(self.tr("Entry text"), 6, 16)
        self.text.setMinimumWidth(420)
        for words, field in ((self.tr("Title"), self.title), (self.tr("What happened"), self.text)):
            column = QVBoxLayout()
            column.setSpacing(SPACE_1)
            column.addWidget(named(words, field))
            column.addWidget(field)
            self.column.addLayout(column)
        self.text.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.primary.setEnabled(False)
        self.title.setFocus()


def named(words: str, field: QWidget) -> QLabel:
    """Return the label of a field."""
    label = QLabel(words)
    label.setProperty("field", True)
    label.setWordWrap(True)
    label.setBuddy(field)
    return label
