"""Optional date and time field."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QDateTime, QSignalBlocker, QTimeZone, Signal
from PySide6.QtWidgets import QCheckBox, QDateTimeEdit, QHBoxLayout, QWidget

from lethe_app.domain.clock import now
from lethe_app.ui.core.palette import SPACE_3


class OptionalDateTimeField(QWidget):
    """Check box with a date and time; `changed` carries the new value or None, and is emitted for input of the user only."""

    changed = Signal(object)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.check_box = QCheckBox(title)
        self.date_edit = QDateTimeEdit()
        self.date_edit.setCalendarPopup(True)
        self.date_edit.setDisplayFormat("d MMM yyyy  HH:mm")
        self.date_edit.setAccessibleName(title)
        # Emit a change when the input is complete, not for every digit.
        self.date_edit.setKeyboardTracking(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_3)
        row.addWidget(self.check_box)
        row.addWidget(self.date_edit)
        row.addStretch(1)
        self.check_box.toggled.connect(lambda _on: self._emit_changed())
        self.date_edit.dateTimeChanged.connect(lambda _moment: self._emit_changed())

    def set_value(self, moment: datetime | None) -> None:
        """Show a value without emitting `changed`."""
        with QSignalBlocker(self.check_box), QSignalBlocker(self.date_edit):
            self.check_box.setChecked(moment is not None)
            self.date_edit.setDateTime(_to_qt_datetime(moment or now()))
            self.date_edit.setVisible(moment is not None)

    def _emit_changed(self) -> None:
        is_set = self.check_box.isChecked()
        self.date_edit.setVisible(is_set)
        self.changed.emit(_to_datetime(self.date_edit.dateTime()) if is_set else None)


def _to_qt_datetime(moment: datetime) -> QDateTime:
    """Return the local time, truncated to the minute."""
    seconds = int(moment.timestamp()) // 60 * 60
    return QDateTime.fromSecsSinceEpoch(seconds, QTimeZone(QTimeZone.Initialization.LocalTime))


def _to_datetime(moment: QDateTime) -> datetime:
    return datetime.fromtimestamp(moment.toSecsSinceEpoch(), UTC)
