"""List of plug-in problems at the top of the page: which plug-in failed, why, and a button that enables its task again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.plugins import PluginError
from lethe_app.services.background.runner import DisabledTask
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.labels import build_small_label

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


def task_problems(faults: Iterable[tuple[str, str]]) -> list[PluginProblem]:
    """Return the problems of task plug-ins that could not be loaded, given as (distribution, reason)."""
    text = _tr("A task of the plug-in “{plugin}” was not loaded. {why} Everything else works.")
    return [PluginProblem(text.format(plugin=plugin, why=reason)) for plugin, reason in faults]


def tool_problems(faults: Sequence[PluginError]) -> list[PluginProblem]:
    """Return the problems of tool plug-ins that could not be loaded or that failed in use."""
    not_loaded = _tr("Tools of the plug-in “{plugin}” were not loaded. {why} Everything else works.")
    failed = _tr("The plug-in “{plugin}” failed. {why} The reply was generated without it.")
    return [
        PluginProblem((failed if fault.in_use else not_loaded).format(plugin=fault.distribution, why=fault.reason))
        for fault in faults
    ]


def disabled_problems(disabled: Sequence[DisabledTask]) -> list[PluginProblem]:
    """Return the problems of tasks that were disabled because they failed repeatedly."""
    text = _tr("“{task}” of the plug-in “{plugin}” was disabled because it failed repeatedly. {why}")
    return [
        PluginProblem(text.format(task=task.title, plugin=task.plugin, why=task.error).strip(), task.task, task.title)
        for task in disabled
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
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_1)
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
        row_widget, icon_label, text_label = QWidget(), QLabel(), build_small_label(problem.text)
        icon_label.setFixedSize(ICON, ICON)
        self._warning_icons.append(icon_label)
        text_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout(row_widget)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_2)
        row.addWidget(icon_label, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(text_label, 1)
        if problem.task:
            row.addWidget(self._build_enable_button(problem), 0, Qt.AlignmentFlag.AlignTop)
        return row_widget

    def _build_enable_button(self, problem: PluginProblem) -> QPushButton:
        button = QPushButton(_tr("Enable again"))
        button.setProperty("chip", True)
        button.setAccessibleName(_tr("Enable “{task}” again").format(task=problem.title))
        emit: Callable[[], None] = lambda: self.enable_requested.emit(problem.task)  # noqa: E731 - one for each line
        button.clicked.connect(lambda _checked=False: emit())
        return button
