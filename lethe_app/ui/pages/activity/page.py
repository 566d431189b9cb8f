"""Page “Background activity”: task runs of all personas with cost, errors and undo."""

from __future__ import annotations

from collections.abc import Sequence
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
from lethe_app.ui.pages.activity.plugin_errors import ProblemList, list_problems
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.persona_selector import PersonaSelector
from lethe_app.ui.pages.record_page.commands import RecordCommand, page_command, single_command
from lethe_app.ui.pages.record_page.filters import Checked, Chip, ChipFilter
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

HISTORY, UPKEEP_HISTORY, PLANNED, OWN = "history", "upkeep", "planned", "own"
"""Chips of the three views of the list, and of the filter by the persona."""
DUE, COST = 1, 2
"""Indices of columns of the plan."""
MAX_RUNS = 500
IDLE_CHECK_INTERVAL_MS = 5_000
"""Interval in milliseconds at which the page checks whether the user counts as away; no signal reports that."""


class _PaddedDelegate(QStyledItemDelegate):
    """Delegate of wrapped texts, with some space above and below them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return super().sizeHint(option, index) + QSize(0, SPACE_3)


class ActivityPage(RecordPage[TaskRun]):
    """Page with the task runs of all personas and the details of the selected one, or with what is planned for one persona.

    The persona that is chosen is the one whose background activity is switched on or off and for whom a task is started.
    """

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
        super().__init__(context, QCoreApplication.translate("ActivityPage", "Background activity"), persona_selector)
        self._runner, self._activity_log = background_runner, activity_log
        self._tool_registry, self._library, self._preferences = tool_registry, library, preferences
        self._names: dict[str, str] = {}
        self._usage_today = ""
        self._disabled: list[DisabledTask] = []
        self._persona: Persona | None = None
        self._has_chosen_view = False
        """True if the user chose a view; otherwise the plan is shown while there is no history."""
        self.hint, self.problem_list = build_small_label(""), ProblemList()
        self.agent_mode_check = QCheckBox(self.tr("On for this persona"))
        self._build_planned_table()
        *head_commands, undo = self._build_commands()
        self.buttons = self.build_command_buttons(undo)
        self.detail = TaskRunDetail(self.buttons, context.navigator.open)
        self.views, own = self._build_filters()
        self.build_list(
            RecordSpec(
                name=self.tr("Task history"),
                columns=self._build_columns(),
                key=attrgetter("id"),
                search_text=format_result,
                filters=[self.views, own],
                commands=[*head_commands, undo],
                selects_one=True,
                selects_first=True,
            ),
            detail=self.detail,
            search_row=[self.agent_mode_check],
            head=[self.hint, self.problem_list],
            empty_view=self.planned_table,
        )
        self._connect()

    def _build_planned_table(self) -> None:
        def due(task: PlannedTask) -> str:
            return format_due(task, is_on=self._is_on)

        columns: list[Column[PlannedTask]] = [
            Column(self.tr("Task"), attrgetter("title"), width=232),
            Column(self.tr("Next run"), due, lambda task: task.due or now(), 216, hides_at=2),
            Column(self.tr("Usual cost"), format_usual_cost, attrgetter("tokens"), 150, hides_at=1, is_optional=True),
            Column(self.tr("What it does"), attrgetter("help"), width=0, min_width=240),
        ]
        self.planned_rows = FilteredTableModel(columns, key=attrgetter("name"), search_text=attrgetter("title"))
        empty_text = self.tr("No task is selected for this persona.")
        self.planned_table = table = Table(self.planned_rows, self.theme, self.tr("Planned tasks"), empty_text)
        table.setWordWrap(True)
        table.setItemDelegate(_PaddedDelegate(table))
        table.verticalHeader().setMinimumSectionSize(table.verticalHeader().defaultSectionSize())
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)

    def _build_commands(self) -> list[RecordCommand[TaskRun]]:
        """Return the commands on the page, and as the last one that which undoes a run."""
        return [
            page_command(
                self.tr("Stop"),
                self._activity_log.stop,
                "stop",
                needs_records=False,
                is_shown=lambda: bool(self._activity_log.running_entries),
                tooltip=self.tr("Stop the running task and keep its results so far"),
            ),
            page_command(
                self.tr("Run task now"),
                self.show_task_menu,
                needs_records=False,
                tooltip=self.tr("Run one task now, without waiting until you are away"),
            ),
            single_command(
                self.tr("Undo task"),
                self._undo_run,
                is_shown=lambda run: not run.undone and run.outcome is not None,
                tooltip=self.tr("Move memories to the Trash, discard notes and revert changes; your own later edits are kept"),
            ),
        ]

    def _build_filters(self) -> tuple[ChipFilter[TaskRun], ChipFilter[TaskRun]]:
        tr = self.tr
        no_runs = tr("No tasks yet. What personas do while you are away is listed here, with its cost and results.")
        upkeep = tr("List archiving, notebooks and moods too, which Lethe runs for every persona")
        plan = tr("What runs next, when, and what it usually costs")
        views = ChipFilter[TaskRun](
            [
                Chip(HISTORY, tr("History"), lambda run: run.task not in UPKEEP, empty_text=no_runs),
                Chip(UPKEEP_HISTORY, tr("With memory upkeep"), lambda _run: True, upkeep, no_runs),
                Chip(PLANNED, tr("Planned"), lambda _run: False, plan),
            ],
            Checked.ONE,
            self,
        )
        hint = tr("List the tasks of this persona, not those of the others")
        is_own = Chip[TaskRun](OWN, tr("Only this persona"), lambda run: run.persona_id == self.persona_id, hint)
        return views, ChipFilter([is_own], parent=self)

    def _build_columns(self) -> list[Column[TaskRun]]:
        def result_colour(run: TaskRun) -> str:
            is_bad = run.outcome in {RunOutcome.FAILED, RunOutcome.LOST}
            return self.theme.palette.danger if is_bad else "" if run.outcome is RunOutcome.MADE else self.theme.palette.muted

        def tokens(run: TaskRun) -> str:
            return abbreviate_tokens(run.tokens) if run.tokens else ""

        tr, began = self.tr, attrgetter("began")
        return [
            Column(tr("Date"), lambda run: format_relative_date(run.began), began, 96, hides_at=5),
            Column(tr("Time"), lambda run: format_time(run.began), began, 72, hides_at=2),
            Column(tr("Persona"), self._persona_name, width=96, hides_at=3),
            Column(tr("Task"), self._task_title, width=150, hides_at=4),
            Column(tr("Result"), format_result, width=0, min_width=160, colour=result_colour),
            Column(tr("Tokens"), tokens, attrgetter("tokens"), 72, hides_at=1, is_right_aligned=True),
        ]

    def _connect(self) -> None:
        self._idle_check_timer = QTimer(self, interval=IDLE_CHECK_INTERVAL_MS)
        self._idle_check_timer.timeout.connect(self._update_status)
        self._idle_check_timer.start()
        self.follow(self._library.changed, self._preferences.changed)
        self._unsubscribers += [
            changed.add(lambda _none: self._on_activity_changed())
            for changed in (self._runner.changed, self._tool_registry.changed)
        ]
        self.views.changed.connect(self._on_view_chosen)
        self.agent_mode_check.clicked.connect(self._set_agent_mode)
        self.problem_list.enable_requested.connect(lambda task: self._context.tasks.start_task(self._runner.enable_task(task)))

    def first_focus_widget(self) -> QWidget:
        return self.table if self.rows.row_total else super().first_focus_widget()

    def close_page(self) -> None:
        self._idle_check_timer.stop()
        super().close_page()

    # The list

    def on_persona_chosen(self) -> None:
        self._persona = None  # until the new one is loaded, nothing can be changed for either
        self.agent_mode_check.setEnabled(False)

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
        if not self._has_chosen_view:
            self.views.select(HISTORY)
            self.apply_filter()
            if not self.rows.visible_rows:
                self.views.select(PLANNED)
        self.apply_filter()
        self.agent_mode_check.setChecked(self._persona is not None and self._persona.agent_mode)
        self.agent_mode_check.setEnabled(self._persona is not None)
        self._update_status()

    @property
    def _is_plan_shown(self) -> bool:
        return self.views.selected == [PLANNED]

    def apply_filter(self) -> None:
        super().apply_filter()
        self.stack.setCurrentIndex(int(self._is_plan_shown))
        if self.table.current_row is None and self.rows.visible_rows:
            self.table.select_row(self.rows.visible_rows[0].id)

    def _on_view_chosen(self) -> None:
        self._has_chosen_view = True
        self._update_status()

    def format_count(self) -> str:
        """Return what is running, in place of the number of runs."""
        return "; ".join(map(format_running_entry, self._activity_log.running_entries))

    def _update_status(self) -> None:
        """Update the subtitle, the hint why no task is running, and the list of plug-in problems."""
        settings = self._preferences.current
        self.update_commands()
        self.subtitle.set_full_text(self.format_count())
        idle_reason = "" if self._runner.running_task is not None else explain_hindrance(self._runner.pause_reason, settings)
        plan = ""
        if self._is_plan_shown and self._persona is not None:
            if not self._persona.agent_mode:
                idle_reason = ""  # that of the persona comes first
            if self._is_on or not self._persona.agent_mode:
                plan = explain_plan(self._persona.name, is_on=self._is_on)
        self.hint.setText(" ".join(filter(None, (plan, idle_reason, self._usage_today))))
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
        button = self.button(self.tr("Run task now"))
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

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
