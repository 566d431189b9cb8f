"""Detail pane of a task run: outcome, cost, created items and the button that undoes the run."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.domain.agent_runs import ProducedKind, ProducedRecord, TaskRun
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.core.labels.dates import format_relative_date, format_time
from lethe_app.ui.core.labels.task_runs import format_outcome
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.core.routes import DreamsRoute, MemoriesRoute, NotebooksRoute, PersonaRoute, ResearchRoute, Route
from lethe_app.ui.pages.activity.labels import format_cost, format_kind
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column


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
    """Detail pane of the selected task run."""

    def __init__(self, buttons: QWidget, open_route: Callable[[Route], object]) -> None:
        """Create the pane; `buttons` are those of the commands on a run, and `open_route` opens a created item."""
        super().__init__(self.tr("Select a task to see its results."), MIN_WIDTH, WIDTH)
        self._open_route = open_route
        self.run: TaskRun | None = None
        self.title, self.date_label = create_text_label("", "section"), build_small_label("")
        self.summary_label, self.cost = create_text_label(""), build_small_label("")
        self.summary_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.add_card(self.title, self.date_label, self.summary_label, self.cost)
        self._items_column = build_column(spacing=SPACE_2)
        self._items_card, column = self.add_card(title=self.tr("Results"))
        column.addLayout(self._items_column)
        column.addWidget(buttons)

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
        fill_layout(self._items_column, [self._build_item_row(run, made) for made in run.made])

    def _build_item_row(self, run: TaskRun, created: ProducedRecord) -> QWidget:
        """Build the row of a created item: its title, and a “Show” button if its kind can be opened and the run is not
        undone.
        """
        row, short = QWidget(), truncate_text(created.title or format_kind(created.kind), MAX_TITLE_LENGTH)
        labels = (build_small_label(format_kind(created.kind)), create_text_label(short))
        column = build_column(*labels, spacing=SPACE_1, parent=row)
        route = item_route(run, created)
        if route is not None and not run.undone:
            button = QPushButton(self.tr("Show"))
            button.setProperty("chip", True)
            button.setAccessibleName(self.tr("Show “{title}”").format(title=short))
            button.clicked.connect(lambda: self._open_route(route))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return row
