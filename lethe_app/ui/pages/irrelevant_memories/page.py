"""Page “Irrelevant memories”: memories that did not fit a message and replies that were disliked, and how to take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.services.background.feedback import MAX_REASON_CHARACTERS, FeedbackEntry, FeedbackService
from lethe_app.services.memory.objections import ObjectionDetails, ObjectionService
from lethe_app.ui.chat.memory_labels import strip_headings
from lethe_app.ui.core.formatting import format_count, quote_message, truncate_text
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.dialogs.dialogs import LineDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand, single_command
from lethe_app.ui.pages.record_page.filters import Checked, Chip, ChipFilter
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table_model import Column

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
        reason=quote_message(details.said) or tr("deleted message"),
        moment=details.objection.moment,
        session=details.session,
        message=details.objection.message,
        objection=details,
    )


def row_of_reply(entry: FeedbackEntry) -> FeedbackRow:
    """Return the row of a disliked reply, with its beginning in one line."""
    return FeedbackRow(
        text=quote_message(truncate_text(" ".join(entry.text.split()), MAX_REPLY_CHARACTERS)) or tr("Deleted reply"),
        reason=" ".join(entry.feedback.words.split()),
        moment=entry.feedback.at,
        session=entry.session,
        message=entry.feedback.message_id,
        position=entry.feedback.position,
        searched=entry.text,
    )


class ReasonDialog(LineDialog):
    """Dialog that asks why a reply was disliked."""

    def __init__(self, parent: QWidget, reply: FeedbackRow) -> None:
        super().__init__(
            parent,
            tr("What was wrong with this reply?"),
            tr("Save reason"),
            tr("Reason"),
            reply.reason,
            max_length=MAX_REASON_CHARACTERS,
            may_be_empty=True,
        )
        self.add_paragraph(reply.text, index=0)
        self.field.setPlaceholderText(tr("For example: far too long, or: don't call me Tommy"))


Rows = Sequence[FeedbackRow]


def _has_session(row: FeedbackRow) -> bool:
    return row.session is not None


class IrrelevantMemoriesPage(RecordPage[FeedbackRow]):
    """Page with the memories marked as irrelevant and the disliked replies."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        objections: ObjectionService,
        feedback: FeedbackService,
    ) -> None:
        super().__init__(context, tr("Irrelevant memories"), persona_selector)
        self._objections, self._feedback = objections, feedback
        kinds = [
            Chip[FeedbackRow]("memories", tr("Irrelevant memories"), lambda row: row.objection is not None),
            Chip[FeedbackRow]("replies", tr("Disliked replies"), lambda row: row.objection is None),
        ]
        hint = tr(
            "Irrelevant memories are recalled less easily by similar messages; the effect fades over time. The next dream"
            " learns from the reasons you give for disliked replies. Without a reason, you are asked only if several replies"
            " have something in common."
        )
        self.build_list(
            RecordSpec(
                name=tr("Irrelevant memories and disliked replies"),
                columns=self._build_columns(),
                key=attrgetter("key"),
                search_text=lambda row: f"{row.text} {row.reason} {row.searched}",
                search_hint=tr("Search irrelevant memories"),
                empty_text=tr(
                    "No irrelevant memories\n\n"
                    "When a reply uses a memory that does not fit your message, choose “Mark as irrelevant” on its card in the"
                    " memory panel.\n\nExample: you write “I'll take the stairs” and get the story of the lighthouse stairs."
                    " Marked as irrelevant, it is recalled less easily by such messages, and as before by “Tell me about the"
                    " lighthouse”."
                ),
                filters=[ChipFilter(kinds, Checked.ANY, self)],
                commands=self._build_commands(),
                selects_first=True,
            ),
            head=[build_small_label(hint)],
        )
        self.show_with_records(self.search)
        self.follow(objections.changed, feedback.changed)

    def _build_columns(self) -> list[Column[FeedbackRow]]:
        def row_icon(row: FeedbackRow) -> Any:  # noqa: ANN401 - Qt's own type
            return load_icon("lower" if row.objection is not None else "thumb-down", self.theme.palette.amber)

        return [
            Column(tr("Memory or reply"), attrgetter("text"), width=0, min_width=220, icon=row_icon),
            Column(tr("Irrelevant to, or reason"), lambda row: row.reason or tr("No reason given"), width=340, hides_at=1),
            Column(tr("Date"), lambda row: format_date(row.moment.timestamp()), attrgetter("moment"), 116, hides_at=2),
        ]

    def _build_commands(self) -> list[RecordCommand[FeedbackRow]]:
        return [
            RecordCommand(
                tr("Mark as relevant"),
                self._withdraw_objections,
                (Key.DELETE,),
                is_shown=lambda rows: all(row.objection is not None for row in rows),
                in_head=True,
                icon="undo",
                is_primary=True,
            ),
            single_command(
                tr("Give reason…"),
                self._ask_for_reason,
                (Key.RENAME, Key.OPEN),
                is_shown=lambda row: row.objection is None,
                is_enabled=_has_session,
                in_head=True,
            ),
            single_command(
                tr("Go to message"), self._open_message, (Key.OPEN,), is_enabled=_has_session, in_head=True, icon="forward"
            ),
        ]

    async def load_records(self) -> Rows:
        objections = await self._objections.describe_objections(self.persona_id)
        replies = await self._feedback.list_feedback(self.persona_id)
        disliked = [entry for entry in replies if entry.feedback.verdict is ReplyRating.BAD]
        return [*map(row_of_objection, objections), *map(row_of_reply, disliked)]

    def format_count(self) -> str:
        """Return the number of irrelevant memories."""
        count = sum(row.objection is not None for row in self.rows.all_rows)
        return format_count(count, tr("{n} irrelevant memory"), tr("{n} irrelevant memories")) if count else ""

    # Commands

    def _withdraw_objections(self, rows: Rows) -> None:
        persona = self.persona_id
        for objection in [row.objection.objection for row in rows if row.objection is not None]:
            self.run_undoable(
                tr("marking as relevant"),
                partial(self._objections.withdraw_objection, persona, objection.memory, objection.message),
                partial(self._objections.save_objection, persona, objection),
            )

    def _open_message(self, row: FeedbackRow) -> None:
        if row.session is not None:
            self._context.open_session(row.session, row.message)

    async def _ask_for_reason(self, reply: FeedbackRow) -> None:
        """Ask why a reply was disliked."""
        dialog = ReasonDialog(self._context.dialog_parent, reply)
        if await run_dialog(dialog) and dialog.entered_text != reply.reason:
            save = partial(self._feedback.save_reason, reply.message, reply.position)
            self.run_undoable(tr("editing the reason"), partial(save, dialog.entered_text), partial(save, reply.reason))
