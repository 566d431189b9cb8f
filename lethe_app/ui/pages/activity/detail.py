"""Detail pane of a task run: outcome, cost, created items and the button that undoes the run."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import ProducedKind, ProducedRecord, TaskRun
from lethe_app.ui.core.labels.dates import format_relative_date, format_time
from lethe_app.ui.core.labels.task_runs import format_outcome
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.core.routes import DreamsRoute, MemoriesRoute, NotebooksRoute, PersonaRoute, ResearchRoute, Route
from lethe_app.ui.pages.activity.labels import format_cost, format_kind
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import create_card, fill_layout
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label


def item_route(run: TaskRun, item: ProducedRecord) -> Route | None:
    """Return the route to an item that a run created; None for kinds without a page. Proposed changes are accepted or declined
    on the dreams page.
    """
    match item.kind:
        case ProducedKind.MEMORY:
            return MemoriesRoute(run.persona_id, UUID(item.id))
        case ProducedKind.PERSONA:
            return PersonaRoute(run.persona_id)
        case ProducedKind.CHANGE:
            return DreamsRoute(run.persona_id)
        case ProducedKind.NOTEBOOK:
            return NotebooksRoute(run.persona_id, item.id)
        case ProducedKind.REPORT:
            return ResearchRoute(UUID(item.id))
        case _:
            return None


MIN_WIDTH, WIDTH = 280, 380
MAX_TITLE_LENGTH = 80


class TaskRunDetail(DetailPane):
    """Detail pane of the selected task run. It only emits signals; the page carries out the actions."""

    undo_requested = Signal(object)
    open_requested = Signal(object)
    """Emitted with the route of the created item to open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Select a task to see its results."), MIN_WIDTH, WIDTH, parent)
        self.run: TaskRun | None = None
        self._build()

    def _build(self) -> None:
        card, column = create_card()
        self.title, self.date_label = create_text_label("", "section"), build_small_label("")
        self.summary_label, self.cost = create_text_label(""), build_small_label("")
        self.summary_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (self.title, self.date_label, self.summary_label, self.cost):
            column.addWidget(widget)
        self._sheet.add_widget(card)
        self._items_card, items_column = create_card(self.tr("Results"))
        self._items_column = QVBoxLayout()
        self._items_column.setSpacing(SPACE_2)
        items_column.addLayout(self._items_column)
        self._sheet.add_widget(self._items_card)
        self.undo_button = build_button(self.tr("Undo task"))
        tip = self.tr("Move memories to the Trash, discard notes and revert changes; your own later edits are kept")
        self.undo_button.setToolTip(tip)
        self.undo_button.clicked.connect(lambda: self.undo_requested.emit(self.run))
        items_column.addWidget(self.undo_button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_run(self, run: TaskRun | None, task: str, persona_name: str) -> None:
        """Show a run, or a hint if it is None; `task` and `persona_name` are display names."""
        is_same = run is not None and self.run == run
        self.run = run
        self.setCurrentIndex(0 if run is None else 1)
        if run is None or is_same:
            return
        self.title.setText(task)
        date = f"{format_relative_date(run.began)}, {format_time(run.began)}"
        self.date_label.setText(f"{persona_name} · {date} · {format_outcome(run)}")
        self.summary_label.setText("\n".join(filter(None, (run.summary, run.trouble))))
        self.summary_label.setVisible(bool(self.summary_label.text()))
        self.cost.setText(format_cost(run))
        self.cost.setVisible(bool(self.cost.text()))
        self._items_card.setVisible(bool(run.made))
        self.undo_button.setVisible(not run.undone and run.outcome is not None)
        fill_layout(self._items_column, [self._build_item_row(run, made) for made in run.made])

    def _build_item_row(self, run: TaskRun, created: ProducedRecord) -> QWidget:
        """Build the row of a created item: its title, and a “Show” button if its kind can be opened and the run is not
        undone.
        """
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(build_small_label(format_kind(created.kind)))
        title = created.title or format_kind(created.kind)
        short = title if len(title) <= MAX_TITLE_LENGTH else f"{title[: MAX_TITLE_LENGTH - 1]}…"
        column.addWidget(create_text_label(short))
        route = item_route(run, created)
        if route is not None and not run.undone:
            button = QPushButton(self.tr("Show"))
            button.setProperty("chip", True)
            button.setAccessibleName(self.tr("Show “{title}”").format(title=short))
            button.clicked.connect(lambda: self.open_requested.emit(route))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return row
