"""Test bench: which entries a text activates, by which key, why others are not activated, and the token cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from uuid import UUID

from PySide6.QtCore import QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from lethe_app.domain.chat import Message
from lethe_app.services.worlds.test_bench import Trial, TrialOutcome, Tried
from lethe_app.ui.core.formatting import counted, tokens_in_words
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme, chrome_size, mixed
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldBook
from lethe_app.ui.pages.worlds.labels import why
from lethe_app.ui.widgets.fields import NoWheelComboBox
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel
from lethe_app.ui.widgets.text_area import ProseField

PAUSE = 200
"""Pause in typing, in milliseconds, before a test is run."""
THROWS = 20
WHY = 1
"""Index of the reason column."""
NARROW = 760
"""Width in pixels, at the default text size, below which the results are below the text."""


class Bench(QFrame):
    """Form and results of a test; `wanted` is emitted when another test is to be run."""

    wanted = Signal()
    opened = Signal(object)
    """The result whose entry is to be shown in the editor."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bench")
        self.setAccessibleName(self.tr("Test bench"))
        self._theme = theme
        self._messages: list[Message] = []
        self._outcome = TrialOutcome()
        self.pick = NoWheelComboBox()
        self.pick.setAccessibleName(self.tr("Text to test"))
        self.pick.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.pick.setMinimumContentsLength(12)
        self.text = ProseField(self.tr("Test text"), 3, 8)
        self.text.setPlaceholderText(self.tr("Enter a message to see which entries it activates."))
        self.fresh = QCheckBox(self.tr("Ignore chat history"))
        self.alone = QCheckBox(self.tr("This world only"))
        self.throws = QPushButton(self.tr("Run 20×"))
        self.throws.setProperty("filled", True)
        self.throws.setCheckable(True)
        self.throws.setToolTip(self.tr("Run the test 20 times to see how often each entry is activated"))
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.summary.setTextFormat(Qt.TextFormat.PlainText)
        self.rows: FilteredTableModel[Tried] = FilteredTableModel(
            self._made_columns(), lambda one: one.entry.guid, lambda one: one.entry.name
        )
        self.table = Table(self.rows, theme, self.tr("Test results"), self.tr("No entries activated."))
        self.whole = QLabel()
        self.whole.setProperty("small", True)
        self.whole.setWordWrap(True)
        self.whole.setTextFormat(Qt.TextFormat.PlainText)
        self.whole.hide()
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._build()
        self._connect()

    def _made_columns(self) -> list[Column[Tried]]:
        def wide(pixels: int) -> int:
            return round(pixels * chrome_size(self._theme.prose_size) / 13)

        return [
            Column(self.tr("Entry"), lambda one: one.entry.name or one.entry.content[:60], width=wide(148), icon=self._mark),
            Column(self.tr("Reason"), why, width=0, colour=self._ink),
            Column(self.tr("Tokens"), _tokens, lambda one: one.tokens, wide(64), right=True),
            Column(self.tr("Rate"), _share, lambda one: one.share or 0.0, wide(72), right=True),
        ]

    def _build(self) -> None:
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
            column.setSpacing(SPACE_2)
        switches = QHBoxLayout()
        switches.setSpacing(SPACE_3)
        switches.addWidget(self.alone)
        switches.addStretch(1)
        switches.addWidget(self.throws)
        left.addWidget(self.pick)
        left.addWidget(self.text)
        left.addLayout(switches)
        left.addWidget(self.fresh)
        left.addStretch(1)
        right.addWidget(self.summary)
        right.addWidget(self.table, 1)
        right.addWidget(self.whole)
        right.setSpacing(SPACE_1)
        self._halves = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._halves.setContentsMargins(0, 0, 0, 0)
        self._halves.setSpacing(0)
        self._halves.addLayout(left, 4)
        self._halves.addLayout(right, 8)
        self.table.setColumnHidden(3, True)
        self.table.setMinimumHeight(96)

    def _connect(self) -> None:
        self._pause.timeout.connect(self.wanted)
        self.text.edited.connect(self._typed)
        self.pick.activated.connect(self._picked)
        self.fresh.toggled.connect(lambda _on: self.wanted.emit())
        self.alone.toggled.connect(lambda _on: self.wanted.emit())
        self.throws.toggled.connect(self._throw)
        self.table.current_changed.connect(lambda _one: self._highlight())
        self.table.current_changed.connect(lambda _one: self._say_whole())
        self.table.opened.connect(self.opened)
        self._theme.changed.connect(self._highlight)

    # Input.

    @property
    def message_id(self) -> UUID | None:
        """The chosen message, unless its text was edited."""
        place = self.pick.currentIndex() - 1
        return self._messages[place].id if 0 <= place < len(self._messages) else None

    @property
    def times(self) -> int:
        return THROWS if self.throws.isChecked() else 1

    def soon(self) -> None:
        """Run the test again after a short delay, because something relevant has changed."""
        if not self.isHidden():
            self._pause.start()

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Offer messages of the open conversation, newest first."""
        self._messages = list(messages)
        with QSignalBlocker(self.pick):
            self.pick.clear()
            self.pick.addItem(self.tr("Custom text"))
            for message in self._messages:
                words = " ".join(message.content.split())
                self.pick.addItem(f"{message.speaker_name}: {words[:70]}{'…' if len(words) > 70 else ''}")

    def _picked(self, place: int) -> None:
        if place:
            self.text.set_text(self._messages[place - 1].content)
        self.wanted.emit()

    def _typed(self, _text: str) -> None:
        if self.pick.currentIndex() > 0:
            with QSignalBlocker(self.pick):
                self.pick.setCurrentIndex(0)
        self.text.setExtraSelections([])
        self._pause.start()

    def _throw(self, on: bool) -> None:
        self.table.setColumnHidden(3, not on)
        self.wanted.emit()

    # Results.

    def show_outcome(self, outcome: TrialOutcome) -> None:
        """Show the result: entries, total cost, and the matched keys in the text."""
        self._outcome = outcome
        self.rows.fill(outcome.tried)
        coming, kept_back = len(outcome.coming), len(outcome.tried) - len(outcome.coming)
        parts = [
            counted(coming, self.tr("{n} entry activated"), self.tr("{n} entries activated")),
            tokens_in_words(outcome.tokens),
            counted(kept_back, self.tr("{n} not activated"), self.tr("{n} not activated")) if kept_back else "",
        ]
        if not outcome.tried:
            is_said = bool(self.text.text.strip())
            parts = [self.tr("No entries activated by this text.") if is_said else self.tr("No entries active at the start.")]
        self.summary.setText(" · ".join(filter(None, parts)))
        self._highlight()

    def _highlight(self) -> None:
        """Highlight the matched keys of the selected entry, or of all activated entries."""
        # A table with rows always has a current one, so it counts as chosen only while the table has the focus.
        chosen = self.table.current if self.table.hasFocus() else None
        shown = [chosen] if chosen is not None else self._outcome.coming
        self.text.setExtraSelections([self._marked(start, end) for one in shown for start, end in one.spans])

    def _say_whole(self) -> None:
        """Show the whole reason of the selected row below the table if its column is too narrow."""
        one = self.table.current
        words = why(one) if one is not None else ""
        room = self.table.columnWidth(WHY) - 2 * SPACE_3
        is_cut = self.table.fontMetrics().horizontalAdvance(words) > room
        self.whole.setText(words[:1].upper() + words[1:])
        self.whole.setVisible(is_cut)
        if one is not None:  # the row must not be what the words now stand upon
            QTimer.singleShot(0, self.table, lambda: self.table.scrollTo(self.table.currentIndex()))

    def _marked(self, start: int, end: int) -> QTextEdit.ExtraSelection:
        palette, text = self._theme.palette, self.text.text
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(_units(text, start))
        cursor.setPosition(_units(text, end), QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        look.setBackground(QColor(mixed(palette.background, palette.water, 0.32)))
        look.setForeground(QColor(palette.text))
        marked = QTextEdit.ExtraSelection()
        marked.cursor, marked.format = cursor, look
        return marked

    def _mark(self, one: Tried) -> object:
        palette = self._theme.palette
        return icon("check", palette.good, 16) if one.cause is not None else icon("moon", palette.muted, 16)

    def _ink(self, one: Tried) -> str:
        return "" if one.cause is not None else self._theme.palette.muted

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]  # Qt's own
        is_low = self.fits_beside(self.width())
        self._halves.setDirection(QBoxLayout.Direction.LeftToRight if is_low else QBoxLayout.Direction.TopToBottom)

    def fits_beside(self, width: int) -> bool:
        """Return whether text and results fit side by side in this width, which leaves room for the rest of the page above."""
        return width >= NARROW * chrome_size(self._theme.prose_size) / 13


def _tokens(one: Tried) -> str:
    return str(one.tokens) if one.cause is not None else ""


def _share(one: Tried) -> str:
    return f"{round(one.share * 100)} %" if one.share is not None else ""


def _units(text: str, place: int) -> int:
    """Return the position of a character in UTF-16 code units, in which QTextCursor counts."""
    return len(text[:place].encode("utf-16-le", "surrogatepass")) // 2


RECENT = 40
"""Messages of the open conversation that can be chosen as test text."""


class WorldTrial(QObject):
    """Runs tests for the test bench; a new test cancels the running one."""

    opened = Signal(str, object)
    """File stem of the world and GUID of the entry to show."""

    def __init__(self, place: PageContext, book: WorldBook, desk: QSplitter) -> None:
        """Create the trial; the test bench is added to `desk` when it is first opened."""
        super().__init__()
        self._place, self._book, self._desk = place, book, desk
        self._trials = place.services.worlds.trials
        self._messages: Sequence[Message] | None = None

    @cached_property
    def bench(self) -> Bench:
        """The test bench, created at first use."""
        bench = Bench(self._place.theme)
        bench.hide()
        self._desk.addWidget(bench)
        self._desk.setSizes([420, 230])
        bench.wanted.connect(lambda: self._place.bridge.spawn(self._try(), lane="world-trial"))
        bench.opened.connect(self._open)
        if self._messages is not None:
            bench.show_messages(self._messages)
        return bench

    @property
    def is_open(self) -> bool:
        return self._is_made and not self.bench.isHidden()

    def holds(self, widget: QWidget | None) -> bool:
        """Return whether a widget is part of the test bench."""
        return widget is not None and self._is_made and self.bench.isAncestorOf(widget)

    @property
    def _is_made(self) -> bool:
        return "bench" in vars(self)

    async def load(self) -> None:
        """Load the messages of the open conversation that can be chosen."""
        session = self._place.session()
        if session is not None:
            self._messages = await self._trials.messages(session, RECENT)
            if self._is_made:
                self.bench.show_messages(self._messages)

    def soon(self) -> None:
        """Run the test again because a world was changed."""
        if self._is_made:
            self.bench.soon()

    def toggle(self) -> None:
        """Open the test bench and focus its text, or close it."""
        self.bench.setVisible(self.bench.isHidden())
        if self.is_open:
            self.bench.text.setFocus()
            self.bench.wanted.emit()

    def _open(self, tried: Tried) -> None:
        self.opened.emit(tried.world.unique_name, tried.entry.guid)

    async def _try(self) -> None:
        world, bench = self._book.world, self.bench
        if world is None or bench.isHidden():
            return
        trial = Trial(
            world,
            bench.text.text,
            self._place.session(),
            bench.message_id,
            alone=bench.alone.isChecked(),
            fresh=bench.fresh.isChecked(),
            times=bench.times,
        )
        bench.show_outcome(await self._trials.run(trial))
