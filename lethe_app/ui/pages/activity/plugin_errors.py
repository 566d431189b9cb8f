"""List of plug-in problems at the top of the page: which plug-in failed, why, and a button that enables its task again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lethe_app.services.background.plugin_failures import Disabled
from lethe_app.services.tools.plugins import ToolFault
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.page import explanation

MOST = 4
"""Problems that are shown one by one; of the others only the number is shown."""


def _tr(words: str) -> str:
    return QCoreApplication.translate("AwayFaults", words)


@dataclass(frozen=True)
class PluginProblem:
    """Problem of a plug-in as display text."""

    words: str
    task: str = ""
    """Name of the disabled task that can be enabled again; empty for other problems."""
    title: str = ""


def of_tasks(faults: Iterable[tuple[str, str]]) -> list[PluginProblem]:
    """Return the problems of task plug-ins that could not be loaded, given as (distribution, reason)."""
    words = _tr("A task of the plug-in “{plugin}” was not loaded. {why} Everything else works.")
    return [PluginProblem(words.format(plugin=plugin, why=why)) for plugin, why in faults]


def of_tools(faults: Sequence[ToolFault]) -> list[PluginProblem]:
    """Return the problems of tool plug-ins that could not be loaded or that failed in use."""
    left_out = _tr("Tools of the plug-in “{plugin}” were not loaded. {why} Everything else works.")
    broke = _tr("The plug-in “{plugin}” failed. {why} The reply was generated without it.")
    return [PluginProblem((broke if one.in_use else left_out).format(plugin=one.distribution, why=one.words)) for one in faults]


def of_disabled(disabled: Sequence[Disabled]) -> list[PluginProblem]:
    """Return the problems of tasks that were disabled because they failed repeatedly."""
    words = _tr("“{task}” of the plug-in “{plugin}” was disabled because it failed repeatedly. {why}")
    return [
        PluginProblem(words.format(task=one.title, plugin=one.plugin, why=one.trouble).strip(), one.task, one.title)
        for one in disabled
    ]


class FaultList(QWidget):
    """List of plug-in problems, one row each; hidden while there are none."""

    again_wanted = Signal(str)
    """Name of the task to enable again."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: list[PluginProblem] = []
        self._signs: list[QLabel] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_1)
        self.setAccessibleName(_tr("Plug-in problems"))
        self.hide()

    @property
    def words(self) -> list[str]:
        """Display texts of all current problems."""
        return [one.words for one in self._shown]

    def show_troubles(self, troubles: Sequence[PluginProblem]) -> None:
        if list(troubles) == self._shown:
            return
        self._shown = list(troubles)
        self._signs.clear()
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for one in self._shown[:MOST]:
            self._column.addWidget(self._line(one))
        if len(self._shown) > MOST:
            self._column.addWidget(explanation(_tr("And {n} more.").format(n=len(self._shown) - MOST)))
        self.dress()
        self.setVisible(bool(self._shown))

    def dress(self) -> None:
        """Apply the theme's colour to the warning icons."""
        drawing = icon("warning", self._theme.palette.danger).pixmap(QSize(ICON, ICON))
        for sign in self._signs:
            sign.setPixmap(drawing)

    def _line(self, one: PluginProblem) -> QWidget:
        whole, sign, words = QWidget(), QLabel(), explanation(one.words)
        sign.setFixedSize(ICON, ICON)
        self._signs.append(sign)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_2)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(words, 1)
        if one.task:
            row.addWidget(self._again(one), 0, Qt.AlignmentFlag.AlignTop)
        return whole

    def _again(self, one: PluginProblem) -> QPushButton:
        button = QPushButton(_tr("Enable again"))
        button.setProperty("chip", True)
        button.setAccessibleName(_tr("Enable “{task}” again").format(task=one.title))
        emit: Callable[[], None] = lambda: self.again_wanted.emit(one.task)  # noqa: E731 - one for each line
        button.clicked.connect(lambda _checked=False: emit())
        return button
