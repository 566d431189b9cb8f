"""Detail pane of the dreams page: a change with its records before and after, its reason and its actions; or a reply's
feedback.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import ChangeState, RecordedChange
from lethe_app.domain.changes import Kept, Records
from lethe_app.services.background.feedback import FeedbackEntry
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.pages.dreams.labels import (
    life_of,
    messages_of,
    reason_of,
    state_in_words,
    tr,
    verdict_in_words,
    what_in_words,
    words_of,
)
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.widgets.card_column import invitation, made_card, side_sheet
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.text_area import ProseField

LEAST_WIDTH, WIDTH = 300, 420


class DreamDetail(QStackedWidget):
    """Detail pane of the selected change or feedback. It only emits signals; the page carries out the actions."""

    accepted = Signal(object, str)
    """The change, and the text of the edit field; the text is empty where the change has no edit field."""
    declined = Signal(object)
    taken_back = Signal(object)
    asked_again = Signal(object)
    go_wanted = Signal(str)
    """GUID of the message to open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.change: RecordedChange | None = None
        self._message = ""
        self.setMinimumWidth(LEAST_WIDTH)
        nothing = invitation(tr("Select an item to see the memories before and after."))
        self._sheet = side_sheet()
        self._build()
        self.addWidget(nothing)
        self.addWidget(self._sheet)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _build(self) -> None:
        card, column = made_card()
        self.title, self.reason = QLabel(), QLabel()
        self.state = explanation("")
        self.title.setProperty("section", True)
        for label in (self.title, self.reason):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for widget in (self.title, self.state, self.reason, self._buttons()):
            column.addWidget(widget)
        self._sheet.add(card)
        self._before_card, self._before = self._records_card(tr("Before"))
        self._after_card, self._after = self._records_card(tr("After"))
        self.field = ProseField(tr("New memory text"), 3, 14)
        self.field_help = explanation(tr("Edit the text if you like; an edited memory counts as your own."))

    def _buttons(self) -> QWidget:
        row = QWidget()
        flow = Flow(row, spacing=SPACE_2)
        self.accept = self._button(tr("Accept"), lambda: self.accepted.emit(self.change, self._text()), primary=True)
        self.decline = self._button(tr("Decline"), lambda: self.declined.emit(self.change))
        self.take_back = self._button(tr("Undo change"), lambda: self.taken_back.emit(self.change))
        self.again = self._button(tr("Propose again"), lambda: self.asked_again.emit(self.change))
        self.go = self._button(tr("Go to message"), lambda: self.go_wanted.emit(self._message))
        for button in (self.accept, self.decline, self.take_back, self.again, self.go):
            flow.addWidget(button)
        return row

    def _button(self, words: str, slot: object, *, primary: bool = False) -> QPushButton:
        button = QPushButton(words)
        button.setProperty("primary" if primary else "filled", True)
        button.clicked.connect(slot)
        return button

    def _records_card(self, title: str) -> tuple[QWidget, QVBoxLayout]:
        card, column = made_card(title)
        inner = QVBoxLayout()
        inner.setSpacing(SPACE_4)
        column.addLayout(inner)
        self._sheet.add(card)
        return card, inner

    def clear(self) -> None:
        """Show the hint for an empty selection."""
        self.change = None
        self.setCurrentIndex(0)

    def show_change(self, change: RecordedChange) -> None:
        """Show a change. Text being edited is kept as long as the change is the same."""
        if change == self.change and self.currentIndex():
            return
        self.change = change
        before, after = Records.before(change), Records.after(change)
        is_open = change.state is ChangeState.PROPOSED
        self.title.setText(what_in_words(change.what))
        self.state.setText(state_in_words(change.state))
        self.state.show()
        self.reason.setText(reason_of(change))
        self._message = next(iter(messages_of(change)), "")
        for button, is_there in (
            (self.accept, is_open),
            (self.decline, is_open),
            (self.take_back, change.state is ChangeState.APPLIED),
            (self.again, change.state is ChangeState.DECLINED),
            (self.go, bool(self._message)),
        ):
            button.setVisible(is_there)
        self._fill(self._before, [*before.memories, *before.facts])
        self._before_card.setVisible(bool(before.guids))
        self._show_after(after.holding, is_editable=is_open and bool(after.guids) and after.guids.isdisjoint(before.guids))
        self.setCurrentIndex(1)

    def show_thought(self, thought: FeedbackEntry | None) -> None:
        """Show the user's feedback on a reply, or the hint for an empty selection if it is None."""
        self.change = None
        if thought is None:
            self.setCurrentIndex(0)
            return
        self.title.setText(verdict_in_words(thought.feedback))
        self.state.setText(tr("A dream has already used this feedback.") if thought.feedback.settled else "")
        self.state.setVisible(thought.feedback.settled)
        self.reason.setText(thought.text or tr("This reply was deleted."))
        self._message = str(thought.feedback.message_id) if thought.session is not None else ""
        for button in (self.accept, self.decline, self.take_back, self.again):
            button.hide()
        self.go.setVisible(bool(self._message))
        self._before_card.hide()
        self._after_card.hide()
        self.setCurrentIndex(1)

    def _show_after(self, records: Sequence[Kept], *, is_editable: bool) -> None:
        # The edit field is reused. Without a parent it is not on display, which `_text` relies on.
        for widget in (self.field, self.field_help):
            widget.setParent(None)
        if is_editable and len(records) == 1:
            self._fill(self._after, [])
            self.field.set_text(words_of(records[0]))
            for widget in (self.field, self.field_help, explanation(life_of(records[0]))):
                self._after.addWidget(widget)
                widget.show()
        else:
            self._fill(self._after, records)
        if not records:
            self._after.addWidget(explanation(tr("Moved to the Trash")))
        self._after_card.show()

    def _fill(self, column: QVBoxLayout, records: Sequence[Kept]) -> None:
        while (item := column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None and widget not in {self.field, self.field_help}:
                widget.hide()
                widget.deleteLater()
        for one in records:
            column.addWidget(_told(one))

    def _text(self) -> str:
        return self.field.text if self.field.parent() is not None else ""


def _told(record: Kept) -> QWidget:
    whole = QWidget()
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(SPACE_1)
    words = QLabel(words_of(record))
    words.setWordWrap(True)
    words.setTextFormat(Qt.TextFormat.PlainText)
    words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    column.addWidget(words)
    column.addWidget(explanation(life_of(record)))
    return whole
