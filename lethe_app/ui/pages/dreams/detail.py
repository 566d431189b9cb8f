"""Detail pane of the dreams page: a change with its records before and after, its reason and its actions; or a reply's
feedback.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import ChangedRecord, ChangedRecords, record_text
from lethe_app.services.background.feedback import FeedbackEntry
from lethe_app.ui.core.palette import SPACE_1, SPACE_4
from lethe_app.ui.pages.dreams.labels import (
    change_reason,
    format_change_kind,
    format_feedback,
    format_state,
    record_metadata,
    tr,
)
from lethe_app.ui.widgets.card_column import create_card
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.text_area import TextAreaField

MIN_WIDTH, WIDTH = 300, 420


class DreamDetail(DetailPane):
    """Detail pane of the selected change or feedback."""

    def __init__(self, buttons: QWidget) -> None:
        """Create the pane; `buttons` are those of the commands on a change or a reply."""
        super().__init__(tr("Select an item to see the memories before and after."), MIN_WIDTH, WIDTH)
        self.change: RecordedChange | None = None
        card, column = create_card()
        self.title, self.reason = create_text_label("", "section"), create_text_label("")
        self.state = build_small_label("")
        for widget in (self.title, self.state, self.reason, buttons):
            column.addWidget(widget)
        self._sheet.add_widget(card)
        self._before_card, self._before_column = self._build_records_card(tr("Before"))
        self._after_card, self._after_column = self._build_records_card(tr("After"))
        self.field = TextAreaField(tr("New memory text"), 3, 14)
        self.field_help = build_small_label(tr("Edit the text if you like; an edited memory counts as your own."))

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
        self._fill_records(self._before_column, [*before.memories, *before.facts])
        self._before_card.setVisible(bool(before.guids))
        self._show_after(
            after.valid_records, is_editable=is_open and bool(after.guids) and after.guids.isdisjoint(before.guids)
        )
        self.setCurrentIndex(1)

    def show_feedback(self, entry: FeedbackEntry) -> None:
        """Show the user's feedback on a reply."""
        self.change = None
        self.title.setText(format_feedback(entry.feedback))
        self.state.setText(tr("A dream has already used this feedback.") if entry.feedback.settled else "")
        self.state.setVisible(entry.feedback.settled)
        self.reason.setText(entry.text or tr("This reply was deleted."))
        self._before_card.hide()
        self._after_card.hide()
        self.setCurrentIndex(1)

    def _show_after(self, records: Sequence[ChangedRecord], *, is_editable: bool) -> None:
        # The edit field is reused. Without a parent it is not on display, which `edited_text` relies on.
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

    @property
    def edited_text(self) -> str:
        """Return the text of the edit field; empty where the change has none."""
        return self.field.text if self.field.parent() is not None else ""


def _build_record_widget(record: ChangedRecord) -> QWidget:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(SPACE_1)
    text_label = create_text_label(record_text(record))
    text_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    column.addWidget(text_label)
    column.addWidget(build_small_label(record_metadata(record)))
    return widget
