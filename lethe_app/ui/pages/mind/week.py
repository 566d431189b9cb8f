"""Card of the weekly schedule: a field for each weekday."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from lethe_app.domain.persona import Weekday
from lethe_app.services.personas.inner_life import MAX_PLAN_CHARACTERS, today
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.theme import set_style_properties
from lethe_app.ui.widgets.text_area import TextAreaField


class WeekFields(QWidget):
    """Seven fields, one per weekday; `plan_edited` is emitted for input of the user only."""

    plan_edited = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: dict[Weekday, TextAreaField] = {}
        self._day_labels: dict[Weekday, QLabel] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE_4)
        grid.setVerticalSpacing(SPACE_2)
        grid.setColumnStretch(1, 1)
        for row, day in enumerate(Weekday):
            title = QLocale().standaloneDayName(row + 1)
            name, field = QLabel(title), TextAreaField(title, min_lines=1, max_lines=4)
            field.edited.connect(lambda text, day=day: self._on_edited(day, text))
            name.setBuddy(field)
            name.setContentsMargins(0, SPACE_2, 0, 0)
            grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(field, row, 1)
            self.fields[day], self._day_labels[day] = field, name
        self.mark_today()

    def mark_today(self) -> None:
        """Highlight the name of the current weekday."""
        for day, name in self._day_labels.items():
            is_today = day is today()
            set_style_properties(name, field=is_today, quiet=not is_today)
            self.fields[day].setPlaceholderText(self.tr("Nothing planned today") if is_today else "")
            self.fields[day].setAccessibleDescription(self.tr("Today") if is_today else "")

    def set_plan(self, day: Weekday, text: str) -> None:
        """Show the schedule of a weekday."""
        self.fields[day].set_text(text)

    def _on_edited(self, day: Weekday, text: str) -> None:
        """Keep the schedule one line, which wraps, and not longer than is stored."""
        plan = text.replace("\n", " ")[:MAX_PLAN_CHARACTERS]
        self.fields[day].set_text(plan)
        self.plan_edited.emit(str(day), plan)
