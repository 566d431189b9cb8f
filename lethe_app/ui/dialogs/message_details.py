"""Dialog with what is known of a message besides its text."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFormLayout, QWidget

from lethe_app.domain.chat import Message
from lethe_app.ui.core.labels.messages import describe_message
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.labels import build_small_label, create_text_label

MIN_VALUE_WIDTH = 300


class MessageDetailsDialog(QuestionDialog):
    """Table of the time, language, latency and degradations of a message."""

    def __init__(self, parent: QWidget, message: Message) -> None:
        super().__init__(parent, QCoreApplication.translate("MessageDetailsDialog", "Message details"))
        table = QFormLayout()
        table.setHorizontalSpacing(SPACE_4)
        table.setVerticalSpacing(SPACE_2)
        self.rows = describe_message(message)
        for title, value in self.rows:
            value_label = create_text_label(value)
            value_label.setMinimumWidth(MIN_VALUE_WIDTH)
            value_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value_label.setAccessibleName(f"{title}: {value}" if title else value)
            table.addRow(build_small_label(title), value_label)
        self.column.addLayout(table)
