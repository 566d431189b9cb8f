"""Dialog with the notifications since the program was started, to read again what has faded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QFrame, QWidget

from lethe_app.ui.core.actions import action_title
from lethe_app.ui.core.labels.dates import format_time
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_6
from lethe_app.ui.dialogs.dialogs import GrowingScrollArea, create_close_button, fitting_height
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column

if TYPE_CHECKING:
    from lethe_app.ui.shell.notification import Notification

WIDTH = 460
"""Width of the dialog in pixels."""


class NotificationsDialog(QDialog):
    """List of notifications, the newest first, without their buttons: what these did may not be possible any more."""

    def __init__(self, parent: QWidget, notifications: Sequence[Notification]) -> None:
        super().__init__(parent)
        self.setWindowTitle(action_title("notifications"))
        self._scroll_area = GrowingScrollArea(SPACE_4, lambda: None)
        for notification in reversed(notifications):
            self._scroll_area.column.addWidget(_create_entry(notification))
        if not notifications:
            text = self.tr("Errors and other notifications are listed here until Lethe is closed.")
            self._scroll_area.column.addWidget(create_text_label(text))
        self._scroll_area.column.addStretch(1)
        self._scroll_area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # so that the arrow keys scroll
        self._scroll_area.setAccessibleName(self.windowTitle())
        build_column(
            (self._scroll_area, 1),
            (create_close_button(self), 0, Qt.AlignmentFlag.AlignRight),
            spacing=SPACE_3,
            margins=(SPACE_6, SPACE_4, SPACE_6, SPACE_4),
            parent=self,
        )
        self.resize(WIDTH, fitting_height(self, self._scroll_area, WIDTH))


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
