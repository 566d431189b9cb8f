"""Entry test: which entries a text activates, by which key, why others are not activated, and the token cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from uuid import UUID

from PySide6.QtCore import QObject, QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QSplitter,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from lethe_app.domain.chat import Message
from lethe_app.services.worlds.world_trial import TrialEntryResult, TrialInput, TrialOutcome, WorldTrials
from lethe_app.ui.core.formatting import format_count, format_token_count
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme, interface_font_size, mix_colours
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.labels import explain_result
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel
from lethe_app.ui.widgets.text_area import TextAreaField

RUN_DELAY_MS = 200
"""Pause in typing, in milliseconds, before a test is run."""
REPEAT_COUNT = 20
REASON_COLUMN = 1
"""Index of the reason column."""
SIDE_BY_SIDE_MIN_WIDTH = 760
"""Width in pixels, at the default text size, below which the results are below the text."""


class WorldTrialPanel(QFrame):
    """Form and results of a test; `run_requested` is emitted when another test is to be run."""

    run_requested = Signal()
    result_opened = Signal(object)
    """The result whose entry is to be shown in the editor."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trial_panel")
        self.setAccessibleName(self.tr("Test entries"))
        self._theme = theme
        self._messages: list[Message] = []
        self._outcome = TrialOutcome()
        self.message_box = NoWheelComboBox()
        self.message_box.setAccessibleName(self.tr("Text to test"))
        self.message_box.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.message_box.setMinimumContentsLength(12)
        self.text_field = TextAreaField(self.tr("Test text"), 3, 8)
        self.text_field.setPlaceholderText(self.tr("Enter a message to see which entries it activates."))
        self.ignore_history_check = QCheckBox(self.tr("Ignore chat history"))
        self.this_world_check = QCheckBox(self.tr("This world only"))
        self.repeat_button = build_button(self.tr("Run 20×"))
        self.repeat_button.setCheckable(True)
        self.repeat_button.setToolTip(self.tr("Run the test 20 times to see how often each entry is activated"))
        self.summary_label = create_text_label("")
        self.rows: FilteredTableModel[TrialEntryResult] = FilteredTableModel(
            self._build_columns(), lambda one: one.entry.guid, lambda one: one.entry.name
        )
        self.table = Table(self.rows, theme, self.tr("Test results"), self.tr("No entries activated."))
        self.full_reason_label = create_text_label("", "small")
        self.full_reason_label.hide()
        self._run_timer = QTimer(self, singleShot=True, interval=RUN_DELAY_MS)
        self._build()
        self._connect()

    def _build_columns(self) -> list[Column[TrialEntryResult]]:
        tr, name = self.tr, lambda one: one.entry.name or one.entry.content[:60]
        return [
            Column(tr("Entry"), name, width=212, icon=self._result_icon),
            Column(tr("Reason"), explain_result, width=0, min_width=120, colour=self._text_colour),
            Column(tr("Tokens"), _format_tokens, attrgetter("tokens"), 64, is_right_aligned=True),
            Column(tr("Rate"), _format_share, lambda one: one.share or 0.0, 72, is_right_aligned=True),
        ]

    def _build(self) -> None:
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
            column.setSpacing(SPACE_2)
        switches = QHBoxLayout()
        switches.setSpacing(SPACE_3)
        switches.addWidget(self.this_world_check)
        switches.addStretch(1)
        switches.addWidget(self.repeat_button)
        left.addWidget(self.message_box)
        left.addWidget(self.text_field)
        left.addLayout(switches)
        left.addWidget(self.ignore_history_check)
        left.addStretch(1)
        right.addWidget(self.summary_label)
        right.addWidget(self.table, 1)
        right.addWidget(self.full_reason_label)
        right.setSpacing(SPACE_1)
        self._halves_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._halves_layout.setContentsMargins(0, 0, 0, 0)
        self._halves_layout.setSpacing(0)
        self._halves_layout.addLayout(left, 4)
        self._halves_layout.addLayout(right, 8)
        self.table.setColumnHidden(3, True)
        self.table.setMinimumHeight(96)

    def _connect(self) -> None:
        self._run_timer.timeout.connect(self.run_requested)
        self.text_field.edited.connect(self._on_text_edited)
        self.message_box.activated.connect(self._on_message_picked)
        self.ignore_history_check.toggled.connect(lambda _on: self.run_requested.emit())
        self.this_world_check.toggled.connect(lambda _on: self.run_requested.emit())
        self.repeat_button.toggled.connect(self._set_repeated)
        self.table.current_changed.connect(lambda _one: self._highlight_keys())
        self.table.current_changed.connect(lambda _one: self._show_full_reason())
        self.table.opened.connect(self.result_opened)
        self._theme.changed.connect(self._highlight_keys)

    # Input.

    @property
    def message_id(self) -> UUID | None:
        """The chosen message, unless its text was edited."""
        index = self.message_box.currentIndex() - 1
        return self._messages[index].id if 0 <= index < len(self._messages) else None

    @property
    def repeat_count(self) -> int:
        return REPEAT_COUNT if self.repeat_button.isChecked() else 1

    def schedule_run(self) -> None:
        """Run the test again after a short delay, because something relevant has changed."""
        if not self.isHidden():
            self._run_timer.start()

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Offer messages of the open conversation, newest first."""
        self._messages = list(messages)
        with QSignalBlocker(self.message_box):
            self.message_box.clear()
            self.message_box.addItem(self.tr("Custom text"))
            for message in self._messages:
                text = " ".join(message.content.split())
                self.message_box.addItem(f"{message.speaker_name}: {text[:70]}{'…' if len(text) > 70 else ''}")

    def _on_message_picked(self, index: int) -> None:
        if index:
            self.text_field.set_text(self._messages[index - 1].content)
        self.run_requested.emit()

    def _on_text_edited(self, _text: str) -> None:
        if self.message_box.currentIndex() > 0:
            with QSignalBlocker(self.message_box):
                self.message_box.setCurrentIndex(0)
        self.text_field.setExtraSelections([])
        self._run_timer.start()

    def _set_repeated(self, is_repeated: bool) -> None:
        self.table.setColumnHidden(3, not is_repeated)
        self.run_requested.emit()

    # Results.

    def show_outcome(self, outcome: TrialOutcome) -> None:
        """Show the result: entries, total cost, and the matched keys in the text."""
        self._outcome = outcome
        self.rows.set_rows(outcome.tried)
        activated, not_activated = len(outcome.activated), len(outcome.tried) - len(outcome.activated)
        parts = [
            format_count(activated, self.tr("{n} entry activated"), self.tr("{n} entries activated")),
            format_token_count(outcome.tokens),
            format_count(not_activated, self.tr("{n} not activated"), self.tr("{n} not activated")) if not_activated else "",
        ]
        if not outcome.tried:
            has_text = bool(self.text_field.text.strip())
            parts = [self.tr("No entries activated by this text.") if has_text else self.tr("No entries active at the start.")]
        self.summary_label.setText(" · ".join(filter(None, parts)))
        self._highlight_keys()

    def _highlight_keys(self) -> None:
        """Highlight the matched keys of the selected entry, or of all activated entries."""
        # A table with rows always has a current one, so it counts as chosen only while the table has the focus.
        selected = self.table.current_row if self.table.hasFocus() else None
        results = [selected] if selected is not None else self._outcome.activated
        self.text_field.setExtraSelections(
            [self._build_selection(start, end) for result in results for start, end in result.spans]
        )

    def _show_full_reason(self) -> None:
        """Show the whole reason of the selected row below the table if its column is too narrow."""
        result = self.table.current_row
        reason = explain_result(result) if result is not None else ""
        available_width = self.table.columnWidth(REASON_COLUMN) - 2 * SPACE_3
        is_cut = self.table.fontMetrics().horizontalAdvance(reason) > available_width
        self.full_reason_label.setText(reason[:1].upper() + reason[1:])
        self.full_reason_label.setVisible(is_cut)
        if result is not None:  # the row must not be what the words now stand upon
            QTimer.singleShot(0, self.table, lambda: self.table.scrollTo(self.table.currentIndex()))

    def _build_selection(self, start: int, end: int) -> QTextEdit.ExtraSelection:
        palette, text = self._theme.palette, self.text_field.text
        cursor = QTextCursor(self.text_field.document())
        cursor.setPosition(_utf16_position(text, start))
        cursor.setPosition(_utf16_position(text, end), QTextCursor.MoveMode.KeepAnchor)
        text_format = QTextCharFormat()
        text_format.setBackground(QColor(mix_colours(palette.background, palette.water, 0.32)))
        text_format.setForeground(QColor(palette.text))
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = cursor, text_format
        return selection

    def _result_icon(self, result: TrialEntryResult) -> object:
        palette = self._theme.palette
        return load_icon("check", palette.good, 16) if result.cause is not None else load_icon("moon", palette.muted, 16)

    def _text_colour(self, result: TrialEntryResult) -> str:
        return "" if result.cause is not None else self._theme.palette.muted

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]  # Qt's own
        is_side_by_side = self.fits_beside(self.width())
        self._halves_layout.setDirection(
            QBoxLayout.Direction.LeftToRight if is_side_by_side else QBoxLayout.Direction.TopToBottom
        )

    def fits_beside(self, width: int) -> bool:
        """Return whether text and results fit side by side in this width, which leaves room for the rest of the page above."""
        return width >= SIDE_BY_SIDE_MIN_WIDTH * interface_font_size(self._theme.prose_size) / 13


def _format_tokens(result: TrialEntryResult) -> str:
    return str(result.tokens) if result.cause is not None else ""


def _format_share(result: TrialEntryResult) -> str:
    return f"{round(result.share * 100)} %" if result.share is not None else ""


def _utf16_position(text: str, position: int) -> int:
    """Return the position of a character in UTF-16 code units, in which QTextCursor counts."""
    return len(text[:position].encode("utf-16-le", "surrogatepass")) // 2


MAX_MESSAGES = 40
"""Messages of the open conversation that can be chosen as test text."""


class WorldTrial(QObject):
    """Runs tests for the test bench; a new test cancels the running one."""

    opened = Signal(str, object)
    """File stem of the world and GUID of the entry to show."""

    def __init__(self, context: PageContext, trials: WorldTrials, book: WorldEditorState, splitter: QSplitter) -> None:
        """Create the trial; the test bench is added to `splitter` when it is first opened."""
        super().__init__()
        self._context, self._book, self._splitter = context, book, splitter
        self._trials = trials
        self._messages: Sequence[Message] | None = None

    @cached_property
    def panel(self) -> WorldTrialPanel:
        """The test bench, created at first use."""
        panel = WorldTrialPanel(self._context.theme)
        panel.hide()
        self._splitter.addWidget(panel)
        self._splitter.setSizes([420, 230])
        panel.run_requested.connect(lambda: self._context.tasks.start_task(self._run_trial(), key="world-trial"))
        panel.result_opened.connect(self._open_result)
        if self._messages is not None:
            panel.show_messages(self._messages)
        return panel

    @property
    def is_open(self) -> bool:
        return self._has_panel and not self.panel.isHidden()

    def contains_widget(self, widget: QWidget | None) -> bool:
        """Return whether a widget is part of the test bench."""
        return widget is not None and self._has_panel and self.panel.isAncestorOf(widget)

    @property
    def _has_panel(self) -> bool:
        return "panel" in vars(self)

    async def load_messages(self) -> None:
        """Load the messages of the open conversation that can be chosen."""
        session = self._context.current_session()
        if session is not None:
            self._messages = await self._trials.list_messages(session, MAX_MESSAGES)
            if self._has_panel:
                self.panel.show_messages(self._messages)

    def schedule_run(self) -> None:
        """Run the test again because a world was changed."""
        if self._has_panel:
            self.panel.schedule_run()

    def toggle_panel(self) -> None:
        """Open the test bench and focus its text, or close it."""
        self.panel.setVisible(self.panel.isHidden())
        if self.is_open:
            self.panel.text_field.setFocus()
            self.panel.run_requested.emit()

    def _open_result(self, tried: TrialEntryResult) -> None:
        self.opened.emit(tried.world.unique_name, tried.entry.guid)

    async def _run_trial(self) -> None:
        world, panel = self._book.world, self.panel
        if world is None or panel.isHidden():
            return
        trial = TrialInput(
            world,
            panel.text_field.text,
            self._context.current_session(),
            panel.message_id,
            alone=panel.this_world_check.isChecked(),
            fresh=panel.ignore_history_check.isChecked(),
            times=panel.repeat_count,
        )
        panel.show_outcome(await self._trials.run(trial))
