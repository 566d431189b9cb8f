"""Columns of the list of sessions, the chips that filter it by marks, and the display texts of sessions."""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale, QObject

from lethe_app.domain.chat import PartRecord, PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.list_items import DescriptionAuthor, SessionLine
from lethe_app.ui.core.formatting import format_session_title
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.record_page.filters import Chip, ChipFilter
from lethe_app.ui.widgets.table_model import Column


def format_part(part: SessionPart) -> str:
    """Return the display name of a session part, such as “Title” or “Summary”."""
    tr = QCoreApplication.translate
    return {
        SessionPart.TITLE: tr("Session", "Title"),
        SessionPart.SUMMARY: tr("Session", "Summary"),
        SessionPart.KEYWORDS: tr("Session", "Keywords"),
        SessionPart.GOALS: tr("Session", "Plans"),
        SessionPart.RELEVANCE: tr("Session", "Importance"),
        SessionPart.ROLEPLAY: tr("Session", "Roleplay"),
        SessionPart.FACTS: tr("Session", "Facts"),
    }[part]


def format_part_record(record: PartRecord | None) -> str:
    """Return the author of a part, and whether generation is pending or has failed."""
    tr = QCoreApplication.translate
    if record is None:
        return tr("Session", "not generated yet")
    author = {
        MadeBy.RULES: tr("Session", "extracted from the messages"),
        MadeBy.MODEL: tr("Session", "by {model}").format(model=record.maker or tr("Session", "a model")),
        MadeBy.USER: tr("Session", "by you"),
    }[record.made_by]
    if record.state is PartState.PENDING:
        return tr("Session", "{by}; a model can improve it").format(by=author)
    if record.state is PartState.FAILED:
        return tr("Session", "{by}; the model failed").format(by=author)
    return author


def format_maker(maker: DescriptionAuthor) -> str:
    """Return the author of the summary for a column; empty if there is none yet, or if it is made of the messages' words."""
    tr = QCoreApplication.translate
    return {
        DescriptionAuthor.NOBODY: "",
        DescriptionAuthor.RULES: "",
        DescriptionAuthor.MODEL: tr("Session", "by a model"),
        DescriptionAuthor.USER: tr("Session", "by you"),
    }[maker]


def format_line_marks(line: SessionLine) -> str:
    """Return the marks of a session for a column."""
    tr = QCoreApplication.translate
    marks = [
        (line.is_roleplay, tr("Session", "roleplay")),
        (line.sticky, tr("Session", "always included")),
        (line.protected, tr("Session", "protected")),
        (not line.archived, tr("Session", "open")),
        (bool(line.failed), tr("Session", "incomplete")),
    ]
    return ", ".join(words for is_set, words in marks if is_set)


def session_title(line: SessionLine) -> str:
    """Return the session's title, else the beginning of its first message."""
    return format_session_title(line.name or line.first_words)


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
