"""Detail pane of the dreams page: a change with its records before and after, its reason and its actions; or a reply's
feedback.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import ChangedRecord, ChangedRecords, record_text
from lethe_app.services.background.feedback import FeedbackEntry
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.pages.dreams.labels import (
    change_reason,
    format_change_kind,
    format_feedback,
    format_state,
    record_metadata,
    source_messages,
    tr,
)
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.text_area import TextAreaField

MIN_WIDTH, WIDTH = 300, 420


class DreamDetail(DetailPane):
    """Detail pane of the selected change or feedback. It only emits signals; the page carries out the actions."""

    accept_requested = Signal(object, str)
    """The change, and the text of the edit field; the text is empty where the change has no edit field."""
    decline_requested = Signal(object)
    revert_requested = Signal(object)
    propose_again_requested = Signal(object)
    open_message_requested = Signal(str)
    """GUID of the message to open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Select an item to see the memories before and after."), MIN_WIDTH, WIDTH, parent)
        self.change: RecordedChange | None = None
        self._message_guid = ""
        self._build()

    def _build(self) -> None:
        card, column = create_card()
        self.title, self.reason = QLabel(), QLabel()
        self.state = build_small_label("")
        self.title.setProperty("section", True)
        for label in (self.title, self.reason):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for widget in (self.title, self.state, self.reason, self._build_buttons()):
            column.addWidget(widget)
        self._sheet.add_widget(card)
        self._before_card, self._before_column = self._build_records_card(tr("Before"))
        self._after_card, self._after_column = self._build_records_card(tr("After"))
        self.field = TextAreaField(tr("New memory text"), 3, 14)
        self.field_help = build_small_label(tr("Edit the text if you like; an edited memory counts as your own."))

    def _build_buttons(self) -> QWidget:
        row = QWidget()
        flow = FlowLayout(row, spacing=SPACE_2)
        self.accept_button = build_button(
            tr("Accept"), lambda: self.accept_requested.emit(self.change, self._edited_text()), primary=True
        )
        self.decline_button = build_button(tr("Decline"), lambda: self.decline_requested.emit(self.change))
        self.revert_button = build_button(tr("Undo change"), lambda: self.revert_requested.emit(self.change))
        self.propose_again_button = build_button(tr("Propose again"), lambda: self.propose_again_requested.emit(self.change))
        self.open_message_button = build_button(
            tr("Go to message"), lambda: self.open_message_requested.emit(self._message_guid)
        )
        for button in (
            self.accept_button,
            self.decline_button,
            self.revert_button,
            self.propose_again_button,
            self.open_message_button,
        ):
            flow.addWidget(button)
        return row

    def _build_records_card(self, title: str) -> tuple[QWidget, QVBoxLayout]:
        card, column = create_card(title)
        inner = QVBoxLayout()
        inner.setSpacing(SPACE_4)
        column.addLayout(inner)
        self._sheet.add_widget(card)
        return card, inner

    def show_empty_hint(self) -> None:
        """Show the hint for an empty selection."""
        self.change = None
        self.setCurrentIndex(0)

    def show_change(self, change: RecordedChange) -> None:
        """Show a change. Text being edited is kept as long as the change is the same."""
        if change == self.change and self.currentIndex():
            return
        self.change = change
        before, after = ChangedRecords.before(change), ChangedRecords.after(change)
        is_open = change.state is ChangeState.PROPOSED
        self.title.setText(format_change_kind(change.what))
        self.state.setText(format_state(change.state))
        self.state.setHidden(is_open)
        self.reason.setText(change_reason(change))
        self._message_guid = next(iter(source_messages(change)), "")
        for button, is_visible in (
            (self.accept_button, is_open),
            (self.decline_button, is_open),
            (self.revert_button, change.state is ChangeState.APPLIED),
            (self.propose_again_button, change.state is ChangeState.DECLINED),
            (self.open_message_button, bool(self._message_guid)),
        ):
            button.setVisible(is_visible)
        self._fill_records(self._before_column, [*before.memories, *before.facts])
        self._before_card.setVisible(bool(before.guids))
        self._show_after(
            after.valid_records, is_editable=is_open and bool(after.guids) and after.guids.isdisjoint(before.guids)
        )
        self.setCurrentIndex(1)

    def show_feedback(self, entry: FeedbackEntry | None) -> None:
        """Show the user's feedback on a reply, or the hint for an empty selection if it is None."""
        self.change = None
        if entry is None:
            self.setCurrentIndex(0)
            return
        self.title.setText(format_feedback(entry.feedback))
        self.state.setText(tr("A dream has already used this feedback.") if entry.feedback.settled else "")
        self.state.setVisible(entry.feedback.settled)
        self.reason.setText(entry.text or tr("This reply was deleted."))
        self._message_guid = str(entry.feedback.message_id) if entry.session is not None else ""
        for button in (self.accept_button, self.decline_button, self.revert_button, self.propose_again_button):
            button.hide()
        self.open_message_button.setVisible(bool(self._message_guid))
        self._before_card.hide()
        self._after_card.hide()
        self.setCurrentIndex(1)

    def _show_after(self, records: Sequence[ChangedRecord], *, is_editable: bool) -> None:
        # The edit field is reused. Without a parent it is not on display, which `_edited_text` relies on.
        for widget in (self.field, self.field_help):
            widget.setParent(None)
        if is_editable and len(records) == 1:
            self._fill_records(self._after_column, [])
            self.field.set_text(record_text(records[0]))
            for widget in (self.field, self.field_help, build_small_label(record_metadata(records[0]))):
                self._after_column.addWidget(widget)
                widget.show()
        else:
            self._fill_records(self._after_column, records)
        if not records:
            self._after_column.addWidget(build_small_label(tr("Moved to the Trash")))
        self._after_card.show()

    def _fill_records(self, column: QVBoxLayout, records: Sequence[ChangedRecord]) -> None:
        while (item := column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None and widget not in {self.field, self.field_help}:
                widget.hide()
                widget.deleteLater()
        for record in records:
            column.addWidget(_build_record_widget(record))

    def _edited_text(self) -> str:
        return self.field.text if self.field.parent() is not None else ""


def _build_record_widget(record: ChangedRecord) -> QWidget:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(SPACE_1)
    text_label = QLabel(record_text(record))
    text_label.setWordWrap(True)
    text_label.setTextFormat(Qt.TextFormat.PlainText)
    text_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    column.addWidget(text_label)
    column.addWidget(build_small_label(record_metadata(record)))
    return widget
