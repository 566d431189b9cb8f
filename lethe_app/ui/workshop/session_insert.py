"""Asks for a message that is to be put into an old conversation, who said it and what, or for other words of one."""

from __future__ import annotations

from PySide6.QtWidgets import QRadioButton, QWidget

from lethe_app.ui.dialogs import Asking
from lethe_app.ui.palette import SPACE_3, SPACE_4
from lethe_app.ui.workshop.flow import Flow
from lethe_app.ui.workshop.page import explanation
from lethe_app.ui.workshop.prose_field import ProseField

LEAST_WIDTH = 440


class InsertMessage(Asking):
    """The primary button waits for words."""

    def __init__(self, parent: QWidget, persona: str, where: str) -> None:
        """`where` is a sentence that says where it will stand."""
        super().__init__(parent, self.tr("Insert a message"), self.tr("Insert"), spacing=SPACE_3)
        self.by_user = QRadioButton(self.tr("You said it"))
        self.by_persona = QRadioButton(self.tr("{name} said it").format(name=persona))
        self.by_user.setChecked(True)
        self.field = ProseField(self.tr("What was said"), 4, 12)
        self.field.setMinimumWidth(LEAST_WIDTH)
        self.primary.setEnabled(False)
        self.field.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        who = Flow(spacing=SPACE_4)  # a long name goes below
        who.addWidget(self.by_user)
        who.addWidget(self.by_persona)
        self.column.addWidget(explanation(where))
        self.column.addLayout(who)
        self.column.addWidget(self.field)
        self.field.setFocus()

    @property
    def words(self) -> str:
        return self.field.text.strip()


class RewordMessage(Asking):
    """The words of a message, to be written anew."""

    def __init__(self, parent: QWidget, name: str, words: str) -> None:
        """`name` is who said it."""
        super().__init__(parent, self.tr("What {name} said").format(name=name), self.tr("Keep these words"), spacing=SPACE_3)
        self.field = ProseField(self.tr("What was said"), 4, 16)
        self.field.setMinimumWidth(LEAST_WIDTH)
        self.field.set_text(words)
        self.field.edited.connect(lambda text: self.primary.setEnabled(bool(text.strip())))
        self.column.addWidget(self.field)
        self.field.setFocus()

    @property
    def words(self) -> str:
        return self.field.text.strip()
