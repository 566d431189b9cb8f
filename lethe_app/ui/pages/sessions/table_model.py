"""Table model of sessions: its columns, and the filter chips for marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from enum import StrEnum
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.list_items import DescriptionAuthor, SessionLine
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.sessions.labels import format_line_marks, format_maker, session_title
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

TITLE, LAST_ACTIVE, MESSAGES, RELEVANCE, MARKS, AUTHOR = range(6)
WIDTHS = {LAST_ACTIVE: 112, MESSAGES: 98, RELEVANCE: 96, MARKS: 150, AUTHOR: 112}
HIDEABLE_COLUMNS = (LAST_ACTIVE, MESSAGES, MARKS, AUTHOR, RELEVANCE)
"""Columns that a narrow table hides, the last one first."""
OPTIONAL_COLUMNS = (RELEVANCE, MARKS, AUTHOR)
MIN_TITLE_WIDTH = 300
MIN_SHOWN_RELEVANCE, MAX_RELEVANCE = 3, 5
"""Lowest relevance that the list shows, and the highest there is."""


class SessionMark(StrEnum):
    """Property of a session that can be filtered by."""

    ROLEPLAY = "roleplay"
    STICKY = "sticky"
    PROTECTED = "protected"
    OPEN = "open"
    MINE = "mine"
    FAILED = "failed"


MARK_TESTS: dict[SessionMark, Callable[[SessionLine], bool]] = {
    SessionMark.ROLEPLAY: lambda line: line.is_roleplay,
    SessionMark.STICKY: lambda line: line.sticky,
    SessionMark.PROTECTED: lambda line: line.protected,
    SessionMark.OPEN: lambda line: not line.archived,
    SessionMark.MINE: lambda line: line.maker is DescriptionAuthor.USER,
    SessionMark.FAILED: lambda line: bool(line.failed),
}


def format_session_mark(mark: SessionMark) -> str:
    """Return the label of a mark's chip."""
    tr = QCoreApplication.translate
    return {
        SessionMark.ROLEPLAY: tr("Session", "Roleplay"),
        SessionMark.STICKY: tr("Session", "Always included"),
        SessionMark.PROTECTED: tr("Session", "Protected"),
        SessionMark.OPEN: tr("Session", "Open"),
        SessionMark.MINE: tr("Session", "Edited by you"),
        SessionMark.FAILED: tr("Session", "Incomplete"),
    }[mark]


def _explain_mark(mark: SessionMark) -> str:
    tr = QCoreApplication.translate
    return {
        SessionMark.ROLEPLAY: tr("Session", "Show only conversations in character"),
        SessionMark.STICKY: tr("Session", "Show only conversations that are in every prompt"),
        SessionMark.PROTECTED: tr("Session", "Show only conversations that nothing but you changes or removes"),
        SessionMark.OPEN: tr("Session", "Show only conversations that have not ended yet"),
        SessionMark.MINE: tr("Session", "Show only conversations whose summary you have changed"),
        SessionMark.FAILED: tr("Session", "Show only conversations of which a part could not be written"),
    }[mark]


def mark_predicate(marks: Set[SessionMark]) -> Callable[[SessionLine], bool] | None:
    """Return the predicate for sessions with all of the marks; None if there are none."""
    required_tests = [MARK_TESTS[mark] for mark in marks]
    return (lambda line: all(test(line) for test in required_tests)) if required_tests else None


def build_session_rows(theme: Theme) -> FilteredTableModel[SessionLine]:
    """Return the empty table model of sessions."""
    tr = QCoreApplication.translate

    def row_icon(line: SessionLine) -> Any:  # noqa: ANN401 - Qt's own type
        return load_icon("pin" if line.sticky else "thought", theme.palette.amber if line.sticky else theme.palette.muted)

    def title_colour(line: SessionLine) -> str:
        return "" if line.name else theme.palette.muted

    def status_colour(line: SessionLine) -> str:
        return theme.palette.danger if line.failed else theme.palette.muted

    columns = [
        Column[SessionLine](tr("Session", "Conversation"), session_title, width=0, colour=title_colour, icon=row_icon),
        Column[SessionLine](tr("Session", "Last active"), _last_active, sort_key=attrgetter("last"), width=WIDTHS[LAST_ACTIVE]),
        Column[SessionLine](
            tr("Session", "Messages"),
            _message_count,
            sort_key=attrgetter("messages"),
            width=WIDTHS[MESSAGES],
            is_right_aligned=True,
        ),
        Column[SessionLine](
            tr("Session", "Importance"),
            _relevance,
            sort_key=attrgetter("relevance"),
            width=WIDTHS[RELEVANCE],
            is_right_aligned=True,
        ),
        Column[SessionLine](tr("Session", "Status"), format_line_marks, width=WIDTHS[MARKS], colour=status_colour),
        Column[SessionLine](tr("Session", "Summary"), _author, sort_key=attrgetter("maker"), width=WIDTHS[AUTHOR]),
    ]
    return FilteredTableModel(columns, key=attrgetter("guid"), search_text=attrgetter("searched"), is_casefolded=True)


def _last_active(line: SessionLine) -> str:
    return format_date(line.last)


def _message_count(line: SessionLine) -> str:
    return QLocale().toString(line.messages)


def _relevance(line: SessionLine) -> str:
    """Return the importance if it is above that of most sessions; empty otherwise, so that the column says something."""
    return f"{line.relevance} / {MAX_RELEVANCE}" if line.relevance >= MIN_SHOWN_RELEVANCE else ""


def _author(line: SessionLine) -> str:
    return format_maker(line.maker)


class MarkChips(QWidget):
    """Filter chips for marks; if none is checked, all sessions are listed."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        flow = FlowLayout(self, spacing=SPACE_1)
        self.chips: dict[SessionMark, QPushButton] = {}
        for mark in SessionMark:
            chip = self.chips[mark] = build_chip(format_session_mark(mark), _explain_mark(mark))
            chip.toggled.connect(lambda _on: self.changed.emit())
            flow.addWidget(chip)

    def show_applicable(self, lines: Sequence[SessionLine]) -> None:
        """Show the chips of the marks that some of the sessions have and others have not."""
        for mark, chip in self.chips.items():
            count = sum(map(MARK_TESTS[mark], lines))
            chip.setVisible(chip.isChecked() or 0 < count < len(lines))

    @property
    def selected_marks(self) -> set[SessionMark]:
        return {mark for mark, chip in self.chips.items() if chip.isChecked()}

    def uncheck_all(self) -> None:
        for chip in self.chips.values():
            chip.setChecked(False)
