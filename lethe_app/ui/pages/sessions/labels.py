"""Display texts of session parts, their authors, and marks."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.chat import PartRecord, PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.list_items import DescriptionAuthor, SessionLine
from lethe_app.ui.core.formatting import format_session_title


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
