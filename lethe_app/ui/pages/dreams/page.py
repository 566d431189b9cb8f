"""Page “Dreams”: pending and past memory changes, and the user's feedback on replies."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
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
DreamRow = RecordedChange | FeedbackEntry


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
                key=_key_of,
                search_text=_text_of,
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
            is_over = isinstance(row, RecordedChange) and row.state in {ChangeState.DECLINED, ChangeState.REVERTED}
            return self.theme.palette.muted if is_over else ""

        return [
            Column(
                tr("Action"),
                lambda row: format_change_kind(row.what) if isinstance(row, RecordedChange) else "",
                width=104,
                hides_at=3,
                is_optional=True,
            ),
            Column(tr("Text"), _text_of, width=0, min_width=180, colour=text_colour),
            Column(
                tr("Status"),
                lambda row: format_state(row.state) if isinstance(row, RecordedChange) else "",
                width=130,
                hides_at=1,
                is_optional=True,
            ),
            Column(
                tr("Your feedback"),
                lambda row: "" if isinstance(row, RecordedChange) else format_feedback(row.feedback),
                width=260,
                hides_at=4,
                is_optional=True,
            ),
            Column(tr("Date"), lambda row: format_relative_date(_moment_of(row)), _moment_of, 96, hides_at=2),
        ]

    def _build_views(self, empty_text: str) -> ChipFilter[DreamRow]:
        no_feedback = tr(
            "No feedback yet\n\nReply ratings and requests are collected here, and dreams learn from them.\n\n"
            "Example: “Shorter answers, please.”"
        )
        return ChipFilter(
            [
                Chip(PENDING, tr("Pending"), _is_pending, empty_text=empty_text),
                Chip(HISTORY, tr("History"), _is_decided, empty_text=empty_text),
                Chip(FEEDBACK, tr("Your feedback"), lambda row: isinstance(row, FeedbackEntry), empty_text=no_feedback),
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
        def is_in(state: ChangeState) -> Callable[[DreamRow], bool]:
            return lambda row: isinstance(row, RecordedChange) and row.state is state

        is_open = is_in(ChangeState.PROPOSED)
        return [
            single_command(tr("Accept"), self.accept_change, is_shown=is_open, is_primary=True),
            single_command(tr("Decline"), self.decline_change, is_shown=is_open),
            single_command(tr("Undo change"), self.revert_change, is_shown=is_in(ChangeState.APPLIED)),
            single_command(tr("Propose again"), self.propose_again, is_shown=is_in(ChangeState.DECLINED)),
            single_command(tr("Go to message"), self._open_message, is_shown=lambda row: bool(_message_of(row))),
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
        return [*await self._dreams.changes_of(persona_id), *await self._feedback.list_feedback(persona_id)]

    def after_load(self) -> None:
        count = len(self._pending)
        text = tr("Pending ({n})").format(n=count) if count else tr("Pending")
        self.filters.chips[PENDING].setText(text)
        self._show_hint()

    def apply_filter(self) -> None:
        super().apply_filter()
        if self.table.current_row is None and self.rows.visible_rows:
            self.table.select_row(_key_of(self.rows.visible_rows[0]))

    def show_record(self, record: DreamRow | None) -> None:
        if record is None:
            self.detail.show_empty_hint()
        elif isinstance(record, RecordedChange):
            self.detail.show_change(record)
        else:
            self.detail.show_feedback(record)

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

    def accept_change(self, change: DreamRow) -> None:
        """Apply a change, with the text of the field if it differs from the proposed text. Can be undone."""
        assert isinstance(change, RecordedChange)
        text = self.detail.edited_text
        is_edited = bool(text.strip()) and " ".join(text.split()) != change_text(change)

        async def redo_step() -> None:
            if is_edited:
                await self._dreams.edit(change.id, text)
            await self._dreams.accept(change.id)

        self.run_undoable(tr("accepting a change"), redo_step, lambda: self._restore_change(change))

    def accept_all_changes(self) -> None:
        """Apply all pending changes of the persona; those that are no longer possible are declined. Can be undone."""
        persona, pending = self.persona_id, [row for row in self._pending if isinstance(row, RecordedChange)]

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

    def decline_change(self, change: DreamRow) -> None:
        """Decline a change, so that it is not proposed again. Can be undone."""
        assert isinstance(change, RecordedChange)
        redo_step, undo_step = self._dreams.decline, self._dreams.propose_again
        self.run_undoable(tr("declining a change"), lambda: redo_step(change.id), lambda: undo_step(change.id))

    def propose_again(self, change: DreamRow) -> None:
        """Make a declined change pending again. Can be undone."""
        assert isinstance(change, RecordedChange)
        redo_step, undo_step = self._dreams.propose_again, self._dreams.decline
        self.run_undoable(tr("proposing it again"), lambda: redo_step(change.id), lambda: undo_step(change.id))

    def revert_change(self, change: DreamRow) -> None:
        """Restore the records as they were before a change. Can be undone."""
        assert isinstance(change, RecordedChange)

        async def redo_revert() -> None:
            await self._dreams.save_proposal(change.model_copy(update={"state": ChangeState.PROPOSED}))
            await self._dreams.accept(change.id)

        self.run_undoable(tr("reverting a change"), lambda: self._dreams.revert_change(change.id), redo_revert)

    async def _open_message(self, row: DreamRow) -> None:
        message = UUID(_message_of(row))
        self._context.open_session(await self._feedback.session_of(message), message)


def change_text(change: RecordedChange) -> str:
    """Return the whole text of the records after a change, in one line."""
    return " ".join(ChangedRecords.after(change).text.split())


def _key_of(row: DreamRow) -> Hashable:
    return row.id if isinstance(row, RecordedChange) else (row.feedback.message_id, row.feedback.position)


def _moment_of(row: DreamRow) -> datetime:
    return row.at if isinstance(row, RecordedChange) else row.feedback.at


def _text_of(row: DreamRow) -> str:
    if isinstance(row, RecordedChange):
        return change_title(row)
    return " ".join(row.text.split()) or tr("This reply was deleted.")


def _message_of(row: DreamRow) -> str:
    """Return the GUID of the message that a row leads to; empty if there is none."""
    if isinstance(row, RecordedChange):
        return next(iter(source_messages(row)), "")
    return str(row.feedback.message_id) if row.session is not None else ""


def _is_decided(row: DreamRow) -> bool:
    return isinstance(row, RecordedChange) and not _is_pending(row)


def _is_pending(row: DreamRow) -> bool:
    return isinstance(row, RecordedChange) and row.state is ChangeState.PROPOSED
