"""What the parts of a conversation, their makers and its marks are called in the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from lethe_app.domain.chat import PartRecord, PartState, SessionPart
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.list_items import Maker, SessionLine


def part_in_words(part: SessionPart) -> str:
    """“Title”, “Summary”."""
    tr = QCoreApplication.translate
    return {
        SessionPart.TITLE: tr("Session", "Title"),
        SessionPart.SUMMARY: tr("Session", "What it was about"),
        SessionPart.KEYWORDS: tr("Session", "Keywords"),
        SessionPart.GOALS: tr("Session", "What is planned"),
        SessionPart.RELEVANCE: tr("Session", "How much it matters"),
        SessionPart.ROLEPLAY: tr("Session", "A story that is played"),
        SessionPart.FACTS: tr("Session", "Facts"),
    }[part]


def record_in_words(record: PartRecord | None) -> str:
    """Who made what stands there, and what is still to come."""
    tr = QCoreApplication.translate
    if record is None:
        return tr("Session", "not written yet")
    by = {
        MadeBy.RULES: tr("Session", "taken from the talk"),
        MadeBy.MODEL: tr("Session", "by {model}").format(model=record.maker or tr("Session", "a model")),
        MadeBy.USER: tr("Session", "in your words"),
    }[record.made_by]
    if record.state is PartState.PENDING:
        return tr("Session", "{by}, a model may do better").format(by=by)
    if record.state is PartState.FAILED:
        return tr("Session", "{by}, the model could not").format(by=by)
    return by


def maker_in_words(maker: Maker) -> str:
    """Who told what it was about, for a column."""
    tr = QCoreApplication.translate
    return {
        Maker.NOBODY: tr("Session", "nobody yet"),
        Maker.RULES: tr("Session", "the talk itself"),
        Maker.MODEL: tr("Session", "the model"),
        Maker.USER: tr("Session", "you"),
    }[maker]


def marks_in_words(line: SessionLine) -> str:
    """What is special about it, for a column."""
    tr = QCoreApplication.translate
    marks = [
        (line.is_roleplay, tr("Session", "story")),
        (line.sticky, tr("Session", "in mind")),
        (line.protected, tr("Session", "protected")),
        (not line.archived, tr("Session", "open")),
        (bool(line.failed), tr("Session", "incomplete")),
    ]
    return ", ".join(words for holds, words in marks if holds)


def title_of(line: SessionLine) -> str:
    """Its title or what was said first."""
    first = " ".join(line.first_words.replace("*", "").replace("#", "").split()).strip('“”"_> ')
    return line.name.strip() or first or QCoreApplication.translate("Session", "New conversation")


def shortened(title: str, most: int = 28) -> str:
    """A title that fits on a button or into a sentence."""
    return title if len(title) <= most else f"{title[: most - 1].rstrip()}…"
