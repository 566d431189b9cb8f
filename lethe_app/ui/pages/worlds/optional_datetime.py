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
        self.box = QCheckBox(title)
        self.edit = QDateTimeEdit()
        self.edit.setCalendarPopup(True)
        self.edit.setDisplayFormat("d MMM yyyy  HH:mm")
        self.edit.setAccessibleName(title)
        # Emit a change when the input is complete, not for every digit.
        self.edit.setKeyboardTracking(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_3)
        row.addWidget(self.box)
        row.addWidget(self.edit)
        row.addStretch(1)
        self.box.toggled.connect(lambda _on: self._tell())
        self.edit.dateTimeChanged.connect(lambda _moment: self._tell())

    def set_value(self, moment: datetime | None) -> None:
        """Show a value without emitting `changed`."""
        with QSignalBlocker(self.box), QSignalBlocker(self.edit):
            self.box.setChecked(moment is not None)
            self.edit.setDateTime(_shown(moment or now()))
            self.edit.setVisible(moment is not None)

    def _tell(self) -> None:
        on = self.box.isChecked()
        self.edit.setVisible(on)
        self.changed.emit(_meant(self.edit.dateTime()) if on else None)


def _shown(moment: datetime) -> QDateTime:
    """Return the local time, truncated to the minute."""
    seconds = int(moment.timestamp()) // 60 * 60
    return QDateTime.fromSecsSinceEpoch(seconds, QTimeZone(QTimeZone.Initialization.LocalTime))


def _meant(moment: QDateTime) -> datetime:
    return datetime.fromtimestamp(moment.toSecsSinceEpoch(), UTC)
