"""List of plug-in problems at the top of the page: which plug-in failed, why, and a button that enables its task again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from lethe_app.plugins import PluginError
from lethe_app.services.background.runner import DisabledTask
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row

MAX_PROBLEMS = 4
"""Problems that are shown one by one; of the others only the number is shown."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("AwayFaults", text)


@dataclass(frozen=True)
class PluginProblem:
    """Problem of a plug-in as display text."""

    text: str
    task: str = ""
    """Name of the disabled task that can be enabled again; empty for other problems."""
    title: str = ""


def list_problems(
    disabled: Iterable[DisabledTask], task_errors: Iterable[PluginError], tool_errors: Iterable[PluginError]
) -> list[PluginProblem]:
    """Return the problems of tasks that were disabled because they failed repeatedly, and of task and tool plug-ins that could
    not be loaded or that failed in use.
    """
    off = _tr("“{task}” of the plug-in “{plugin}” was disabled because it failed repeatedly. {why}")
    no_task = _tr("A task of the plug-in “{plugin}” was not loaded. {why} Everything else works.")
    no_tools = _tr("Tools of the plug-in “{plugin}” were not loaded. {why} Everything else works.")
    failed = _tr("The plug-in “{plugin}” failed. {why} The reply was generated without it.")
    errors = [(no_task, error) for error in task_errors]
    errors += [(failed if error.in_use else no_tools, error) for error in tool_errors]
    return [
        *(
            PluginProblem(off.format(task=task.title, plugin=task.plugin, why=task.error).strip(), task.task, task.title)
            for task in disabled
        ),
        *(PluginProblem(text.format(plugin=error.distribution, why=error.reason)) for text, error in errors),
    ]


class FaultList(QWidget):
    """List of plug-in problems, one row each; hidden while there are none."""

    enable_requested = Signal(str)
    """Name of the task to enable again."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._problems: list[PluginProblem] = []
        self._warning_icons: list[QLabel] = []
        self._column = build_column(spacing=SPACE_1, parent=self)
        self.setAccessibleName(_tr("Plug-in problems"))
        self.hide()

    @property
    def problem_texts(self) -> list[str]:
        """Display texts of all current problems."""
        return [problem.text for problem in self._problems]

    def show_problems(self, problems: Sequence[PluginProblem]) -> None:
        if list(problems) == self._problems:
            return
        self._problems = list(problems)
        self._warning_icons.clear()
        rows = [self._build_row(problem) for problem in self._problems[:MAX_PROBLEMS]]
        if len(self._problems) > MAX_PROBLEMS:
            rows.append(build_small_label(_tr("And {n} more.").format(n=len(self._problems) - MAX_PROBLEMS)))
        fill_layout(self._column, rows)
        self.apply_theme()
        self.setVisible(bool(self._problems))

    def apply_theme(self) -> None:
        """Apply the theme's colour to the warning icons."""
        pixmap = load_icon("warning", self._theme.palette.danger).pixmap(QSize(ICON, ICON))
        for label in self._warning_icons:
            label.setPixmap(pixmap)

    def _build_row(self, problem: PluginProblem) -> QWidget:
        row, icon_label, text_label = QWidget(), QLabel(), build_small_label(problem.text)
        icon_label.setFixedSize(ICON, ICON)
        self._warning_icons.append(icon_label)
        text_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        top = Qt.AlignmentFlag.AlignTop
        line = build_row((icon_label, 0, top), (text_label, 1), spacing=SPACE_2, parent=row)
        if problem.task:
            button = QPushButton(_tr("Enable again"))
            button.setProperty("chip", True)
            button.setAccessibleName(_tr("Enable “{task}” again").format(task=problem.title))
            button.clicked.connect(lambda _checked=False: self.enable_requested.emit(problem.task))
            line.addWidget(button, 0, top)
        return row
