"""What of other people's plug-ins does not work, above everything else: which one, why, and the way to try it again."""

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
"""Told at once; of more, how many there are."""


def _tr(words: str) -> str:
    return QCoreApplication.translate("AwayFaults", words)


@dataclass(frozen=True)
class PluginProblem:
    """Something that does not work, in words."""

    words: str
    task: str = ""
    """Name of the task that can be switched on again."""
    title: str = ""


def of_tasks(faults: Iterable[tuple[str, str]]) -> list[PluginProblem]:
    """Plug-ins for tasks that could not be loaded: their names, and why."""
    words = _tr("A task of the plug-in “{plugin}” is left out. {why} Everything else works.")
    return [PluginProblem(words.format(plugin=plugin, why=why)) for plugin, why in faults]


def of_tools(faults: Sequence[ToolFault]) -> list[PluginProblem]:
    """Plug-ins for tools that could not be loaded, or broke while they were used."""
    left_out = _tr("Tools of the plug-in “{plugin}” are left out. {why} Everything else works.")
    broke = _tr("The plug-in “{plugin}” is having trouble. {why} The reply came without it.")
    return [PluginProblem((broke if one.in_use else left_out).format(plugin=one.distribution, why=one.words)) for one in faults]


def of_disabled(disabled: Sequence[Disabled]) -> list[PluginProblem]:
    """Tasks that failed so often that they are off."""
    words = _tr("“{task}” of the plug-in “{plugin}” was switched off, for it failed again and again. {why}")
    return [
        PluginProblem(words.format(task=one.title, plugin=one.plugin, why=one.trouble).strip(), one.task, one.title)
        for one in disabled
    ]


class FaultList(QWidget):
    """One line for each; nothing at all while everything works."""

    again_wanted = Signal(str)
    """The task to be switched on again."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: list[PluginProblem] = []
        self._signs: list[QLabel] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_1)
        self.setAccessibleName(_tr("What does not work"))
        self.hide()

    @property
    def words(self) -> list[str]:
        """What is told."""
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
        """Put on the icons in the colours of the theme."""
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
        button = QPushButton(_tr("Switch it on again"))
        button.setProperty("chip", True)
        button.setAccessibleName(_tr("Switch “{task}” on again").format(task=one.title))
        emit: Callable[[], None] = lambda: self.again_wanted.emit(one.task)  # noqa: E731 - one for each line
        button.clicked.connect(lambda _checked=False: emit())
        return button
