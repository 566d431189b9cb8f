"""Dialog of the page of conversations: insert a message."""

from __future__ import annotations

from PySide6.QtWidgets import QRadioButton, QWidget

from lethe_app.ui.core.palette import SPACE_4
from lethe_app.ui.dialogs.dialogs import TextDialog
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label


class InsertMessage(TextDialog):
    """Dialog for author and text of a new message."""

    def __init__(self, parent: QWidget, persona_name: str, position_text: str) -> None:
        """Create the dialog; `position_text` is a sentence about the position of the message."""
        super().__init__(parent, self.tr("Insert message"), self.tr("Insert"), self.tr("Message text"))
        self.user_radio = QRadioButton(self.tr("Message from you"))
        self.persona_radio = QRadioButton(self.tr("Message from {name}").format(name=persona_name))
        self.user_radio.setChecked(True)
        author_row = FlowLayout(spacing=SPACE_4)  # a long name goes below
        author_row.addWidget(self.user_radio)
        author_row.addWidget(self.persona_radio)
        self.column.insertWidget(0, build_small_label(position_text))
        self.column.insertLayout(1, author_row)
