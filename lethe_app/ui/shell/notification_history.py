"""Dialog with the notifications since the program was started, to read again what has faded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from lethe_app.ui.core.actions import action_title
from lethe_app.ui.core.labels.dates import format_time
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.dialogs.dialogs import QuestionDialog
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column

if TYPE_CHECKING:
    from lethe_app.ui.shell.notification import Notification


class NotificationsDialog(QuestionDialog):
    """List of notifications, the newest first, without their buttons: what these did may not be possible any more."""

    width_in_characters = 60

    def __init__(self, parent: QWidget, notifications: Sequence[Notification]) -> None:
        super().__init__(parent, action_title("notifications"))
        for notification in reversed(notifications):
            self.column.addWidget(_create_entry(notification))
        if not notifications:
            self.add_paragraph(self.tr("Errors and other notifications are listed here until Lethe is closed."))


def _create_entry(notification: Notification) -> QFrame:
    """Create the text of a notification below the time at which it was shown."""
    entry = QFrame()
    column = build_column(spacing=SPACE_1, margins=(0, 0, SPACE_2, 0), parent=entry)
    kind = entry.tr("Error") if notification.is_error else entry.tr("Notification")
    column.addWidget(build_small_label(f"{format_time(notification.time)} · {kind}"))
    for text in filter(None, (notification.text, notification.detail)):
        label = create_text_label(text)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(label)
    if notification.traceback:
        copy = build_button(entry.tr("Copy details"), lambda: QApplication.clipboard().setText(notification.traceback))
        column.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
    return entry
