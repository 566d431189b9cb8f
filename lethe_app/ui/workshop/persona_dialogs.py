"""Asks what to do with changes that are not saved, before the editor is left."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from lethe_app.ui.dialogs import Asking, foot_button


class Choice(StrEnum):
    """What the user decided."""

    SAVE = "save"
    DISCARD = "discard"
    STAY = "stay"


class Leaving(Asking):
    """Save is the answer to Enter, staying that to Esc."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent, QCoreApplication.translate("Leaving", "Save what you wrote?"), "")
        self.choice = Choice.STAY
        self.say(self.tr("There are changes to “{name}” that are not saved yet.").format(name=name))
        self.save, self.stay = self.primary, self.cancel
        self.save.setText(self.tr("Save"))
        self.stay.setText(self.tr("Stay"))
        self.discard = foot_button(self.tr("Discard the changes"), "filled", self._discard)
        self.buttons.insertWidget(0, self.discard)
        self.save.setFocus()

    def accept(self) -> None:
        if self.choice is Choice.STAY:
            self.choice = Choice.SAVE
        super().accept()

    def _discard(self) -> None:
        self.choice = Choice.DISCARD
        self.accept()
