"""Page “Background activity”: task runs of all personas with cost, errors and undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QHeaderView, QMenu, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lethe_app.domain.agent_runs import PlannedTask, ProducedKind, RunOutcome, TaskRun
from lethe_app.domain.clock import now
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.background.activity_log import UPKEEP, ActivityLog
from lethe_app.services.background.runner import BackgroundRunner, DisabledTask
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences
from lethe_app.services.tools.registry import ToolRegistry
from lethe_app.ui.core.formatting import abbreviate_tokens
from lethe_app.ui.core.labels.dates import format_relative_date, format_time
from lethe_app.ui.core.labels.task_runs import format_result
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.activity.detail import TaskRunDetail
from lethe_app.ui.pages.activity.labels import (
    explain_hindrance,
    explain_plan,
    format_due,
    format_running_entry,
    format_spent,
    format_usual_cost,
)
from lethe_app.ui.pages.activity.plugin_errors import FaultList, list_problems
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import RecordCommand, page_command, single_command
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.buttons import build_button, build_chip
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

DUE, COST = 1, 2
"""Indices of columns."""


class _PaddedDelegate(QStyledItemDelegate):
    """Delegate of wrapped texts, with some space above and below them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return super().sizeHint(option, index) + QSize(0, SPACE_3)


def _tr(text: str) -> str:
    return QCoreApplication.translate("ActivityPage", text)


def build_planned_rows(is_on: Callable[[], bool]) -> FilteredTableModel[PlannedTask]:
    """Create the empty table model; `is_on` returns whether the persona has background activity."""
    columns = [
        Column[PlannedTask](_tr("Task"), lambda task: task.title, width=232),
        Column[PlannedTask](
            _tr("Next run"), lambda task: format_due(task, is_on=is_on()), lambda task: task.due or now(), 216, hides_at=2
        ),
        Column[PlannedTask](_tr("Usual cost"), format_usual_cost, lambda task: task.tokens, 150, hides_at=1, is_optional=True),
        Column[PlannedTask](_tr("What it does"), lambda task: task.help, width=0, min_width=240),
    ]
    return FilteredTableModel(columns, key=lambda task: task.name, search_text=lambda task: task.title)


def build_planned_table(rows: FilteredTableModel[PlannedTask], theme: Theme) -> Table[PlannedTask]:
    """Create the table of these rows."""
    table = Table(rows, theme, _tr("Planned tasks"), _tr("No task is selected for this persona."))
    table.setWordWrap(True)
    table.setItemDelegate(_PaddedDelegate(table))
    table.verticalHeader().setMinimumSectionSize(table.verticalHeader().defaultSectionSize())
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table


MAX_RUNS = 500
IDLE_CHECK_INTERVAL_MS = 5_000
"""Interval in milliseconds at which the page checks whether the user counts as away; no signal reports that."""


class ActivityPage(RecordPage[TaskRun]):
    """Page with the task runs on the left and details of the selected run on the right.

    The persona selector above them decides whose background activity is switched on or off and for whom a task is started.
    """

    persona_selector: PersonaSelector

    def __init__(
        self,
        context: PageContext,
        persona_selector: PersonaSelector,
        background_runner: BackgroundRunner,
        activity_log: ActivityLog,
        tool_registry: ToolRegistry,
        library: Library,
        preferences: Preferences,
    ) -> None:
        super().__init__(context, QCoreApplication.translate("ActivityPage", "Background activity"))
        self.persona_selector = persona_selector
        self._runner, self._activity_log = background_runner, activity_log
        self._tool_registry, self._library, self._preferences = tool_registry, library, preferences
        self._names: dict[str, str] = {}
        self._usage_today = ""
        self._disabled: list[DisabledTask] = []
        self._persona: Persona | None = None
        self._has_chosen_list = False
        """True if the user chose the history or the plan; otherwise the plan is shown while there is no history."""
        self.hint = build_small_label("")
        self.problem_list = FaultList(self.theme)
        stop, undo = self._build_commands()
        self.buttons = self.build_command_buttons(undo)
        self.detail = TaskRunDetail(self.buttons, context.navigator.open)
        self.planned_rows = build_planned_rows(lambda: self._is_on)
        self.planned_table = build_planned_table(self.planned_rows, self.theme)
        self.planned_table.setParent(self)
        choices = self._build_choices()
        self.build_list(
            RecordSpec(
                name=self.tr("Task history"),
                columns=self._build_columns(),
                key=attrgetter("id"),
                search_text=format_result,
                empty_text=self.tr(
                    "No tasks yet. What personas do while you are away is listed here, with its cost and results."
                ),
                commands=[stop, undo],
                selects_one=True,
                selects_first=True,
            ),
            detail=self.detail,
            top=[choices, self.hint, self.problem_list],
        )
        self.stop_button = self.button(self.tr("Stop"))
        self.body.addWidget(self.planned_table, 1)
        self._connect()
        self.persona_selector.emit_chosen()

    def _build_commands(self) -> tuple[RecordCommand[TaskRun], RecordCommand[TaskRun]]:
        """Return the command that stops the running task, and that which undoes a run."""
        stop = page_command(
            self.tr("Stop"),
            self._activity_log.stop,
            "stop",
            needs_records=False,
            is_shown=lambda: bool(self._activity_log.running_entries),
            tooltip=self.tr("Stop the running task and keep its results so far"),
        )
        undo: RecordCommand[TaskRun] = single_command(
            self.tr("Undo task"),
            self._undo_run,
            is_shown=lambda run: not run.undone and run.outcome is not None,
            tooltip=self.tr("Move memories to the Trash, discard notes and revert changes; your own later edits are kept"),
        )
        return stop, undo

    def _build_columns(self) -> list[Column[TaskRun]]:
        def result_colour(run: TaskRun) -> str:
            is_bad = run.outcome in {RunOutcome.FAILED, RunOutcome.LOST}
            return self.theme.palette.danger if is_bad else "" if run.outcome is RunOutcome.MADE else self.theme.palette.muted

        tr, began = self.tr, attrgetter("began")
        return [
            Column(tr("Date"), lambda run: format_relative_date(run.began), began, 96, hides_at=5),
            Column(tr("Time"), lambda run: format_time(run.began), began, 72, hides_at=2),
            Column(tr("Persona"), self._persona_name, width=96, hides_at=3),
            Column(tr("Task"), self._task_title, width=150, hides_at=4),
            Column(tr("Result"), format_result, width=0, min_width=160, colour=result_colour),
            Column(
                tr("Tokens"),
                lambda run: abbreviate_tokens(run.tokens) if run.tokens else "",
                attrgetter("tokens"),
                72,
                hides_at=1,
                is_right_aligned=True,
            ),
        ]

    def _build_choices(self) -> QWidget:
        """Create the row of the persona, of its switch, and of what is listed."""
        self.agent_mode_check = QCheckBox(self.tr("On for this persona"))
        self.run_now_button = build_button(
            self.tr("Run task now"),
            self.show_task_menu,
            tooltip=self.tr("Run one task now, without waiting until you are away"),
        )
        self.persona_chip = build_chip(
            self.tr("Only this persona"), self.tr("List the tasks of this persona, not those of the others")
        )
        self.upkeep_chip = build_chip(
            self.tr("Memory upkeep"), self.tr("List archiving, notebooks and moods too, which Lethe runs for every persona")
        )
        self.planned_chip = build_chip(self.tr("Planned"), self.tr("What runs next, when, and what it usually costs"))
        # The check box gets the height of the button beside it, so that their texts share one line.
        self.agent_mode_check.setMinimumHeight(self.run_now_button.sizeHint().height())
        line = QWidget()
        flow = FlowLayout(line, spacing=SPACE_3)
        for widget in (
            self.persona_selector,
            self.agent_mode_check,
            self.run_now_button,
            self.planned_chip,
            self.persona_chip,
            self.upkeep_chip,
        ):
            flow.addWidget(widget)
        return line

    def _connect(self) -> None:
        self._idle_check_timer = QTimer(self, interval=IDLE_CHECK_INTERVAL_MS)
        self._idle_check_timer.timeout.connect(self._update_status)
        self._idle_check_timer.start()
        self.follow(self._library.changed, self._preferences.changed)
        self._unsubscribers += [
            self._runner.changed.add(lambda _none: self._on_activity_changed()),
            self._tool_registry.changed.add(lambda _none: self._on_activity_changed()),
        ]
        self.persona_selector.chosen.connect(lambda _persona: self._show_persona())
        for chip in (self.persona_chip, self.upkeep_chip):
            chip.toggled.connect(lambda _on: self.apply_filter())
        self.planned_chip.clicked.connect(self._choose_list)
        self.agent_mode_check.clicked.connect(self._set_agent_mode)
        self.problem_list.enable_requested.connect(lambda task: self._context.tasks.start_task(self._runner.enable_task(task)))
        self.theme.changed.connect(self.problem_list.apply_theme)

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else self.persona_selector

    def close_page(self) -> None:
        self._idle_check_timer.stop()
        super().close_page()

    # The list

    def _show_persona(self) -> None:
        self._persona = None  # until the new one is loaded, nothing can be changed for either
        self.agent_mode_check.setEnabled(False)
        self.reload()

    def _on_activity_changed(self) -> None:
        self._update_status()
        self._reload_timer.start()

    async def load_records(self) -> Sequence[TaskRun]:
        runs = await self._activity_log.list_runs(MAX_RUNS)
        personas = {persona.unique_name: persona for persona in await self._library.personas()}
        self._names = {unique_name: persona.name for unique_name, persona in personas.items()}
        self._persona = personas.get(self.persona_id)
        if self._persona is not None:
            self.planned_rows.set_rows(await self._runner.plan_tasks(self._persona))
        self._disabled = await self._runner.list_disabled()
        usage = await self._runner.usage_today(self.persona_id)
        self._usage_today = format_spent(usage.tokens, usage.time, self._preferences.current)
        return runs

    def after_load(self) -> None:
        self.apply_filter()  # the persona may have changed, and not the runs
        self.agent_mode_check.setChecked(self._persona is not None and self._persona.agent_mode)
        self.agent_mode_check.setEnabled(self._persona is not None)
        self._update_status()

    def build_row_filter(self) -> Callable[[TaskRun], bool]:
        persona_id = self.persona_id
        is_for_all, with_upkeep = not self.persona_chip.isChecked(), self.upkeep_chip.isChecked()
        return lambda run: (is_for_all or run.persona_id == persona_id) and (with_upkeep or run.task not in UPKEEP)

    def apply_filter(self) -> None:
        super().apply_filter()
        if not self._has_chosen_list:
            self.planned_chip.setChecked(not self.rows.visible_rows)
        self._show_list()

    def format_count(self) -> str:
        """Return what is running, in place of the number of runs."""
        return "; ".join(map(format_running_entry, self._activity_log.running_entries))

    def _choose_list(self) -> None:
        self._has_chosen_list = True
        self._show_list()
        self._update_status()

    def _show_list(self) -> None:
        """Show the history or the plan."""
        is_planned = self.planned_chip.isChecked()
        self.stack.setVisible(not is_planned)
        self.planned_table.setVisible(is_planned)
        for chip in (self.persona_chip, self.upkeep_chip):
            chip.setVisible(not is_planned)

    def _update_status(self) -> None:
        """Update the subtitle, the hint why no task is running, and the list of plug-in problems."""
        settings = self._preferences.current
        self.update_commands()
        self.subtitle.set_full_text(self.format_count())
        idle_reason = "" if self._runner.running_task is not None else explain_hindrance(self._runner.pause_reason, settings)
        plan = ""
        if self.planned_chip.isChecked() and self._persona is not None:
            if not self._persona.agent_mode:
                idle_reason = ""  # that of the persona comes first
            if self._is_on or not self._persona.agent_mode:
                plan = explain_plan(self._persona.name, is_on=self._is_on)
        self.hint.setText("  ".join(filter(None, (plan, idle_reason, self._usage_today))))
        task_errors, tool_errors = self._runner.registry.errors, self._tool_registry.errors
        self.problem_list.show_problems(list_problems(self._disabled, task_errors, tool_errors))

    @property
    def _is_on(self) -> bool:
        """Return whether tasks of the selected persona are started, at present or later."""
        return self._persona is not None and self._persona.agent_mode and self._runner.pause_reason != "off"

    def _persona_name(self, run: TaskRun) -> str:
        return self._names.get(run.persona_id, run.persona_id)

    def _task_title(self, run: TaskRun) -> str:
        return self._runner.title_of(run.task)

    def show_record(self, record: TaskRun | None) -> None:
        if record is None:
            self.detail.show_run(None, "", "")
        else:
            self.detail.show_run(record, self._task_title(record), self._persona_name(record))

    # Actions of the user.

    def _set_agent_mode(self, is_enabled: bool) -> None:
        persona = self._persona
        if persona is None:
            return

        async def save_agent_mode(value: bool) -> None:
            current = await self._library.persona(persona.unique_name)
            await self._library.save_persona(current.model_copy(update={"agent_mode": value}))

        title = self.tr("changing background activity")
        self.run_undoable(title, lambda: save_agent_mode(is_enabled), lambda: save_agent_mode(not is_enabled))

    def show_task_menu(self) -> None:
        """Open a menu of all registered tasks, each of which can be started now."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for entry in self._runner.registry.list_tasks():
            action = menu.addAction(entry.task.title)
            action.setToolTip(entry.task.help)
            action.triggered.connect(lambda _on=False, name=entry.name: self.start_task(name))
        menu.popup(self.run_now_button.mapToGlobal(self.run_now_button.rect().bottomLeft()))

    def start_task(self, task: str) -> None:
        """Start a task for the selected persona now; a refusal is reported in the window."""
        try:
            self._runner.request_run(self.persona_id, task)
        except LetheError as error:
            self._context.notifier.report_error(error)

    async def _undo_run(self, run: TaskRun) -> None:
        """Undo a run and everything it created. A report is deleted only after asking, as it does not go to the Trash."""
        report = next((made for made in run.made if made.kind is ProducedKind.REPORT), None)
        if report is not None:
            title, button = self.tr("Delete report?"), self.tr("Delete report")
            text = self.tr("The report about “{topic}” cannot be restored. A memory made from it is kept.")
            text = text.format(topic=report.title)
            if not await run_dialog(ConfirmDialog(self._context.dialog_parent, title, text, button)):
                return
        await self._runner.undo(run.id)
        self._context.notifier.notify(self.tr("Task undone. Its memories are in the Trash."))
