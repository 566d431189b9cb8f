"""Rows of the page of feedback: memories marked as irrelevant, and disliked replies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from lethe_app.services.background.feedback import MAX_REASON_CHARACTERS, FeedbackEntry
from lethe_app.services.memory.objections import ObjectionDetails
from lethe_app.ui.chat.memory_labels import strip_headings
from lethe_app.ui.core.palette import SPACE_1
from lethe_app.ui.dialogs.dialogs import QuestionDialog

MAX_REPLY_CHARACTERS = 160


def tr(text: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("IrrelevantMemoriesPage", text)


@dataclass(frozen=True)
class FeedbackRow:
    """What did not fit: a memory in a reply, or a reply as a whole."""

    text: str
    reason: str
    """The message that the memory was irrelevant to, or why the reply was disliked."""
    moment: datetime
    session: UUID | None
    """Session of the message; None if it was deleted."""
    message: UUID
    objection: ObjectionDetails | None = None
    """The objection to a memory; None for a reply."""
    position: int = 0
    """Index of the disliked alternative of the reply."""
    searched: str = ""
    """Further text in which is searched."""

    @property
    def key(self) -> tuple[UUID, UUID | int]:
        """Return what identifies the row."""
        return self.message, self.objection.objection.memory if self.objection is not None else self.position


def row_of_objection(details: ObjectionDetails) -> FeedbackRow:
    """Return the row of an irrelevant memory, with title and text in one line."""
    text = " ".join(strip_headings(details.text).removeprefix("- ").split())
    return FeedbackRow(
        text=": ".join(part for part in (details.title, text) if part) or tr("Deleted memory"),
        reason=f"“{' '.join(details.said.split())}”" if details.said.strip() else tr("deleted message"),
        moment=details.objection.moment,
        session=details.session,
        message=details.objection.message,
        objection=details,
    )


def row_of_reply(entry: FeedbackEntry) -> FeedbackRow:
    """Return the row of a disliked reply, with its beginning in one line."""
    text = " ".join(entry.text.split())
    shortened = text if len(text) <= MAX_REPLY_CHARACTERS else f"{text[: MAX_REPLY_CHARACTERS - 1]}…"
    return FeedbackRow(
        text=f"“{shortened}”" if text else tr("Deleted reply"),
        reason=" ".join(entry.feedback.words.split()),
        moment=entry.feedback.at,
        session=entry.session,
        message=entry.feedback.message_id,
        position=entry.feedback.position,
        searched=text,
    )


class ReasonDialog(QuestionDialog):
    """Dialog that asks why a reply was disliked."""

    def __init__(self, parent: QWidget, reply: FeedbackRow) -> None:
        super().__init__(parent, tr("What was wrong with this reply?"), tr("Save reason"))
        self.add_paragraph(reply.text)
        self.field = QLineEdit(reply.reason)
        self.field.setMaxLength(MAX_REASON_CHARACTERS)
        self.field.setPlaceholderText(tr("For example: far too long, or: don't call me Tommy"))
        label = QLabel(tr("Reason"))
        label.setProperty("field", True)
        label.setBuddy(self.field)
        self.field.setAccessibleName(tr("Reason"))
        column = QVBoxLayout()
        column.setSpacing(SPACE_1)
        column.addWidget(label)
        column.addWidget(self.field)
        self.column.addLayout(column)
        self.field.selectAll()
        self.field.setFocus()

    @property
    def reason(self) -> str:
        return self.field.text().strip()
