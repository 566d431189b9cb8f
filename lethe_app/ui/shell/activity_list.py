"""List of background tasks with their progress and a button to stop or resume each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton, QSizePolicy, QWidget

from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import ElidedButton, build_button
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

LIST_WIDTH = 340


@dataclass(frozen=True)
class ActivityItem:
    """A background task, running or paused."""

    key: str
    title: str
    detail: str = ""
    fraction: float | None = None
    """Progress from 0 to 1; None if it is unknown."""
    button: str = ""
    """Label of the button: “Stop”, “Pause” or “Go on”."""
    on_click: Callable[[], None] | None = None
    is_paused: bool = False


class ActivityButton(ElidedButton):
    """Button that shows the number of running tasks and opens the list; hidden without tasks."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(padding=2 * SPACE_4, min_width=0)
        self._theme = theme
        self._activities: tuple[ActivityItem, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # a long text must not widen the sidebar
        self.activity_list = ActivityList(self)
        self.setProperty("quiet", True)
        self.clicked.connect(self._open_list)
        self.hide()

    def show_activities(self, activities: Sequence[ActivityItem]) -> None:
        """Replace all activities."""
        if tuple(activities) == self._activities:
            return
        self._activities = tuple(activities)
        running = [one for one in self._activities if not one.is_paused]
        words = format_count(len(running), self.tr("{n} task running"), self.tr("{n} tasks running"))
        self.set_full_text(running[0].title if len(running) == 1 else words if running else self.tr("Paused"))
        self.setToolTip(self.full_text)
        self.setAccessibleName(self.tr("Background tasks: {words}").format(words=self.full_text))
        self.setVisible(bool(self._activities))
        self.activity_list.show_activities(self._activities)
        if not self._activities:
            self.activity_list.hide()

    def _open_list(self) -> None:
        self.activity_list.adjustSize()
        corner = self.mapToGlobal(QPoint(0, 0))
        self.activity_list.move(corner.x(), corner.y() - self.activity_list.sizeHint().height() - SPACE_2)
        self.activity_list.show()
        for button in self.activity_list.findChildren(QPushButton)[:1]:
            button.setFocus()


class ActivityList(QFrame):
    """Popup with the tasks; Esc or a click outside closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("activities")
        self.setAccessibleName(self.tr("Background tasks"))
        self.setFixedWidth(LIST_WIDTH)
        self._rows: dict[str, ActivityRow] = {}
        self._column = build_column(spacing=SPACE_4, margins=(SPACE_4, SPACE_3, SPACE_4, SPACE_3), parent=self)

    def show_activities(self, activities: Sequence[ActivityItem]) -> None:
        """Update the list; the row of a task that is still there keeps its position."""
        for key in [key for key in self._rows if key not in {activity.key for activity in activities}]:
            row = self._rows.pop(key)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for one in activities:
            if one.key not in self._rows:
                self._rows[one.key] = ActivityRow()
                self._column.addWidget(self._rows[one.key])
            self._rows[one.key].show_activity(one)
        if self.isVisible():
            self.adjustSize()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)


class ActivityRow(QWidget):
    """Row with title, detail, progress bar and button of a task."""

    def __init__(self) -> None:
        super().__init__()
        self._on_click: Callable[[], None] | None = None
        self.title, self.detail = create_text_label("", "field"), create_text_label("", "small")
        self.progress_bar = QProgressBar()
        self.progress_bar.setTextVisible(False)
        self.button = build_button("", lambda: self._on_click() if self._on_click is not None else None)
        text_column = build_column(self.title, self.detail, self.progress_bar, spacing=SPACE_2)
        build_row((text_column, 1), (self.button, 0, Qt.AlignmentFlag.AlignTop), spacing=SPACE_3, parent=self)

    def show_activity(self, activity: ActivityItem) -> None:
        self.title.setText(activity.title)
        self.detail.setText(activity.detail)
        self.detail.setVisible(bool(activity.detail))
        self.progress_bar.setVisible(not activity.is_paused)
        self.progress_bar.setRange(0, 0 if activity.fraction is None else 1000)
        self.progress_bar.setValue(round((activity.fraction or 0.0) * 1000))
        self.progress_bar.setAccessibleName(activity.title)
        self._on_click = activity.on_click
        self.button.setText(activity.button)
        self.button.setAccessibleName(f"{activity.button}: {activity.title}")
        self.button.setVisible(activity.on_click is not None)
