"""Columns of the list of sessions, and the chips that filter it by marks."""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale, QObject

from lethe_app.domain.list_items import DescriptionAuthor, SessionLine
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.record_page.filters import Chip, ChipFilter
from lethe_app.ui.pages.sessions.labels import format_line_marks, format_maker, session_title
from lethe_app.ui.widgets.table_model import Column

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


def build_mark_filter(parent: QObject) -> ChipFilter[SessionLine]:
    """Return the chips for marks, all of which a session has to have."""
    tr = QCoreApplication.translate
    chips = [
        Chip(
            SessionMark.ROLEPLAY,
            tr("Session", "Roleplay"),
            attrgetter("is_roleplay"),
            tr("Session", "Show only conversations in character"),
        ),
        Chip(
            SessionMark.STICKY,
            tr("Session", "Always included"),
            attrgetter("sticky"),
            tr("Session", "Show only conversations that are in every prompt"),
        ),
        Chip(
            SessionMark.PROTECTED,
            tr("Session", "Protected"),
            attrgetter("protected"),
            tr("Session", "Show only conversations that nothing but you changes or removes"),
        ),
        Chip(
            SessionMark.OPEN,
            tr("Session", "Open"),
            lambda line: not line.archived,
            tr("Session", "Show only conversations that have not ended yet"),
        ),
        Chip(
            SessionMark.MINE,
            tr("Session", "Edited by you"),
            lambda line: line.maker is DescriptionAuthor.USER,
            tr("Session", "Show only conversations whose summary you have changed"),
        ),
        Chip(
            SessionMark.FAILED,
            tr("Session", "Incomplete"),
            lambda line: bool(line.failed),
            tr("Session", "Show only conversations of which a part could not be written"),
        ),
    ]
    return ChipFilter(chips, parent=parent)


def build_columns(theme: Theme) -> list[Column[SessionLine]]:
    """Return the columns of the list of sessions."""
    tr = QCoreApplication.translate

    def row_icon(line: SessionLine) -> Any:  # noqa: ANN401 - Qt's own type
        return load_icon("pin" if line.sticky else "thought", theme.palette.amber if line.sticky else theme.palette.muted)

    def title_colour(line: SessionLine) -> str:
        return "" if line.name else theme.palette.muted

    def status_colour(line: SessionLine) -> str:
        return theme.palette.danger if line.failed else theme.palette.muted

    def relevance(line: SessionLine) -> str:
        """Return the importance if it is above that of most sessions; empty otherwise, so that the column says something."""
        return f"{line.relevance} / {MAX_RELEVANCE}" if line.relevance >= MIN_SHOWN_RELEVANCE else ""

    return [
        Column(tr("Session", "Conversation"), session_title, width=0, min_width=300, colour=title_colour, icon=row_icon),
        Column(tr("Session", "Last active"), lambda line: format_date(line.last), attrgetter("last"), width=112, hides_at=5),
        Column(
            tr("Session", "Messages"),
            lambda line: QLocale().toString(line.messages),
            attrgetter("messages"),
            width=98,
            hides_at=4,
            is_right_aligned=True,
        ),
        Column(
            tr("Session", "Importance"),
            relevance,
            attrgetter("relevance"),
            width=96,
            hides_at=1,
            is_optional=True,
            is_right_aligned=True,
        ),
        Column(tr("Session", "Status"), format_line_marks, width=150, hides_at=3, is_optional=True, colour=status_colour),
        Column(
            tr("Session", "Summary"),
            lambda line: format_maker(line.maker),
            attrgetter("maker"),
            width=112,
            hides_at=2,
            is_optional=True,
        ),
    ]
