"""Detail pane of the memories page: editor of a memory, summary of a conversation, or result of a recall test."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.formatting import format_session_title, insert_break_points
from lethe_app.ui.core.labels.dates import format_date_time
from lethe_app.ui.core.labels.messages import format_missing_summary
from lethe_app.ui.pages.advanced_chip import build_advanced_chip
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.form import MemoryForm
from lethe_app.ui.pages.memories.recall_preview import RecallPreview
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import CardColumn, create_side_sheet
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label

PAGE_NAME = "memories"
"""Name under which the choice to show advanced fields is stored."""
MIN_WIDTH, WIDTH = 320, 470
MAX_SUMMARY_LENGTH = 4_000
"""Characters of a summary that are shown."""


class MemoryDetail(DetailPane):
    """Detail pane of the selected memory. It only emits signals; the page carries out the actions."""

    changed = Signal(str, object)
    recall_left = Signal()
    """Emitted when the result of a recall test is no longer on display."""

    def __init__(self, context: PageContext, preferences: Preferences, buttons: QWidget) -> None:
        """Create the pane; `buttons` are those of the commands on a memory."""
        super().__init__(self.tr("Select a memory to view it, or create a new one."), MIN_WIDTH, WIDTH)
        self._context, self._preferences, self._buttons = context, preferences, buttons
        self.memory: MemoryUnit | None = None
        """The memory on display, with the user's unsaved changes."""
        self._session_title = ""
        self._form: MemoryForm | None = None
        self._categories: list[str] = []
        self._session_sheet = self._build_session_sheet()
        self.recall_view = RecallPreview()
        self._recall_sheet = create_side_sheet()
        self._recall_sheet.add_widget(self.recall_view)
        self.addWidget(self._session_sheet)
        self.addWidget(self._recall_sheet)
        self.recall_view.closed.connect(self.show_current)
        self._was_recall_shown = False
        self.currentChanged.connect(lambda _index: self._on_sheet_changed())

    @property
    def form(self) -> MemoryForm:
        """Editor of a memory, created when the first memory is shown."""
        if self._form is None:
            chip = build_advanced_chip(PAGE_NAME, self._preferences, self._context.tasks)
            self._form = MemoryForm(self._context.theme, chip)
            self._form.changed.connect(self.changed)
            self._form.set_categories(self._categories)
            self._sheet.add_widget(self._form)
            self._sheet.add_widget(self._buttons)
        return self._form

    # what is shown

    def show_memory(self, memory: MemoryUnit, title: str) -> None:
        """Show a memory that is listed under a title. The result of a recall test stays while the memory is the same."""
        is_same = self.memory is not None and self.memory.guid == memory.guid
        self.memory, self._session_title = memory, format_session_title(title)
        if not (is_same and self.is_recall_shown):
            self.show_current()
        else:
            self._fill_sheet(memory)
        if not is_same:
            self._sheet.verticalScrollBar().setValue(0)

    def set_categories(self, categories: Sequence[str]) -> None:
        """Offer these categories in the category field."""
        self._categories = list(categories)
        if self._form is not None:
            self._form.set_categories(self._categories)

    def clear_selection(self) -> None:
        """Show the hint for an empty selection, unless the result of a recall test is on display."""
        self.memory = None
        if self.currentWidget() is not self._recall_sheet:
            self.setCurrentIndex(0)

    def show_current(self) -> None:
        """Show the selected memory again, after the result of a recall test."""
        if self.memory is None:
            self.setCurrentIndex(0)
            return
        self._fill_sheet(self.memory)
        is_session = self.memory.category is MemoryType.CHAT_SESSION
        self.setCurrentWidget(self._session_sheet if is_session else self._sheet)

    def show_recall(self) -> None:
        self.setCurrentWidget(self._recall_sheet)
        self._recall_sheet.verticalScrollBar().setValue(0)

    def _on_sheet_changed(self) -> None:
        was_recall_shown, self._was_recall_shown = self._was_recall_shown, self.is_recall_shown
        if was_recall_shown and not self.is_recall_shown:
            self.recall_left.emit()

    @property
    def is_recall_shown(self) -> bool:
        """Return whether the result of a recall test is on display."""
        return self.currentWidget() is self._recall_sheet

    def set_field(self, name: str, value: object) -> None:
        """Update one field of the memory on display."""
        assert self.memory is not None
        self.memory = self.memory.model_copy(update={name: value})
        self.form.set_field(name, value)

    def focus_first_field(self, name: str = "name") -> None:
        """Focus a field of the editor, or the button of a conversation."""
        if self.currentWidget() is self._sheet:
            self.form.field_widget(name).setFocus(Qt.FocusReason.TabFocusReason)  # which selects what is there already
        elif self.currentWidget() is self._session_sheet:
            self._open_session_button.setFocus()

    def _fill_sheet(self, memory: MemoryUnit) -> None:
        if memory.category is not MemoryType.CHAT_SESSION:
            self.form.show_memory(memory)
            return
        self._title.setText(insert_break_points(self._session_title))
        self._date_label.setText(format_date_time(memory.added))
        summary = memory.content[:MAX_SUMMARY_LENGTH] or format_missing_summary(True, None)
        self._summary.setText(insert_break_points(summary))
        self._keywords.setText(insert_break_points(" · ".join(memory.keywords_main)))
        self._keywords.setVisible(bool(memory.keywords_main))

    # Building the pane.

    def _build_session_sheet(self) -> CardColumn:
        """Build the read-only sheet of a conversation, which is edited on the conversations page."""
        sheet = create_side_sheet()
        column = sheet.add_card()
        self._title, self._date_label = create_text_label("", "section"), build_small_label("")
        self._summary, self._keywords = create_text_label(""), build_small_label("")
        self._open_session_button = build_button(self.tr("Go to conversation"), self._open_session)
        for widget in (self._title, self._date_label, self._summary, self._keywords):
            column.addWidget(widget)
        column.addWidget(self._open_session_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(build_small_label(self.tr("Edit conversations on the Conversations page.")))
        return sheet

    def _open_session(self) -> None:
        if self.memory is not None:
            self._context.open_session(self.memory.guid, None)
