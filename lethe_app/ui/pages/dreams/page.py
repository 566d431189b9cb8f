"""Page “Dreams”: pending and past memory changes, and the user's feedback on replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtWidgets import QWidget

from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import ChangedRecords
from lethe_app.errors import LetheError
from lethe_app.services.background.activity_log import ActivityLog
from lethe_app.services.background.dreams import TASK_NAME, Dreams
from lethe_app.services.background.feedback import FeedbackEntry, FeedbackService
from lethe_app.services.background.runner import BackgroundRunner
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.labels.dates import format_relative_date, format_time
from lethe_app.ui.core.labels.task_runs import format_result
from lethe_app.ui.core.routes import DreamsRoute, Route
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.dreams.detail import (
    DreamDetail,
    change_title,
    format_change_kind,
    format_feedback,
    format_state,
    source_messages,
    tr,
)
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import RecordCommand, page_command, single_command
from lethe_app.ui.pages.record_page.filters import Checked, Chip, ChipFilter
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table_model import Column

PENDING, HISTORY, FEEDBACK = range(3)
"""Views of the list: pending changes, history of changes, feedback."""
STATUS = 2
"""Index of the column of the status."""


@dataclass(frozen=True)
class DreamRow:
    """Change, or feedback on a reply, as it is listed."""

    source: RecordedChange | FeedbackEntry
    key: Any
    """Id of a change, or the message and position of a reply."""
    at: datetime
    text: str
    message: str
    """GUID of the message that it leads to; empty if there is none."""
    action: str = ""
    state: ChangeState | None = None
    """State of a change; None for feedback."""
    feedback: str = ""


def build_row(source: RecordedChange | FeedbackEntry) -> DreamRow:
    """Return what is listed of a change, or of feedback on a reply."""
    if isinstance(source, RecordedChange):
        message, action = next(iter(source_messages(source)), ""), format_change_kind(source.what)
        return DreamRow(source, source.id, source.at, change_title(source), message, action, source.state)
    feedback, text = source.feedback, " ".join(source.text.split()) or tr("This reply was deleted.")
    message = str(feedback.message_id) if source.session is not None else ""
    key = (feedback.message_id, feedback.position)
    return DreamRow(source, key, feedback.at, text, message, feedback=format_feedback(feedback))


class DreamPage(RecordPage[DreamRow]):
    """Page with the pending changes, the history or the feedback on the left and the selected item on the right."""

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        dreams: Dreams,
        feedback: FeedbackService,
        background_runner: BackgroundRunner,
        activity_log: ActivityLog,
    ) -> None:
        super().__init__(context, tr("Dreams"), persona_selector)
        self._dreams, self._feedback = dreams, feedback
        self._runner, self._activity_log = background_runner, activity_log
        self._last_dream = ""
        self.hint = build_small_label("")
        detail_commands = self._build_detail_commands()
        self.buttons = self.build_command_buttons(*detail_commands)
        self.detail = DreamDetail(self.buttons)
        empty_text = tr(
            "Nothing to review\n\n"
            "A dream looks through the memories while you are away and proposes changes. Nothing changes before you accept.\n\n"
            "Example: “Anselm will be fifty on the second of May.” and “Anselm turns 50 on 2 May.” become one memory."
        )
        self.build_list(
            RecordSpec(
                name=tr("Dreams"),
                columns=self._build_columns(),
                key=attrgetter("key"),
                search_text=attrgetter("text"),
                empty_text=empty_text,
                filters=[self._build_views(empty_text)],
                commands=[*self._build_head_commands(), *detail_commands],
                selects_one=True,
                selects_first=True,
            ),
            detail=self.detail,
            head=[self.hint],
        )
        self.follow(dreams.changed, feedback.changed)
        self._unsubscribers.append(background_runner.changed.add(lambda _none: self._on_activity_changed()))

    def _build_columns(self) -> list[Column[DreamRow]]:
        def text_colour(row: DreamRow) -> str:
            is_over = row.state in {ChangeState.DECLINED, ChangeState.REVERTED}
            return self.theme.palette.muted if is_over else ""

        def status(row: DreamRow) -> str:
            return format_state(row.state) if row.state is not None else ""

        return [
            Column(tr("Action"), attrgetter("action"), width=104, hides_at=3, is_optional=True),
            Column(tr("Memory or reply"), attrgetter("text"), width=0, min_width=180, colour=text_colour),
            Column(tr("Status"), status, width=130, hides_at=1, is_optional=True),
            Column(tr("Your feedback"), attrgetter("feedback"), width=260, hides_at=4, is_optional=True),
            Column(tr("Date"), lambda row: format_relative_date(row.at), attrgetter("at"), 96, hides_at=2),
        ]

    def _build_views(self, empty_text: str) -> ChipFilter[DreamRow]:
        no_feedback = tr(
            "No feedback yet\n\nReply ratings and requests are collected here, and dreams learn from them.\n\n"
            "Example: “Shorter answers, please.”"
        )
        return ChipFilter(
            [
                Chip(PENDING, tr("Pending"), _is_pending, empty_text=empty_text),
                Chip(HISTORY, tr("History"), lambda row: row.state is not None and not _is_pending(row), empty_text=empty_text),
                Chip(FEEDBACK, tr("Your feedback"), lambda row: bool(row.feedback), empty_text=no_feedback),
            ],
            Checked.ONE,
            self,
        )

    def _build_head_commands(self) -> list[RecordCommand[DreamRow]]:
        return [
            page_command(tr("Dream now"), self.start_dream, "moon", is_primary=True, is_enabled=lambda: not self._is_dreaming),
            page_command(tr("Accept all"), self.accept_all_changes, "check", is_shown=lambda: bool(self._pending)),
            page_command(tr("Stop"), self._activity_log.stop, "stop", needs_records=False, is_shown=lambda: self._is_dreaming),
        ]

    def _build_detail_commands(self) -> list[RecordCommand[DreamRow]]:
        decline, propose_again = self._dreams.decline, self._dreams.propose_again

        def run_decline(row: DreamRow) -> None:
            self.run_undoable(tr("declining a change"), lambda: decline(row.key), lambda: propose_again(row.key))

        def run_propose_again(row: DreamRow) -> None:
            self.run_undoable(tr("proposing it again"), lambda: propose_again(row.key), lambda: decline(row.key))

        def is_in(state: ChangeState) -> Callable[[DreamRow], bool]:
            return lambda row: row.state is state

        return [
            single_command(tr("Accept"), self._accept_change, is_shown=_is_pending, is_primary=True),
            single_command(tr("Decline"), run_decline, is_shown=_is_pending),
            single_command(tr("Undo change"), self._revert_change, is_shown=is_in(ChangeState.APPLIED)),
            single_command(tr("Propose again"), run_propose_again, is_shown=is_in(ChangeState.DECLINED)),
            single_command(tr("Go to message"), self._open_message, is_shown=lambda row: bool(row.message)),
        ]

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else self.button(tr("Dream now"))

    def show_route(self, route: Route) -> None:
        if isinstance(route, DreamsRoute) and route.persona_id:
            self.choose_persona(route.persona_id)

    # The list

    @property
    def _pending(self) -> list[DreamRow]:
        return [row for row in self.rows.all_rows if _is_pending(row)]

    async def load_records(self) -> Sequence[DreamRow]:
        persona_id = self.persona_id
        runs = [
            run
            for run in await self._activity_log.list_runs()
            if run.task == TASK_NAME and run.persona_id == persona_id and run.ended
        ]
        dreamed_at = f"{format_relative_date(runs[0].began)}, {format_time(runs[0].began)}" if runs else ""
        self._last_dream = tr("Last dream: {when}. {what}").format(when=dreamed_at, what=format_result(runs[0])) if runs else ""
        changes, feedback = await self._dreams.changes_of(persona_id), await self._feedback.list_feedback(persona_id)
        return [*map(build_row, changes), *map(build_row, feedback)]

    def after_load(self) -> None:
        count = len(self._pending)
        text = tr("Pending ({n})").format(n=count) if count else tr("Pending")
        self.filters.chips[PENDING].setText(text)
        self._show_hint()

    def apply_filter(self) -> None:
        super().apply_filter()
        if self.table.current_row is None and self.rows.visible_rows:
            self.table.select_row(self.rows.visible_rows[0].key)

    def show_record(self, record: DreamRow | None) -> None:
        self.detail.show_source(record.source if record is not None else None)

    # The task

    @property
    def _is_dreaming(self) -> bool:
        running_task = self._runner.running_task
        return running_task is not None and running_task.run.task == TASK_NAME

    def _on_activity_changed(self) -> None:
        self.subtitle.set_full_text(self.format_count())
        self.update_commands()
        self._show_hint()
        self._reload_timer.start()

    def format_count(self) -> str:
        """Return what the dream is doing that is under way."""
        running_task = self._runner.running_task
        return tr("Dreaming… {words}").format(words=running_task.step) if running_task and self._is_dreaming else ""

    def _show_hint(self) -> None:
        broken = " ".join(
            f"{error.message} {tr('The built-in version is used until this is fixed.')}"
            for error in self._dreams.broken_prompts
        )
        self.hint.setText("  ".join(filter(None, (self._last_dream, broken))))
        self.hint.setVisible(bool(self.hint.text()))

    # Actions of the user.

    def start_dream(self) -> None:
        """Start the dream task for the persona now; a refusal is reported in the window."""
        try:
            self._runner.request_run(self.persona_id, TASK_NAME)
        except LetheError as error:
            self._context.notifier.report_error(error)

    def _accept_change(self, row: DreamRow) -> None:
        """Apply a change, with the text of the field if it differs from the proposed text. Can be undone."""
        change, text = _change_of(row), self.detail.edited_text
        is_edited = bool(text.strip()) and text.split() != ChangedRecords.after(change).text.split()

        async def redo_step() -> None:
            if is_edited:
                await self._dreams.edit(change.id, text)
            await self._dreams.accept(change.id)

        self.run_undoable(tr("accepting a change"), redo_step, lambda: self._restore_change(change))

    def accept_all_changes(self) -> None:
        """Apply all pending changes of the persona; those that are no longer possible are declined. Can be undone."""
        persona, pending = self.persona_id, [_change_of(row) for row in self._pending]

        async def redo_step() -> None:
            count = await self._dreams.accept_all(persona)
            self._context.notifier.notify(format_count(count, tr("{n} change was applied."), tr("{n} changes were applied.")))

        async def undo_step() -> None:
            for change in pending:
                await self._restore_change(change)

        self.run_undoable(tr("accepting all changes"), redo_step, undo_step)

    async def _restore_change(self, change: RecordedChange) -> None:
        await self._dreams.revert_change(change.id)
        await self._dreams.save_proposal(change)

    def _revert_change(self, row: DreamRow) -> None:
        """Restore the records as they were before a change. Can be undone."""
        change = _change_of(row)

        async def redo_revert() -> None:
            await self._dreams.save_proposal(change.model_copy(update={"state": ChangeState.PROPOSED}))
            await self._dreams.accept(change.id)

        self.run_undoable(tr("reverting a change"), lambda: self._dreams.revert_change(change.id), redo_revert)

    async def _open_message(self, row: DreamRow) -> None:
        message = UUID(row.message)
        self._context.open_session(await self._feedback.session_of(message), message)


def _change_of(row: DreamRow) -> RecordedChange:
    assert isinstance(row.source, RecordedChange)
    return row.source


def _is_pending(row: DreamRow) -> bool:
    return row.state is ChangeState.PROPOSED
