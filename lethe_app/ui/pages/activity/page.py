"""Page “While you were away”: task runs of all personas with cost, errors and undo."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QMenu, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import Made, MadeKind, RunOutcome, TaskRun
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.background.plugin_failures import Disabled
from lethe_app.ui.core.formatting import rounded
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.activity.detail import OPENERS, AwayDetail
from lethe_app.ui.pages.activity.labels import (
    clock_in_words,
    day_in_words,
    hindrance_in_words,
    spent_in_words,
    underway_in_words,
    what_came,
)
from lethe_app.ui.pages.activity.plugin_errors import FaultList, of_disabled, of_tasks, of_tools
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.card_column import side_by_side
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

DAY, CLOCK, WHO, TASK, WHAT, TOKENS = range(6)
WIDTHS = {DAY: 96, CLOCK: 72, WHO: 96, TASK: 150, TOKENS: 72}
DISPENSABLE = (DAY, TASK, WHO, CLOCK, TOKENS)
"""Columns that a narrow table hides, the last one first."""
LEAST = 160
MOST = 500
CHANGED_MS = 150
LOOK_MS = 5_000
"""Interval in milliseconds at which the page checks whether the user counts as away; no signal reports that."""


class AwayPage(Page):
    """Page with the task runs on the left and details of the selected run on the right.

    The persona selector above them decides whose background activity is switched on or off and for whom a task is started.
    """

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("AwayPage", "While you were away"))
        self._place, self._services, self._away = place, place.services, place.services.away
        self._names: dict[str, str] = {}
        self._today = ""
        self._disabled: list[Disabled] = []
        self._persona: Persona | None = None
        self.deeds = CommandRunner(self.undo, place.bridge, self._read_soon)
        self.rows = self._made_rows()
        self._build()
        self._connect()
        self.whose.announce_first()
        self._read_soon()

    def _made_rows(self) -> FilteredTableModel[TaskRun]:
        def ink(run: TaskRun) -> str:
            is_bad = run.outcome in {RunOutcome.FAILED, RunOutcome.LOST}
            return self.theme.palette.danger if is_bad else "" if run.outcome is RunOutcome.MADE else self.theme.palette.muted

        columns = [
            Column[TaskRun](self.tr("Date"), lambda run: day_in_words(run.began), attrgetter("began"), WIDTHS[DAY]),
            Column[TaskRun](self.tr("Time"), lambda run: clock_in_words(run.began), attrgetter("began"), WIDTHS[CLOCK]),
            Column[TaskRun](self.tr("Persona"), self._name_of, width=WIDTHS[WHO]),
            Column[TaskRun](self.tr("Task"), self._title_of, width=WIDTHS[TASK]),
            Column[TaskRun](self.tr("Result"), what_came, width=0, colour=ink),
            Column[TaskRun](self.tr("Tokens"), _tokens, attrgetter("tokens"), WIDTHS[TOKENS], right=True),
        ]
        return FilteredTableModel(columns, key=attrgetter("id"), searched=what_came)

    def _build(self) -> None:
        self.whose = Whose(self._place)
        self.whose.setAccessibleName(self.tr("Persona"))
        self.whose.setToolTip(self.tr("Persona"))
        self.busy = QCheckBox(self.tr("Background activity"))
        self.now_button = QPushButton(self.tr("Run task now"))
        self.now_button.setProperty("filled", True)
        self.now_button.setToolTip(self.tr("Run one task now, without waiting until you are away"))
        self.everybody = QPushButton(self.tr("All personas"))
        self.everybody.setProperty("chip", True)
        self.everybody.setCheckable(True)
        self.everybody.setChecked(True)
        self.everybody.setToolTip(self.tr("List the tasks of all personas, not only this one"))
        self.stop_button = self.add_button(self.tr("Stop"), self._away.stop, "stop")
        self.stop_button.setToolTip(self.tr("Stop the running task and keep its results so far"))
        self.add_button(self.tr("Deep research"), self._place.window.actions_["research"].trigger, "search")
        self.hint = explanation("")
        self.faults = FaultList(self.theme)
        nothing = self.tr("No tasks yet. What personas do while you are away is listed here, with its cost and results.")
        self.table: Table[TaskRun] = Table(self.rows, self.theme, self.tr("Task history"), nothing)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.detail = AwayDetail(self)
        self._lay_out()

    def _lay_out(self) -> None:
        line, above = QWidget(), QWidget()
        flow = Flow(line, spacing=SPACE_3)
        # The check box gets the height of the button beside it, so that their texts share one line.
        self.busy.setMinimumHeight(self.now_button.sizeHint().height())  # so that its words stand on the line of the others
        for widget in (self.whose, self.busy, self.now_button, self.everybody):
            flow.addWidget(widget)
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addWidget(line)
        head.addWidget(self.hint)
        head.addWidget(self.faults)
        split = side_by_side(self.table, self.detail)
        self.body.addWidget(above)
        self.body.addWidget(split, 1)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self._read_soon)
        self._look = QTimer(self, interval=LOOK_MS)
        self._look.timeout.connect(self._tell_now)
        self._look.start()
        services = self._services
        self._stop: list[Callable[[], None]] = [
            self._away.changed.add(lambda _none: self._changed_behind()),
            services.tooling.changed.add(lambda _none: self._changed_behind()),
            services.library.changed.add(lambda _none: self._soon.start()),
            services.preferences.changed.add(lambda _settings: self._soon.start()),
        ]
        self.whose.chosen.connect(lambda _persona: self._read_soon())
        self.everybody.toggled.connect(lambda _on: self._filter())
        self.busy.clicked.connect(self._switch)
        self.now_button.clicked.connect(self.choose_task)
        self.table.current_changed.connect(self._show_run)
        self.table.viewport().installEventFilter(self)
        self.detail.undo_wanted.connect(self.revert_run)
        self.detail.open_wanted.connect(self._open)
        self.faults.again_wanted.connect(lambda task: self._place.bridge.spawn(self._away.allow(task)))
        self.theme.changed.connect(self.faults.dress)

    def first_focus(self) -> QWidget:
        return self.table if self.rows.total else self.whose

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, LEAST)
        return False

    def close_page(self) -> None:
        self.whose.close_field()
        self._soon.stop()
        self._look.stop()
        self._place.bridge.cancel("away list")
        for stop in self._stop:
            stop()

    # the list

    def _changed_behind(self) -> None:
        self._tell_now()
        self._soon.start()

    def _read_soon(self) -> None:
        self._place.bridge.spawn(self._read(), lane="away list")

    async def _read(self) -> None:
        runs = await self._away.runs(MOST)
        personas = await self._services.library.personas()
        self._names = {persona.unique_name: persona.name for persona in personas}
        self._persona = next((one for one in personas if one.unique_name == self.whose.persona), None)
        was_empty = not self.rows.total
        self.rows.fill(runs)
        self._filter()
        if was_empty and runs:
            self.table.go_to(runs[0].id)
        self._show_run(self.table.current)
        self.busy.setChecked(self._persona is not None and self._persona.agent_mode)
        self.busy.setEnabled(self._persona is not None)
        self._disabled = await self._away.disabled()
        spent = await self._away.spent_today(self.whose.persona)
        self._today = spent_in_words(spent.tokens, spent.time, self._services.preferences.current)
        self._tell_now()

    def _filter(self) -> None:
        persona = self.whose.persona
        self.rows.filter("", None if self.everybody.isChecked() else lambda run: run.persona_id == persona)

    def _tell_now(self) -> None:
        """Update the subtitle, the hint why no task is running, and the list of plug-in problems."""
        underway, settings = self._away.everything_underway, self._services.preferences.current
        self.stop_button.setVisible(bool(underway))
        self.subtitle.set_full("; ".join(map(underway_in_words, underway)))
        waiting = "" if self._away.underway is not None else hindrance_in_words(self._away.hindrance, settings)
        self.hint.setText("  ".join(filter(None, (self._today, waiting))))
        tasks = [(fault.distribution, fault.words) for fault in self._away.registry.faults]
        self.faults.show_troubles([*of_disabled(self._disabled), *of_tasks(tasks), *of_tools(self._services.tooling.faults)])

    def _name_of(self, run: TaskRun) -> str:
        return self._names.get(run.persona_id, run.persona_id)

    def _title_of(self, run: TaskRun) -> str:
        return self._away.title_of(run.task)

    def _show_run(self, run: TaskRun | None) -> None:
        if run is None:
            self.detail.show_run(None, "", "")
        else:
            self.detail.show_run(run, self._title_of(run), self._name_of(run))

    # Actions of the user.

    def _switch(self, on: bool) -> None:
        persona = self._persona
        if persona is None:
            return

        async def turn(value: bool) -> None:
            now_saved = await self._services.library.persona(persona.unique_name)
            await self._services.library.save_persona(now_saved.model_copy(update={"agent_mode": value}))

        title = self.tr("changing background activity")
        self.deeds.do(title, lambda: turn(on), lambda: turn(not on))

    def choose_task(self) -> None:
        """Open a menu of all registered tasks, each of which can be started now."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for known in self._away.registry.all():
            action = menu.addAction(known.task.title)
            action.setToolTip(known.task.help)
            action.triggered.connect(lambda _on=False, name=known.name: self.ask(name))
        menu.popup(self.now_button.mapToGlobal(self.now_button.rect().bottomLeft()))

    def ask(self, task: str) -> None:
        """Start a task for the selected persona now; a refusal is reported in the window."""
        try:
            self._away.ask(self.whose.persona, task)
        except LetheError as error:
            self._place.window.notifier.report(error)

    def revert_run(self, run: TaskRun | None) -> None:
        """Undo a run and everything it created. A report is deleted only after confirmation."""
        if run is not None:
            self._place.bridge.spawn(self._take_back(run))

    async def _take_back(self, run: TaskRun) -> None:
        report = next((made for made in run.made if made.kind is MadeKind.REPORT), None)
        if report is not None and not await self._may_lose(report):
            return
        await self._away.undo(run.id)
        self._place.window.notifier.tell(self.tr("Task undone. Its memories are in the Trash."))

    async def _may_lose(self, report: Made) -> bool:
        """Ask the user to confirm the deletion of a report, which does not go to the Trash."""
        title = self.tr("Delete report?")
        words = self.tr("The report about “{topic}” cannot be restored. A memory made from it is kept.")
        return await answered(
            ConfirmDialog(self._place.window, title, words.format(topic=report.title), self.tr("Delete report"))
        )

    def _open(self, run: TaskRun, made: Made) -> None:
        OPENERS[made.kind](self._place, run, made)


def _tokens(run: TaskRun) -> str:
    return rounded(run.tokens) if run.tokens else ""
