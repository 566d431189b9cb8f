"""Date and time field in the local time zone; an optional value has a check box."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QDateTime, QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QDateTimeEdit, QWidget

from lethe_app.domain.clock import now
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.widgets.layouts import build_row
from lethe_app.ui.widgets.wheel import IgnoresWheel


class DateTimeField(QWidget):
    """Date and time field. `changed` carries a time zone aware datetime or None, and is emitted for changes by the user
    only.
    """

    changed = Signal(object)

    def __init__(self, name: str, checkbox_label: str = "") -> None:
        """Set up the field. `checkbox_label` is the label of the check box of an optional value; without it a value is
        required.
        """
        super().__init__()
        self.box = QCheckBox(checkbox_label)
        self.box.toggled.connect(self._on_box_toggled)
        self.edit = _Edit()
        self.edit.setAccessibleName(name)
        self.edit.dateTimeChanged.connect(lambda _moment: self._emit_changed())
        self._is_optional = bool(checkbox_label)
        self._exact_value: datetime | None = None
        build_row(self.box, self.edit, 1, spacing=SPACE_3, parent=self)
        self.box.setVisible(bool(checkbox_label))  # not before it has a parent, or it would be shown as a window
        self.setFocusProxy(self.box if checkbox_label else self.edit)

    @property
    def value(self) -> datetime | None:
        """Return the value, None if it is unset; the original seconds are kept as long as the minute is not changed."""
        if self._is_optional and not self.box.isChecked():
            return None
        shown = datetime.fromtimestamp(self.edit.dateTime().toSecsSinceEpoch()).astimezone()
        return (
            self._exact_value if self._exact_value is not None and _minute_of(self._exact_value) == _minute_of(shown) else shown
        )

    def set_value(self, value: datetime | None) -> None:
        """Show a value without emitting `changed`."""
        with QSignalBlocker(self.box), QSignalBlocker(self.edit):
            self._exact_value = value
            self.box.setChecked(value is not None)
            self.edit.setVisible(value is not None or not self._is_optional)
            if value is not None:
                self.edit.setDateTime(QDateTime.fromSecsSinceEpoch(int(value.timestamp())))

    def _on_box_toggled(self, checked: bool) -> None:
        self.edit.setVisible(checked)
        if checked:
            with QSignalBlocker(self.edit):
                self.edit.setDateTime(QDateTime.fromSecsSinceEpoch(int(now().timestamp())).addDays(7))
        self._emit_changed()

    def _emit_changed(self) -> None:
        self.changed.emit(self.value)


class _Edit(IgnoresWheel, QDateTimeEdit):
    def __init__(self) -> None:
        super().__init__()
        self.setCalendarPopup(True)
        self.setKeyboardTracking(False)  # no signal for a date that is only half typed
        self.setDisplayFormat("d MMM yyyy  HH:mm")


def _minute_of(moment: datetime) -> int:
    return int(moment.timestamp()) // 60
