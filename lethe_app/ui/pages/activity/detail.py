"""Detail pane of a task run: outcome, cost, created items and the button that undoes the run."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import Made, MadeKind, TaskRun
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.pages import registry
from lethe_app.ui.pages.activity.labels import clock_in_words, cost_in_words, day_in_words, kind_in_words, outcome_in_words
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.widgets.card_column import invitation, made_card, side_sheet

Opener = Callable[[PageContext, TaskRun, Made], None]


def memory(place: PageContext, run: TaskRun, made: Made) -> None:
    """Open the memories page and select the memory that the run created."""
    from lethe_app.ui.pages.memories.page import MemoryPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: MemoryPage(place), made_by=registry.memories)
    if isinstance(page, MemoryPage):
        page.show_memory(run.persona_id, UUID(made.id))


def persona(place: PageContext, run: TaskRun, _made: Made) -> None:
    """Open the editor of the persona that the run belongs to."""
    registry.edit_persona(place, run.persona_id)


def change(place: PageContext, run: TaskRun, _made: Made) -> None:
    """Open the dreams page, on which proposed changes are accepted or declined, for the run's persona."""
    from lethe_app.ui.pages.dreams.page import DreamPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: DreamPage(place), made_by=registry.dreams)
    if isinstance(page, DreamPage):
        page.whose.choose(run.persona_id)


def notebook(place: PageContext, run: TaskRun, made: Made) -> None:
    """Open the notebooks page and select the notebook that the run created."""
    from lethe_app.ui.pages.notebooks.page import NotebookPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: NotebookPage(place), made_by=registry.notebooks)
    if isinstance(page, NotebookPage):
        page.show_notebook(run.persona_id, made.id)


def report(place: PageContext, _run: TaskRun, made: Made) -> None:
    """Open the research page and select the report that the run created."""
    from lethe_app.ui.pages.research.page import ResearchPage  # noqa: PLC0415 - no page delays another

    page = place.desk.open(lambda: ResearchPage(place), made_by=registry.research)
    if isinstance(page, ResearchPage):
        page.show_inquiry(UUID(made.id))


OPENERS: dict[MadeKind, Opener] = {
    MadeKind.MEMORY: memory,
    MadeKind.PERSONA: persona,
    MadeKind.CHANGE: change,
    MadeKind.NOTEBOOK: notebook,
    MadeKind.REPORT: report,
}
"""Function that opens the page of a created item, by kind; items of other kinds get no “Show” button."""


LEAST_WIDTH, WIDTH = 280, 380
LONGEST_TITLE = 80


class AwayDetail(QStackedWidget):
    """Detail pane of the selected task run. It only emits signals; the page carries out the actions."""

    undo_wanted = Signal(object)
    open_wanted = Signal(object, object)
    """The run, and the created item to open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run: TaskRun | None = None
        self.setMinimumWidth(LEAST_WIDTH)
        nothing = invitation(self.tr("Select a task to see its results."))
        self._sheet = side_sheet()
        self._build()
        self.addWidget(nothing)
        self.addWidget(self._sheet)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _build(self) -> None:
        card, column = made_card()
        self.title, self.when, self.words, self.cost = QLabel(), explanation(""), QLabel(), explanation("")
        self.title.setProperty("section", True)
        for label in (self.title, self.words):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (self.title, self.when, self.words, self.cost):
            column.addWidget(widget)
        self._sheet.add(card)
        self._made_card, made_column = made_card(self.tr("Results"))
        self._made = QVBoxLayout()
        self._made.setSpacing(SPACE_2)
        made_column.addLayout(self._made)
        self._sheet.add(self._made_card)
        self.undo_button = QPushButton(self.tr("Undo task"))
        self.undo_button.setProperty("filled", True)
        tip = self.tr("Move memories to the Trash, discard notes and revert changes; your own later edits are kept")
        self.undo_button.setToolTip(tip)
        self.undo_button.clicked.connect(lambda: self.undo_wanted.emit(self.run))
        made_column.addWidget(self.undo_button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_run(self, run: TaskRun | None, task: str, persona: str) -> None:
        """Show a run, or a hint if it is None; `task` and `persona` are display names."""
        is_same = run is not None and self.run == run
        self.run = run
        self.setCurrentIndex(0 if run is None else 1)
        if run is None or is_same:
            return
        self.title.setText(task)
        self.when.setText(f"{persona} · {day_in_words(run.began)}, {clock_in_words(run.began)} · {outcome_in_words(run)}")
        self.words.setText("\n".join(filter(None, (run.summary, run.trouble))))
        self.words.setVisible(bool(self.words.text()))
        self.cost.setText(cost_in_words(run))
        self.cost.setVisible(bool(self.cost.text()))
        self._made_card.setVisible(bool(run.made))
        self.undo_button.setVisible(not run.undone and run.outcome is not None)
        self._show_made(run)

    def _show_made(self, run: TaskRun) -> None:
        while (item := self._made.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                # deleteLater() deletes in a later pass of the event loop; until then the old line would be painted over the
                # new ones.
                widget.hide()
                widget.deleteLater()
        for made in run.made:
            self._made.addWidget(self._line(run, made))

    def _line(self, run: TaskRun, made: Made) -> QWidget:
        """Build the row of a created item: its title, and a “Show” button if its kind can be opened and the run is not
        undone.
        """
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(explanation(kind_in_words(made.kind)))
        title = made.title or kind_in_words(made.kind)
        short = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
        words = QLabel(short)
        words.setWordWrap(True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        column.addWidget(words)
        if made.kind in OPENERS and not run.undone:
            button = QPushButton(self.tr("Show"))
            button.setProperty("chip", True)
            button.setAccessibleName(self.tr("Show “{title}”").format(title=short))
            button.clicked.connect(lambda: self.open_wanted.emit(run, made))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return whole
