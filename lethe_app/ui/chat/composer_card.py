"""Card above the composer with a question or a notice and its buttons. It does not take the focus from the draft."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import create_dialog_button
from lethe_app.ui.transcript.row_layout import COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import create_text_label


class ComposerCard(QWidget):
    """Title, details and a row of buttons, as wide as the transcript's column."""

    def __init__(self, title: str, details: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title: QLabel = create_text_label(title)
        self.details: QLabel = create_text_label(details, "small")
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details.setVisible(bool(details))
        frame = QFrame()
        frame.setObjectName("composer_frame")
        frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        frame.setAccessibleName(title)
        column = QVBoxLayout(frame)
        column.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
        column.setSpacing(SPACE_2)
        column.addWidget(self.title)
        column.addWidget(self.details)
        self._buttons = FlowLayout(spacing=SPACE_2)
        column.addLayout(self._buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(COLUMN_MARGIN, SPACE_1, COLUMN_MARGIN, 0)
        row.addWidget(frame)

    def add_button(self, text: str, kind: str, on_click: Callable[[], object]) -> QPushButton:
        """Add a button; `kind` is its style, “primary” or “filled”."""
        button = create_dialog_button(text, kind, on_click)
        button.setAutoDefault(False)
        self._buttons.addWidget(button)
        return button
