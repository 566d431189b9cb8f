"""Page “Irrelevant memories”: memories that did not fit a message and replies that were disliked, and how to take it back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.services.background.feedback import FeedbackService
from lethe_app.services.memory.objections import ObjectionService
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.irrelevant_memories.rows import FeedbackRow, ReasonDialog, row_of_objection, row_of_reply, tr
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand
from lethe_app.ui.pages.record_page.filters import Checked, Chip, ChipFilter
from lethe_app.ui.pages.record_page.page import RecordPage
from lethe_app.ui.pages.record_page.spec import RecordSpec
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table_model import Column

Rows = Sequence[FeedbackRow]


def _is_memory(rows: Rows) -> bool:
    return all(row.objection is not None for row in rows)


def _is_reply(rows: Rows) -> bool:
    return all(row.objection is None for row in rows)


def _has_session(rows: Rows) -> bool:
    return all(row.session is not None for row in rows)


class IrrelevantMemoriesPage(RecordPage[FeedbackRow]):
    """Page with the memories marked as irrelevant and the disliked replies."""

    persona_selector: PersonaSelector

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        objection_service: ObjectionService,
        feedback: FeedbackService,
    ) -> None:
        super().__init__(context, tr("Irrelevant memories"), persona_selector)
        self._objections, self._feedback = objection_service, feedback
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
        self.follow(objection_service.changed, feedback.changed)

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
                is_shown=_is_memory,
                in_head=True,
                icon="undo",
                is_primary=True,
            ),
            RecordCommand(
                tr("Give reason…"),
                lambda rows: self._ask_for_reason(rows[0]),
                (Key.RENAME, Key.OPEN),
                maximum=1,
                is_shown=_is_reply,
                is_enabled=_has_session,
                in_head=True,
            ),
            RecordCommand(
                tr("Go to message"),
                lambda rows: self._open_message(rows[0]),
                (Key.OPEN,),
                maximum=1,
                is_enabled=_has_session,
                in_head=True,
                icon="forward",
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
        if await run_dialog(dialog) and dialog.reason != reply.reason:
            save = partial(self._feedback.save_reason, reply.message, reply.position)
            self.run_undoable(tr("editing the reason"), partial(save, dialog.reason), partial(save, reply.reason))


def create_page(environment: PageEnvironment, _route: object) -> IrrelevantMemoriesPage:
    """Create the page with the services that it calls."""
    services = environment.services
    return IrrelevantMemoriesPage(
        environment.context, environment.create_persona_selector(), services.objections, services.feedback
    )
