"""Asks what to do with changes that are not saved, before the editor is left."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.ui.palette import SPACE_2, SPACE_4, SPACE_6


class Choice(StrEnum):
    """What the user decided."""

    SAVE = "save"
    DISCARD = "discard"
    STAY = "stay"


class Leaving(QDialog):
    """Save is the answer to Enter, staying that to Esc."""

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent)
        self.choice = Choice.STAY
        self.setWindowTitle(self.tr("Save what you wrote?"))
        headline = QLabel(self.windowTitle())
        headline.setProperty("title", True)
        words = QLabel(self.tr("There are changes to “{name}” that are not saved yet.").format(name=name))
        words.setWordWrap(True)
        words.setMinimumWidth(372)
        words.setTextFormat(Qt.TextFormat.PlainText)
        self.stay = self._button(self.tr("Stay"), Choice.STAY)
        self.discard = self._button(self.tr("Discard the changes"), Choice.DISCARD)
        self.save = self._button(self.tr("Save"), Choice.SAVE)
        self.save.setDefault(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addWidget(self.discard)
        buttons.addStretch(1)
        buttons.addWidget(self.stay)
        buttons.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_4)
        column.setSpacing(SPACE_4)
        for label in (headline, words):
            column.addWidget(label)
        column.addLayout(buttons)
        self.save.setFocus()

    def _button(self, title: str, choice: Choice) -> QPushButton:
        button = QPushButton(title)
        button.setProperty("primary" if choice is Choice.SAVE else "filled", True)
        button.clicked.connect(lambda: self._choose(choice))
        return button

    def _choose(self, choice: Choice) -> None:
        self.choice = choice
        if choice is Choice.STAY:
            self.reject()
        else:
            self.accept()
