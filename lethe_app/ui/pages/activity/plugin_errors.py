"""List of plug-in problems at the top of the page: which plug-in failed, why, and a button that enables its task again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.plugins import PluginError
from lethe_app.services.background.runner import DisabledTask
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

PluginProblem = tuple[str, DisabledTask | None]
"""Display text of a problem, and the task that can be enabled again, if it is one that was disabled."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("AwayFaults", text)


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
        *((off.format(task=task.title, plugin=task.plugin, why=task.error).strip(), task) for task in disabled),
        *((text.format(plugin=error.distribution, why=error.reason), None) for text, error in errors),
    ]


class ProblemList(QWidget):
    """List of plug-in problems, one row each; hidden while there are none."""

    enable_requested = Signal(str)
    """Name of the task to enable again."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[PluginProblem] = []
        self._column = build_column(spacing=SPACE_1, parent=self)
        self.setAccessibleName(_tr("Plug-in problems"))
        self.hide()

    def show_problems(self, problems: Sequence[PluginProblem]) -> None:
        if list(problems) != self.problems:
            self.problems = list(problems)
            fill_layout(self._column, [self._build_row(text, task) for text, task in self.problems])
            self.setVisible(bool(self.problems))

    def _build_row(self, text: str, task: DisabledTask | None) -> QWidget:
        row, label = QWidget(), create_text_label(text, "complaint")
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        line = build_row((label, 1), spacing=SPACE_2, parent=row)
        if task is not None:
            button = QPushButton(_tr("Enable again"))
            button.setProperty("chip", True)
            button.setAccessibleName(_tr("Enable “{task}” again").format(task=task.title))
            button.clicked.connect(lambda: self.enable_requested.emit(task.task))
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return row
