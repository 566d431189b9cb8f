"""Entry test: which entries a text activates, by which key, why others are not activated, and the token cost."""

from __future__ import annotations

from operator import attrgetter
from uuid import UUID

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QColor, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QFrame, QTextEdit

from lethe_app.domain.chat import Message
from lethe_app.services.worlds.world_trial import TrialEntryResult, TrialInput, TrialOutcome, WorldTrials
from lethe_app.ui.core.formatting import format_count, format_token_count, truncate_text
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import interface_font_size, mix_colours
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.labels import explain_result
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel
from lethe_app.ui.widgets.text_area import TextAreaField

RUN_DELAY_MS = 200
"""Pause in typing, in milliseconds, before a test is run."""
REPEAT_COUNT = 20
MAX_MESSAGES = 40
"""Messages of the open conversation that can be chosen as test text."""
REASON_COLUMN = 1
"""Index of the reason column."""
SIDE_BY_SIDE_MIN_WIDTH = 760
"""Width in pixels, at the default text size, below which the results are below the text."""


class WorldTrialPanel(QFrame):
    """Form and results of a test of the world on display; a new test cancels the running one."""

    result_opened = Signal(object)
    """The result whose entry is to be shown in the editor."""

    def __init__(self, context: PageContext, trials: WorldTrials, book: WorldEditorState) -> None:
        super().__init__()
        self.setObjectName("trial_panel")
        self.setAccessibleName(self.tr("Test entries"))
        self._context, self._trials, self._book, theme = context, trials, book, context.theme
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
        def result_icon(result: TrialEntryResult) -> object:
            palette = self._theme.palette
            return load_icon("check", palette.good, 16) if result.reason is not None else load_icon("moon", palette.muted, 16)

        def reason_colour(result: TrialEntryResult) -> str:
            return "" if result.reason is not None else self._theme.palette.muted

        def format_tokens(result: TrialEntryResult) -> str:
            return str(result.tokens) if result.reason is not None else ""

        def format_share(result: TrialEntryResult) -> str:
            return f"{round(result.share * 100)} %" if result.share is not None else ""

        tr, name = self.tr, lambda one: one.entry.name or one.entry.content[:60]
        return [
            Column(tr("Entry"), name, width=212, icon=result_icon),
            Column(tr("Reason"), explain_result, width=0, min_width=120, colour=reason_colour),
            Column(tr("Tokens"), format_tokens, attrgetter("tokens"), 64, is_right_aligned=True),
            Column(tr("Rate"), format_share, lambda one: one.share or 0.0, 72, 1, is_optional=True, is_right_aligned=True),
        ]

    def _build(self) -> None:
        switches = build_row(self.this_world_check, 1, self.repeat_button, spacing=SPACE_3)
        margins = (SPACE_3, SPACE_2, SPACE_3, SPACE_3)
        inputs = (self.message_box, self.text_field, switches, self.ignore_history_check, 1)
        left = build_column(*inputs, spacing=SPACE_2, margins=margins)
        results = (self.summary_label, (self.table, 1), self.full_reason_label)
        self._halves_layout = build_row((left, 4), (build_column(*results, spacing=SPACE_1, margins=margins), 8), parent=self)
        self.table.setMinimumHeight(96)

    def _connect(self) -> None:
        self._run_timer.timeout.connect(self.run)
        self.text_field.edited.connect(self._on_text_edited)
        self.message_box.activated.connect(self._on_message_picked)
        for button in (self.ignore_history_check, self.this_world_check, self.repeat_button):
            button.toggled.connect(lambda _on: self.run())
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

    async def load_messages(self) -> None:
        """Load the messages of the open conversation that can be chosen, newest first."""
        session = self._context.current_session()
        self._messages = list(await self._trials.list_messages(session, MAX_MESSAGES)) if session is not None else []
        with QSignalBlocker(self.message_box):
            self.message_box.clear()
            self.message_box.addItem(self.tr("Custom text"))
            for message in self._messages:
                text = truncate_text(" ".join(message.content.split()), 70)
                self.message_box.addItem(f"{message.speaker_name}: {text}")

    def run(self) -> None:
        """Run the test now."""
        self._context.tasks.start_task(self._run(), key="world-trial")

    async def _run(self) -> None:
        world = self._book.world
        if world is None or self.isHidden():
            return
        trial = TrialInput(
            world,
            self.text_field.text,
            self._context.current_session(),
            self.message_id,
            alone=self.this_world_check.isChecked(),
            fresh=self.ignore_history_check.isChecked(),
            times=REPEAT_COUNT if self.repeat_button.isChecked() else 1,
        )
        self._show_outcome(await self._trials.run(trial))

    def schedule_run(self) -> None:
        """Run the test again after a short delay, because something relevant has changed."""
        self._run_timer.start()

    def _on_message_picked(self, index: int) -> None:
        if index:
            self.text_field.set_text(self._messages[index - 1].content)
        self.run()

    def _on_text_edited(self, _text: str) -> None:
        if self.message_box.currentIndex() > 0:
            with QSignalBlocker(self.message_box):
                self.message_box.setCurrentIndex(0)
        self.text_field.setExtraSelections([])
        self._run_timer.start()

    # Results.

    def _show_outcome(self, outcome: TrialOutcome) -> None:
        """Show the result: entries, total cost, and the matched keys in the text."""
        self._outcome = outcome
        self.rows.set_rows(outcome.tried)
        activated, not_activated = len(outcome.activated), len(outcome.tried) - len(outcome.activated)
        parts = [
            format_count(activated, self.tr("{n} entry activated"), self.tr("{n} entries activated")),
            format_token_count(outcome.tokens),
            format_count(not_activated, self.tr("{n} not activated"), self.tr("{n} not activated")) if not_activated else "",
        ]
        if not outcome.is_in_use:
            parts.append(self.tr("the open conversation does not use this world"))
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_side_by_side = self.fits_beside(self.width())
        self._halves_layout.setDirection(
            QBoxLayout.Direction.LeftToRight if is_side_by_side else QBoxLayout.Direction.TopToBottom
        )

    def fits_beside(self, width: int) -> bool:
        """Return whether text and results fit side by side in this width, which leaves room for the rest of the page above."""
        return width >= SIDE_BY_SIDE_MIN_WIDTH * interface_font_size(self._theme.prose_size) / 13


def _utf16_position(text: str, position: int) -> int:
    """Return the position of a character in UTF-16 code units, in which QTextCursor counts."""
    return len(text[:position].encode("utf-16-le", "surrogatepass")) // 2
