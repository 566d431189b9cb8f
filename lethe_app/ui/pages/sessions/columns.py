"""Columns of the list of sessions, the chips that filter it by marks, and the display texts of sessions."""

from __future__ import annotations

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


def tr(text: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("Session", text)


def format_part(part: SessionPart) -> str:
    """Return the display name of a session part, such as “Title” or “Summary”."""
    return {
        SessionPart.TITLE: tr("Title"),
        SessionPart.SUMMARY: tr("Summary"),
        SessionPart.KEYWORDS: tr("Keywords"),
        SessionPart.GOALS: tr("Plans"),
        SessionPart.RELEVANCE: tr("Importance"),
        SessionPart.ROLEPLAY: tr("Roleplay"),
        SessionPart.FACTS: tr("Facts"),
    }[part]


def format_part_record(record: PartRecord | None) -> str:
    """Return the author of a part, and whether generation is pending or has failed."""
    if record is None:
        return tr("not generated yet")
    author = {
        MadeBy.RULES: tr("extracted from the messages"),
        MadeBy.MODEL: tr("by {model}").format(model=record.maker or tr("a model")),
        MadeBy.USER: tr("by you"),
    }[record.made_by]
    if record.state is PartState.PENDING:
        return tr("{by}; a model can improve it").format(by=author)
    if record.state is PartState.FAILED:
        return tr("{by}; the model failed").format(by=author)
    return author


def format_maker(maker: DescriptionAuthor) -> str:
    """Return the author of the summary for a column; empty if there is none yet, or if it is made of the messages' words."""
    return {DescriptionAuthor.MODEL: tr("by a model"), DescriptionAuthor.USER: tr("by you")}.get(maker, "")


def format_line_marks(line: SessionLine) -> str:
    """Return the marks of a session for a column."""
    marks = [
        (line.is_roleplay, tr("roleplay")),
        (line.sticky, tr("always included")),
        (line.protected, tr("protected")),
        (not line.archived, tr("open")),
        (bool(line.failed), tr("incomplete")),
    ]
    return ", ".join(words for is_set, words in marks if is_set)


def session_title(line: SessionLine) -> str:
    """Return the session's title, else the beginning of its first message."""
    return format_session_title(line.name or line.first_words)


MIN_SHOWN_RELEVANCE, MAX_RELEVANCE = 3, 5
"""Lowest relevance that the list shows, and the highest there is."""


def build_mark_filter(parent: QObject) -> ChipFilter[SessionLine]:
    """Return the chips for marks, all of which a session has to have."""
    chips = [
        Chip("roleplay", tr("Roleplay"), attrgetter("is_roleplay"), tr("Show only conversations in character")),
        Chip("sticky", tr("Always included"), attrgetter("sticky"), tr("Show only conversations that are in every prompt")),
        Chip(
            "protected",
            tr("Protected"),
            attrgetter("protected"),
            tr("Show only conversations that nothing but you changes or removes"),
        ),
        Chip("open", tr("Open"), lambda line: not line.archived, tr("Show only conversations that have not ended yet")),
        Chip(
            "mine",
            tr("Edited by you"),
            lambda line: line.maker is DescriptionAuthor.USER,
            tr("Show only conversations whose summary you have changed"),
        ),
        Chip(
            "failed",
            tr("Incomplete"),
            lambda line: bool(line.failed),
            tr("Show only conversations of which a part could not be written"),
        ),
    ]
    return ChipFilter(chips, parent=parent)


def build_columns(theme: Theme) -> list[Column[SessionLine]]:
    """Return the columns of the list of sessions."""

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
        Column(tr("Conversation"), session_title, width=0, min_width=300, colour=title_colour, icon=row_icon),
        Column(tr("Last active"), lambda line: format_date(line.last), attrgetter("last"), width=112, hides_at=5),
        Column(
            tr("Messages"),
            lambda line: QLocale().toString(line.messages),
            attrgetter("messages"),
            width=98,
            hides_at=4,
            is_right_aligned=True,
        ),
        Column(
            tr("Importance"), relevance, attrgetter("relevance"), width=96, hides_at=1, is_optional=True, is_right_aligned=True
        ),
        Column(tr("Status"), format_line_marks, width=150, hides_at=3, is_optional=True, colour=status_colour),
        Column(
            tr("Summary"), lambda line: format_maker(line.maker), attrgetter("maker"), width=112, hides_at=2, is_optional=True
        ),
    ]
