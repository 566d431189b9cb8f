"""Detail pane of the memories page: editor of a memory, summary of a conversation, or result of a recall test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedWidget, QWidget

from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.errors import StorageError
from lethe_app.ui.chat.memory_card_parts import breakable
from lethe_app.ui.core.palette import SPACE_2, SPACE_4, SPACE_6
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.form import MemoryForm
from lethe_app.ui.pages.memories.labels import moment_in_words
from lethe_app.ui.pages.memories.recall_preview import RecallView
from lethe_app.ui.pages.page import explanation, headline
from lethe_app.ui.widgets.card_column import Sheet, made_card

LEAST_WIDTH, WIDTH = 320, 470
LONGEST = 4_000
"""Characters of a summary that are shown."""


class MemoryDetail(QStackedWidget):
    """Detail pane of the selected memory. It only emits signals; the page carries out the actions."""

    changed = Signal(str, object)
    duplicate_wanted = Signal()
    forget_wanted = Signal()

    def __init__(self, place: PageContext, is_unsaved: Callable[[UUID], bool], parent: QWidget | None = None) -> None:
        """Create the pane; `is_unsaved` returns whether a memory has changes that are not stored yet."""
        super().__init__(parent)
        self._place, self._is_unsaved = place, is_unsaved
        self.memory: MemoryUnit | None = None
        """The memory on display, with the user's unsaved changes."""
        self._wanted: UUID | None = None
        self.setMinimumWidth(LEAST_WIDTH)
        self.nothing = self._words_only()
        self._memory_sheet = _sheet()
        self._form: MemoryForm | None = None
        self._categories: list[str] = []
        self._session_sheet = self._session()
        self.recall = RecallView()
        self._recall_sheet = _sheet()
        self._recall_sheet.add(self.recall)
        for widget in (self.nothing, self._memory_sheet, self._session_sheet, self._recall_sheet):
            self.addWidget(widget)
        self.recall.closed.connect(self.show_current)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    @property
    def form(self) -> MemoryForm:
        """Editor of a memory, created when the first memory is shown."""
        if self._form is None:
            self._form = MemoryForm(self._place.theme)
            self._form.changed.connect(self.changed)
            self._form.suggest(self._categories)
            self._memory_sheet.add(self._form)
            self._memory_sheet.add(self._buttons())
        return self._form

    # what is shown

    async def load(self, guid: UUID) -> None:
        """Show a memory; nothing is shown if it no longer exists."""
        self._wanted = guid
        try:
            memory = await self._place.services.browsing.memory(guid)
        except StorageError:
            memory = None
        if self._wanted != guid:
            return
        same = self.memory is not None and memory is not None and self.memory.guid == memory.guid
        if same and self._is_unsaved(guid):
            return  # somebody typed on while it was read
        self.memory = memory
        if not (same and self.currentWidget() is self._recall_sheet):
            self.show_current()
        elif memory is not None:
            self._fill(memory)
        if not same:
            self._memory_sheet.verticalScrollBar().setValue(0)

    def suggest(self, categories: Sequence[str]) -> None:
        """Offer these categories in the category field."""
        self._categories = list(categories)
        if self._form is not None:
            self._form.suggest(self._categories)

    def clear(self) -> None:
        """Show the hint for an empty selection, unless the result of a recall test is on display."""
        self.memory = self._wanted = None
        if self.currentWidget() is not self._recall_sheet:
            self.setCurrentWidget(self.nothing)

    def show_current(self) -> None:
        """Show the selected memory again, after the result of a recall test."""
        if self.memory is None:
            self.setCurrentWidget(self.nothing)
            return
        self._fill(self.memory)
        is_session = self.memory.category is MemoryType.CHAT_SESSION
        self.setCurrentWidget(self._session_sheet if is_session else self._memory_sheet)

    def show_recall(self) -> None:
        self.setCurrentWidget(self._recall_sheet)
        self._recall_sheet.verticalScrollBar().setValue(0)
        self.recall.close_button.setFocus()

    def set_field(self, name: str, value: object) -> None:
        """Update one field of the memory on display."""
        assert self.memory is not None
        self.memory = self.memory.model_copy(update={name: value})
        self.form.set_field(name, value)

    def focus_first_field(self, name: str = "name") -> None:
        """Focus a field of the editor, or the button of a conversation."""
        if self.currentWidget() is self._memory_sheet:
            self.form.field(name).setFocus(Qt.FocusReason.TabFocusReason)  # which selects what is there already
        elif self.currentWidget() is self._session_sheet:
            self._go.setFocus()

    def _fill(self, memory: MemoryUnit) -> None:
        if memory.category is not MemoryType.CHAT_SESSION:
            self.form.show_memory(memory)
            return
        self._title.setText(breakable(memory.name or self.tr("Untitled conversation")))
        self._when.setText(moment_in_words(memory.added))
        self._summary.setText(breakable(memory.content[:LONGEST] or self.tr("Not summarised yet.")))
        self._keywords.setText(breakable(" · ".join(memory.keywords_main)))
        self._keywords.setVisible(bool(memory.keywords_main))

    # Building the pane.

    def _words_only(self) -> QLabel:
        label = QLabel(self.tr("Select a memory to view it, or create a new one."))
        label.setProperty("quiet", True)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        label.setWordWrap(True)
        label.setMargin(SPACE_6)
        return label

    def _buttons(self) -> QWidget:
        self.duplicate, self.forget = _button(self.tr("Duplicate")), _button(self.tr("Forget"))
        self.duplicate.clicked.connect(self.duplicate_wanted)
        self.forget.clicked.connect(self.forget_wanted)
        row = QWidget()
        buttons = QHBoxLayout(row)
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.setSpacing(SPACE_2)
        buttons.addWidget(self.duplicate)
        buttons.addStretch(1)
        buttons.addWidget(self.forget)
        return row

    def _session(self) -> Sheet:
        """Build the read-only sheet of a conversation, which is edited on the conversations page."""
        sheet = _sheet()
        card, column = made_card()
        self._title = headline("")
        self._title.setWordWrap(True)
        self._when, self._summary, self._keywords = explanation(""), QLabel(), explanation("")
        self._summary.setWordWrap(True)
        self._summary.setTextFormat(Qt.TextFormat.PlainText)
        self._go = _button(self.tr("Go to conversation"))
        self._go.clicked.connect(self._go_to_session)
        for widget in (self._title, self._when, self._summary, self._keywords):
            column.addWidget(widget)
        column.addWidget(self._go, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(explanation(self.tr("Edit conversations on the Conversations page.")))
        sheet.add(card)
        return sheet

    def _go_to_session(self) -> None:
        if self.memory is not None:
            self._place.go_to(self.memory.guid, None)


def _sheet() -> Sheet:
    sheet = Sheet()
    sheet.column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
    return sheet


def _button(words: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("filled", True)
    return button
