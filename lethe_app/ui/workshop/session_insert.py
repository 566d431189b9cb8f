"""Asks for a message that is to be put into an old conversation: who said it, and what."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QRadioButton, QVBoxLayout, QWidget

from lethe_app.ui.palette import SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.workshop.page import explanation
from lethe_app.ui.workshop.prose_field import ProseField


class InsertMessage(QDialog):
    """The primary button waits for words."""

    def __init__(self, parent: QWidget, persona: str, where: str) -> None:
        """`where` is a sentence that says where it will stand."""
        super().__init__(parent)
        title = self.tr("Insert a message")
        self.setWindowTitle(title)
        self.setMinimumWidth(440)
        headline = QLabel(title)
        headline.setProperty("title", True)
        self.by_user = QRadioButton(self.tr("You said it"))
        self.by_persona = QRadioButton(self.tr("{name} said it").format(name=persona))
        self.by_user.setChecked(True)
        self.field = ProseField(self.tr("What was said"), 4, 12)
        cancel, self.primary = QPushButton(self.tr("Cancel")), QPushButton(self.tr("Insert"))
        cancel.setProperty("filled", True)
        self.primary.setProperty("primary", True)
        self.primary.setDefault(True)
        self.primary.setEnabled(False)
        cancel.clicked.connect(self.reject)
        self.primary.clicked.connect(self.accept)
        self.field.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        who, buttons = QHBoxLayout(), QHBoxLayout()
        for line in (who, buttons):
            line.setSpacing(SPACE_2)
        who.addWidget(self.by_user)
        who.addWidget(self.by_persona)
        who.addStretch(1)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.primary)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_3)
        column.addWidget(headline)
        column.addWidget(explanation(where))
        column.addLayout(who)
        column.addWidget(self.field)
        column.addLayout(buttons)
        self.field.setFocus()

    @property
    def words(self) -> str:
        return self.field.text.strip()
