"""Table model of sessions: its columns, and the filter chips for marks."""

from __future__ import annotations

from collections.abc import Callable, Set
from enum import StrEnum
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.list_items import Maker, SessionLine
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.memories.labels import day_of
from lethe_app.ui.pages.sessions.labels import maker_in_words, marks_in_words, title_of
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

TITLE, LAST, MESSAGES, RELEVANCE, MARKS, BY = range(6)
WIDTHS = {LAST: 112, MESSAGES: 98, RELEVANCE: 96, MARKS: 150, BY: 112}
DISPENSABLE = (LAST, MESSAGES, MARKS, BY, RELEVANCE)
"""Columns that a narrow table hides, the last one first."""
TITLE_WIDTH = 200


class Mark(StrEnum):
    """Property of a session that can be filtered by."""

    ROLEPLAY = "roleplay"
    STICKY = "sticky"
    PROTECTED = "protected"
    OPEN = "open"
    MINE = "mine"
    FAILED = "failed"


TESTS: dict[Mark, Callable[[SessionLine], bool]] = {
    Mark.ROLEPLAY: lambda line: line.is_roleplay,
    Mark.STICKY: lambda line: line.sticky,
    Mark.PROTECTED: lambda line: line.protected,
    Mark.OPEN: lambda line: not line.archived,
    Mark.MINE: lambda line: line.maker is Maker.USER,
    Mark.FAILED: lambda line: bool(line.failed),
}


def mark_in_words(mark: Mark) -> str:
    """Return the label of a mark's chip."""
    tr = QCoreApplication.translate
    return {
        Mark.ROLEPLAY: tr("Session", "Roleplay"),
        Mark.STICKY: tr("Session", "Always included"),
        Mark.PROTECTED: tr("Session", "Protected"),
        Mark.OPEN: tr("Session", "Open"),
        Mark.MINE: tr("Session", "Edited by you"),
        Mark.FAILED: tr("Session", "Incomplete"),
    }[mark]


def keeper(marks: Set[Mark]) -> Callable[[SessionLine], bool] | None:
    """Return the predicate for sessions with all of the marks; None if there are none."""
    wanted = [TESTS[mark] for mark in marks]
    return (lambda line: all(test(line) for test in wanted)) if wanted else None


def rows_of(theme: Theme) -> FilteredTableModel[SessionLine]:
    """Return the empty table model of sessions."""
    tr = QCoreApplication.translate

    def sign(line: SessionLine) -> Any:  # noqa: ANN401 - Qt's own type
        return icon("pin" if line.sticky else "thought", theme.palette.amber if line.sticky else theme.palette.muted)

    def shade(line: SessionLine) -> str:
        return "" if line.name else theme.palette.muted

    def alarm(line: SessionLine) -> str:
        return theme.palette.danger if line.failed else theme.palette.muted

    columns = [
        Column[SessionLine](tr("Session", "Conversation"), title_of, width=0, colour=shade, icon=sign),
        Column[SessionLine](tr("Session", "Last active"), _last, sort_key=attrgetter("last"), width=WIDTHS[LAST]),
        Column[SessionLine](
            tr("Session", "Messages"), _messages, sort_key=attrgetter("messages"), width=WIDTHS[MESSAGES], right=True
        ),
        Column[SessionLine](
            tr("Session", "Importance"), _relevance, sort_key=attrgetter("relevance"), width=WIDTHS[RELEVANCE], right=True
        ),
        Column[SessionLine](tr("Session", "Status"), marks_in_words, width=WIDTHS[MARKS], colour=alarm),
        Column[SessionLine](tr("Session", "Source"), _by, sort_key=attrgetter("maker"), width=WIDTHS[BY]),
    ]
    return FilteredTableModel(columns, key=attrgetter("guid"), searched=attrgetter("searched"), is_folded=True)


def _last(line: SessionLine) -> str:
    return day_of(line.last)


def _messages(line: SessionLine) -> str:
    return QLocale().toString(line.messages)


def _relevance(line: SessionLine) -> str:
    return str(line.relevance)


def _by(line: SessionLine) -> str:
    return maker_in_words(line.maker)


class MarkChips(QWidget):
    """Filter chips for marks; if none is checked, all sessions are listed."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        flow = Flow(self, spacing=SPACE_1)
        self.chips: dict[Mark, QPushButton] = {}
        for mark in Mark:
            chip = self.chips[mark] = QPushButton(mark_in_words(mark))
            chip.setProperty("chip", True)
            chip.setCheckable(True)
            chip.toggled.connect(lambda _on: self.changed.emit())
            flow.addWidget(chip)

    @property
    def marks(self) -> set[Mark]:
        return {mark for mark, chip in self.chips.items() if chip.isChecked()}

    def turn_off(self) -> None:
        for chip in self.chips.values():
            chip.setChecked(False)
