"""Card above the composer with a question or a notice and its buttons. It does not take the focus from the draft."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import create_dialog_button
from lethe_app.ui.transcript.row_layout import COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

MIN_WIDE_WIDTH = 480
"""Width in pixels from which a compact card has its buttons beside the text."""


class ComposerCard(QWidget):
    """Title, details and a row of buttons, as wide as the transcript's column. A compact card has the buttons beside the text
    if there is room.
    """

    def __init__(self, title: str, details: str, parent: QWidget | None = None, *, is_compact: bool = False) -> None:
        super().__init__(parent)
        self._is_compact = is_compact
        self.title: QLabel = create_text_label(title)
        self.details: QLabel = create_text_label(details, "small")
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details.setVisible(bool(details))
        frame = QFrame()
        frame.setObjectName("composer_frame")
        frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        frame.setAccessibleName(title)
        self._parts = QBoxLayout(QBoxLayout.Direction.TopToBottom, frame)
        margin = SPACE_2 if is_compact else SPACE_3
        self._parts.setContentsMargins(SPACE_4, margin, SPACE_4, margin)
        self._parts.setSpacing(SPACE_2)
        texts = build_column(self.title, self.details, spacing=SPACE_1 if is_compact else SPACE_2)
        self._parts.addLayout(texts, 1)
        self._buttons = QHBoxLayout() if is_compact else FlowLayout(spacing=SPACE_2)
        self._buttons.setSpacing(SPACE_2)
        self._parts.addLayout(self._buttons)
        build_row(frame, margins=(COLUMN_MARGIN, SPACE_1, COLUMN_MARGIN, 0), parent=self)

    def add_button(self, text: str, kind: str, on_click: Callable[[], object]) -> QPushButton:
        """Add a button; `kind` is its style, “primary” or “filled”."""
        button = create_dialog_button(text, kind, on_click)
        button.setAutoDefault(False)
        self._buttons.addWidget(button)
        return button

    def add_icon_button(self, button: IconButton) -> None:
        """Add a button without a text as the last one."""
        self._buttons.addWidget(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_compact:
            is_wide = self.width() >= MIN_WIDE_WIDTH
            self._parts.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)
