"""Placeholder of the facts page while a persona knows no facts: the reason, and what the user can do about it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lethe_app.services.sessions.fact_extraction import FactAbsence, NoFactsReason
from lethe_app.ui.core.labels.facts import format_absence
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import create_empty_view, create_placeholder


class FactsPlaceholder(QWidget):
    """Placeholder with buttons for the settings and for an extraction. It only emits signals; the page carries out the
    actions.
    """

    settings_requested = Signal()
    extraction_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.reason_label = create_placeholder("")
        self.settings_button = build_button(self.tr("Open settings"))
        self.settings_button.clicked.connect(self.settings_requested)
        self.extract_button = build_button(self.tr("Extract from all conversations"))
        self.extract_button.clicked.connect(self.extraction_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(create_empty_view(self.reason_label, self.settings_button, self.extract_button))

    def show_reason(self, absence: FactAbsence) -> None:
        """Show why there are no facts, and the buttons that apply to that reason."""
        self.reason_label.setText(format_absence(absence))
        is_off = absence.reason is NoFactsReason.LEARNING_OFF
        self.settings_button.setVisible(is_off)
        self.extract_button.setVisible(not is_off and absence.conversations > 0)
