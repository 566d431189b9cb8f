"""Page “Dreams”: pending and past memory changes, and the user's feedback on replies."""

from __future__ import annotations

from operator import attrgetter
from uuid import UUID

from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

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
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.routes import DreamsRoute, Route
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.dreams.detail import DreamDetail
from lethe_app.ui.pages.dreams.labels import change_title, format_change_kind, format_feedback, format_state, tr
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.list_page import PersonaListPage
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.list_detail_panes import ListDetailPanes
from lethe_app.ui.widgets.table import ColumnFit, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

ACTION, STATUS, DATE = 0, 2, 3
WIDTHS = {ACTION: 104, STATUS: 130, DATE: 96}
HIDEABLE_COLUMNS = (ACTION, DATE, STATUS)
FEEDBACK_WIDTHS = {1: 260, 2: 96}
HIDEABLE_FEEDBACK_COLUMNS = (2, 1)
MIN_TEXT_WIDTH = 180
PENDING, HISTORY, FEEDBACK = range(3)
"""Lists of the page, as button ids: pending changes, history of changes, feedback."""


class DreamPage(PersonaListPage):
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
        self._away, self._activity_log = background_runner, activity_log
        self._last_dream = ""
        self._changes: list[RecordedChange] = []
        self.commands = CommandRunner(self.undo_stack, context.tasks, self._schedule_reload)
        self.rows, self.feedback_rows = self._build_rows(), self._build_feedback_rows()
        self._build()
        self._connect()
        self.persona_selector.emit_chosen()

    def _build_rows(self) -> FilteredTableModel[RecordedChange]:
        def text_colour(change: RecordedChange) -> str:
            is_over = change.state in {ChangeState.DECLINED, ChangeState.REVERTED}
            return self.theme.palette.muted if is_over else ""

        columns = [
            Column[RecordedChange](tr("Action"), lambda one: format_change_kind(one.what), width=WIDTHS[ACTION]),
            Column[RecordedChange](tr("Memory"), change_title, width=0, colour=text_colour),
            Column[RecordedChange](tr("Status"), lambda one: format_state(one.state), width=WIDTHS[STATUS]),
            Column[RecordedChange](tr("Date"), lambda one: format_relative_date(one.at), attrgetter("at"), WIDTHS[DATE]),
        ]
        return FilteredTableModel(columns, key=attrgetter("id"), search_text=change_title)

    def _build_feedback_rows(self) -> FilteredTableModel[FeedbackEntry]:
        columns = [
            Column[FeedbackEntry](
                tr("Reply"), lambda one: " ".join(one.text.split()) or tr("This reply was deleted."), width=0
            ),
            Column[FeedbackEntry](tr("Your feedback"), lambda one: format_feedback(one.feedback), width=FEEDBACK_WIDTHS[1]),
            Column[FeedbackEntry](
                tr("Date"), lambda one: format_relative_date(one.feedback.at), attrgetter("feedback.at"), FEEDBACK_WIDTHS[2]
            ),
        ]
        return FilteredTableModel(
            columns, key=lambda one: (one.feedback.message_id, one.feedback.position), search_text=attrgetter("text")
        )

    def _build(self) -> None:
        self.dream_button = self.add_button(tr("Dream now"), self.start_dream, "moon", primary=True)
        self.accept_all_button = self.add_button(tr("Accept all"), self.accept_all_changes, "check")
        self.stop_button = self.add_button(tr("Stop"), self._away.stop, "stop")
        self.chips = [build_chip(words) for words in (tr("Pending"), tr("History"), tr("Your feedback"))]
        self.hint = build_small_label("")
        empty = tr(
            "Nothing to review\n\n"
            "A dream looks through the memories while you are away and proposes changes. Nothing changes before you accept.\n\n"
            "Example: “Anselm will be fifty on the second of May.” and “Anselm turns 50 on 2 May.” become one memory."
        )
        self.table: Table[RecordedChange] = Table(
            self.rows, self.theme, tr("Dreams"), empty, ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_TEXT_WIDTH, optional=(STATUS,))
        )
        empty_feedback = tr(
            "No feedback yet\n\nReply ratings and requests are collected here, and dreams learn from them.\n\n"
            "Example: “Shorter answers, please.”"
        )
        self.feedback_table: Table[FeedbackEntry] = Table(
            self.feedback_rows,
            self.theme,
            tr("Your feedback"),
            empty_feedback,
            ColumnFit(FEEDBACK_WIDTHS, HIDEABLE_FEEDBACK_COLUMNS, MIN_TEXT_WIDTH),
        )
        for table in (self.table, self.feedback_table):
            table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.detail = DreamDetail(self)
        self._build_layout()

    def _build_layout(self) -> None:
        line = QWidget()
        flow = FlowLayout(line, spacing=SPACE_2)
        self._group = QButtonGroup(self)
        flow.addWidget(self.persona_selector)
        for number, chip in enumerate(self.chips):
            self._group.addButton(chip, number)
            flow.addWidget(chip)
        self.chips[PENDING].setChecked(True)
        above = self._add_head(line, self.hint)
        self._lists = QStackedWidget()
        self._lists.addWidget(self.table)
        self._lists.addWidget(self.feedback_table)
        self.panes = ListDetailPanes(self.theme, self._lists, self.detail)
        self.panes.detail_in_front.connect(above.setHidden)
        self.body.addWidget(self.panes, 1)

    def _connect(self) -> None:
        self._unsubscribers += [
            self._dreams.changed.add(self._reload_later),
            self._feedback.changed.add(self._reload_later),
            self._away.changed.add(lambda _none: self._on_activity_changed()),
        ]
        self.persona_selector.chosen.connect(lambda _persona: self._show_persona())
        self._group.idClicked.connect(lambda _number: self._filter())
        self.table.current_changed.connect(lambda _change: self._show_current())
        self.feedback_table.current_changed.connect(lambda _thought: self._show_current())
        self.detail.accept_requested.connect(self.accept_change)
        self.detail.decline_requested.connect(self.decline_change)
        self.detail.revert_requested.connect(self.revert_change)
        self.detail.propose_again_requested.connect(self.propose_again)
        self.detail.open_message_requested.connect(
            lambda message: self._context.tasks.start_task(self._open_message(UUID(message)))
        )

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else self.dream_button

    def show_route(self, route: Route) -> None:
        if isinstance(route, DreamsRoute) and route.persona_id:
            self.persona_selector.choose_persona(route.persona_id)

    # the lists

    @property
    def current_list(self) -> int:
        """Id of the list on display."""
        return self._group.checkedId()

    def _show_persona(self) -> None:
        """Clear the lists, so that no change of the persona before can be accepted for the new one, and load them."""
        self._changes = []
        self.rows.set_rows([])
        self.feedback_rows.set_rows([])
        self._filter()
        self._schedule_reload()

    def _on_activity_changed(self) -> None:
        self._update_status()
        self._reload_later()

    async def _reload(self) -> None:
        persona_id = self.persona_selector.persona_id
        self._changes = await self._dreams.changes_of(persona_id)
        self.feedback_rows.set_rows(await self._feedback.list_feedback(persona_id))
        runs = [
            run
            for run in await self._activity_log.list_runs()
            if run.task == TASK_NAME and run.persona_id == persona_id and run.ended
        ]
        dreamed_at = f"{format_relative_date(runs[0].began)}, {format_time(runs[0].began)}" if runs else ""
        self._last_dream = tr("Last dream: {when}. {what}").format(when=dreamed_at, what=format_result(runs[0])) if runs else ""
        self.rows.set_rows(self._changes)
        self._filter()

    def _filter(self) -> None:
        is_open = self.current_list == PENDING
        self.rows.set_filter("", lambda one: (one.state is ChangeState.PROPOSED) is is_open)
        self._lists.setCurrentWidget(self.feedback_table if self.current_list == FEEDBACK else self.table)
        if self.feedback_table.current_row is None and self.feedback_rows.visible_rows:
            self.feedback_table.select_row(self.feedback_rows.key_of(self.feedback_rows.visible_rows[0]))
        if self.table.current_row is None and self.rows.visible_rows:
            self.table.select_row(self.rows.visible_rows[0].id)
        pending_count = sum(one.state is ChangeState.PROPOSED for one in self._changes)
        self.accept_all_button.setVisible(pending_count > 0)
        self.chips[PENDING].setText(tr("Pending ({n})").format(n=pending_count) if pending_count else tr("Pending"))
        self._show_current()
        self._update_status()

    def _show_current(self) -> None:
        if self.current_list == FEEDBACK:
            self.detail.show_feedback(self.feedback_table.current_row)
        elif (change := self.table.current_row) is not None:
            self.detail.show_change(change)
        else:
            self.detail.show_empty_hint()

    def _update_status(self) -> None:
        running_task = self._away.running_task
        is_dreaming = running_task is not None and running_task.run.task == TASK_NAME
        self.stop_button.setVisible(is_dreaming)
        self.dream_button.setEnabled(not is_dreaming)
        self.subtitle.set_full_text(
            tr("Dreaming… {words}").format(words=running_task.step) if running_task and is_dreaming else ""
        )
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
            self._away.request_run(self.persona_selector.persona_id, TASK_NAME)
        except LetheError as error:
            self._context.notifier.report_error(error)

    def accept_change(self, change: RecordedChange, text: str) -> None:
        """Apply a change, with the edited text if `words` differs from the proposed text. Can be undone."""
        is_edited = bool(text.strip()) and " ".join(text.split()) != change_text(change)

        async def redo_step() -> None:
            if is_edited:
                await self._dreams.edit(change.id, text)
            await self._dreams.accept(change.id)

        self.commands.run_command(tr("accepting a change"), redo_step, lambda: self._restore_change(change))

    def accept_all_changes(self) -> None:
        """Apply all pending changes of the persona; those that are no longer possible are declined. Can be undone."""
        persona, pending = (
            self.persona_selector.persona_id,
            [pending_change for pending_change in self._changes if pending_change.state is ChangeState.PROPOSED],
        )

        async def redo_step() -> None:
            count = await self._dreams.accept_all(persona)
            self._context.notifier.notify(format_count(count, tr("{n} change was applied."), tr("{n} changes were applied.")))

        async def undo_step() -> None:
            for change in pending:
                await self._restore_change(change)

        self.commands.run_command(tr("accepting all changes"), redo_step, undo_step)

    async def _restore_change(self, change: RecordedChange) -> None:
        await self._dreams.revert_change(change.id)
        await self._dreams.restore_proposal(change)

    def decline_change(self, change: RecordedChange) -> None:
        """Decline a change, so that it is not proposed again. Can be undone."""
        redo_step, undo_step = self._dreams.decline, self._dreams.propose_again
        self.commands.run_command(tr("declining a change"), lambda: redo_step(change.id), lambda: undo_step(change.id))

    def propose_again(self, change: RecordedChange) -> None:
        """Make a declined change pending again. Can be undone."""
        redo_step, undo_step = self._dreams.propose_again, self._dreams.decline
        self.commands.run_command(tr("proposing it again"), lambda: redo_step(change.id), lambda: undo_step(change.id))

    def revert_change(self, change: RecordedChange) -> None:
        """Restore the records as they were before a change. Can be undone."""

        async def redo_revert() -> None:
            await self._dreams.restore_proposal(change.model_copy(update={"state": ChangeState.PROPOSED}))
            await self._dreams.accept(change.id)

        self.commands.run_command(tr("reverting a change"), lambda: self._dreams.revert_change(change.id), redo_revert)

    async def _open_message(self, message: UUID) -> None:
        self._context.open_session(await self._feedback.session_of(message), message)


def change_text(change: RecordedChange) -> str:
    """Return the whole text of the records after a change, in one line."""
    return " ".join(ChangedRecords.after(change).text.split())


def create_page(environment: PageEnvironment, _route: object) -> DreamPage:
    """Create the page with the services that it calls."""
    services = environment.services
    return DreamPage(
        environment.context,
        environment.create_persona_selector(),
        services.dreams,
        services.feedback,
        services.background_runner,
        services.activity_log,
    )
