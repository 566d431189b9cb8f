"""Placeholder of the facts page while a persona knows no facts: the reason, and what the user can do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from lethe_app.services.sessions.fact_extraction import FactAbsence, NoFactsReason
from lethe_app.ui.core.labels.facts import format_absence
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import create_placeholder

MAX_WIDTH = 460


class FactsPlaceholder(QWidget):
    """Placeholder with buttons for the settings and for an extraction. It only emits signals; the page carries out the
    actions.
    """

    settings_requested = Signal()
    extraction_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.reason_label = create_placeholder("")
        self.reason_label.setMaximumWidth(MAX_WIDTH)
        self.settings_button = build_button(self.tr("Open settings"))
        self.settings_button.clicked.connect(self.settings_requested)
        self.extract_button = build_button(self.tr("Extract from all conversations"))
        self.extract_button.clicked.connect(self.extraction_requested)
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_3)
        buttons.addStretch(1)
        buttons.addWidget(self.settings_button)
        buttons.addWidget(self.extract_button)
        buttons.addStretch(1)
        centred = QHBoxLayout()
        centred.addWidget(self.reason_label, 1, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addLayout(centred)
        column.addLayout(buttons)
        column.addStretch(2)

    def show_reason(self, absence: FactAbsence) -> None:
        """Show why there are no facts, and the buttons that apply to that reason."""
        self.reason_label.setText(format_absence(absence))
        is_off = absence.reason is NoFactsReason.LEARNING_OFF
        self.settings_button.setVisible(is_off)
        self.extract_button.setVisible(not is_off and absence.conversations > 0)
