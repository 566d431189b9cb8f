"""What the user puts into a persona's mind by hand: what her goals are to be about, and entries in her journal."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from lethe_app.ui.dialogs import Asking
from lethe_app.ui.palette import SPACE_1, SPACE_3
from lethe_app.ui.workshop.page import explanation
from lethe_app.ui.workshop.prose_field import ProseField


class WishFields(QWidget):
    """A request and a notice."""

    asked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request = ProseField(self.tr("What you would like them to pursue"), 1, 8)
        self.notice = ProseField(self.tr("What they should bear in mind"), 1, 8)
        self.request.setPlaceholderText(self.tr("Such as: find out which books I would love"))
        self.notice.setPlaceholderText(self.tr("Such as: nothing about work at the weekend"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(named(self.tr("What you would like them to pursue"), self.request))
        column.addWidget(self.request)
        column.addSpacing(SPACE_3)
        column.addWidget(named(self.tr("What they should bear in mind"), self.notice))
        column.addWidget(self.notice)
        column.addWidget(explanation(self.tr("While you are away, a goal a day is made of it, if they may be busy with that.")))
        for field in (self.request, self.notice):
            field.edited.connect(lambda _text: self.asked.emit(self.request.text, self.notice.text))


class EntryDialog(Asking):
    """A title and a text for an entry in the journal."""

    def __init__(self, parent: QWidget, name: str) -> None:
        tr = QCoreApplication.translate
        super().__init__(parent, tr("EntryDialog", "An entry for {name}").format(name=name), tr("EntryDialog", "Keep it"))
        self.title = QLineEdit()
        self.title.setAccessibleName(self.tr("Title of the entry"))
        self.title.setMaxLength(80)
        self.text = ProseField(self.tr("Text of the entry"), 6, 16)
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
    """What stands above a field."""
    label = QLabel(words)
    label.setProperty("field", True)
    label.setWordWrap(True)
    label.setBuddy(field)
    return label
