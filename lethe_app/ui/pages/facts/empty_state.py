"""Placeholder of the facts page while a persona knows no facts: the reason, and what the user can do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lethe_app.services.sessions.fact_extraction import FactAbsence, NoFacts
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.pages.facts.labels import absence_in_words
from lethe_app.ui.widgets.card_column import invitation

MOST_WIDTH = 460


class AbsentFacts(QWidget):
    """Placeholder with buttons for the settings and for an extraction. It only emits signals; the page carries out the
    actions.
    """

    settings_wanted = Signal()
    extraction_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = invitation("")
        self.words.setMaximumWidth(MOST_WIDTH)
        self.settings = self._button(self.tr("Open settings"))
        self.settings.clicked.connect(self.settings_wanted)
        self.extract = self._button(self.tr("Extract from all conversations"))
        self.extract.clicked.connect(self.extraction_wanted)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_3)
        buttons.addStretch(1)
        buttons.addWidget(self.settings)
        buttons.addWidget(self.extract)
        buttons.addStretch(1)
        centred = QHBoxLayout()
        centred.addWidget(self.words, 1, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addLayout(centred)
        column.addLayout(buttons)
        column.addStretch(2)

    def explain(self, absence: FactAbsence) -> None:
        """Show why there are no facts, and the buttons that apply to that reason."""
        self.words.setText(absence_in_words(absence))
        is_off = absence.reason is NoFacts.LEARNING_OFF
        self.settings.setVisible(is_off)
        self.extract.setVisible(not is_off and absence.conversations > 0)

    def _button(self, words: str) -> QPushButton:
        button = QPushButton(words)
        button.setProperty("filled", True)
        return button
