"""List of disliked replies with the reason, which the user can add or edit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.services.background.feedback import MAX_REASON_CHARACTERS, FeedbackEntry, FeedbackService
from lethe_app.ui.core.labels.dates import format_date
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.dialogs.dialogs import QuestionDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_heading, build_small_label
from lethe_app.ui.widgets.table import ColumnFit, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

REPLY, REASON, DATE = range(3)
WIDTHS = {REASON: 340, DATE: 116}
HIDEABLE_COLUMNS = (DATE, REASON)
MIN_REPLY_WIDTH = 220
MIN_HEIGHT = 120


def tr(text: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("FeedbackPage", text)


class ReasonDialog(QuestionDialog):
    """Dialog that asks why a reply was disliked."""

    def __init__(self, parent: QWidget, reply: str, reason: str) -> None:
        super().__init__(parent, tr("What was wrong with this reply?"), tr("Save reason"))
        self.add_paragraph(reply)
        self.field = QLineEdit(reason)
        self.field.setMaxLength(MAX_REASON_CHARACTERS)
        self.field.setPlaceholderText(tr("For example: far too long, or: don't call me Tommy"))
        label = QLabel(tr("Reason"))
        label.setProperty("field", True)
        label.setBuddy(self.field)
        self.field.setAccessibleName(tr("Reason"))
        column = QVBoxLayout()
        column.setSpacing(SPACE_1)
        column.addWidget(label)
        column.addWidget(self.field)
        self.column.addLayout(column)
        self.field.selectAll()
        self.field.setFocus()

    @property
    def reason(self) -> str:
        return self.field.text().strip()


class DislikedReplies(QWidget):
    """List of disliked replies; hidden while there are none."""

    def __init__(
        self,
        context: PageContext,
        feedback: FeedbackService,
        commands: CommandRunner,
        current_persona_id: Callable[[], str],
        parent: QWidget | None = None,
    ) -> None:
        """Create the list; `current_persona_id` returns the unique name of the persona whose replies are listed."""
        super().__init__(parent)
        self._context, self._commands, self._current_persona_id = context, commands, current_persona_id
        self._feedback = feedback
        self.rows = _build_rows()
        self.reason_button = QPushButton(tr("Give reason…"))
        self.open_reply_button = QPushButton(tr("Go to reply"))
        for button in (self.reason_button, self.open_reply_button):
            button.setProperty("filled", True)
        self.table: Table[FeedbackEntry] = Table(
            self.rows,
            context.theme,
            tr("Disliked replies"),
            tr("No disliked replies."),
            ColumnFit(WIDTHS, HIDEABLE_COLUMNS, MIN_REPLY_WIDTH),
        )
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.setMinimumHeight(MIN_HEIGHT)
        self._build_layout()
        self._unsubscribe = self._feedback.changed.add(self._on_feedback_changed)
        self.reason_button.clicked.connect(lambda _checked=False: self.edit_reason())
        self.open_reply_button.clicked.connect(lambda _checked=False: self.open_reply())
        self.table.opened.connect(lambda _one: self.edit_reason())
        self.table.current_changed.connect(lambda _one: self._update_buttons())
        self._update_buttons()
        self.hide()

    def _build_layout(self) -> None:
        line = QWidget()
        flow = FlowLayout(line, spacing=SPACE_2)
        for button in (self.reason_button, self.open_reply_button):
            flow.addWidget(button)
        head = QVBoxLayout()
        head.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_1)
        head.addWidget(build_heading(tr("Disliked replies")))
        text = tr(
            "The next dream learns from the reasons you give. Without a reason, you are asked only if several "
            "replies have something in common."
        )
        head.addWidget(build_small_label(text))
        head.addWidget(line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.table, 1)

    def close_list(self) -> None:
        """Cancel loading and disconnect from the feedback service."""
        self._context.tasks.cancel("disliked replies")
        self._unsubscribe()

    # reading

    def _on_feedback_changed(self, persona_id: str) -> None:
        if persona_id == self._current_persona_id():
            self.schedule_reload()

    def schedule_reload(self) -> None:
        self._context.tasks.start_task(self._reload(self._current_persona_id()), key="disliked replies")

    async def _reload(self, persona_id: str) -> None:
        entries = await self._feedback.list_feedback(persona_id)
        self.rows.set_rows([entry for entry in entries if entry.feedback.verdict is ReplyRating.BAD])
        self.setVisible(bool(self.rows.row_total))
        if self.table.current_row is None and self.rows.visible_rows:
            self.table.select_row(key_of(self.rows.visible_rows[0]))
        self._update_buttons()

    def _update_buttons(self) -> None:
        selected = self.table.current_row
        self.reason_button.setEnabled(selected is not None and selected.session is not None)
        self.open_reply_button.setEnabled(selected is not None and selected.session is not None)

    # Actions of the user.

    def open_reply(self) -> None:
        """Open the conversation at the selected reply."""
        selected = self.table.current_row
        if selected is not None and selected.session is not None:
            self._context.open_session(selected.session, selected.feedback.message_id)

    def edit_reason(self) -> None:
        """Open a dialog for the reason of the selected reply. Can be undone."""
        if self.table.current_row is not None and self.table.current_row.session is not None:
            self._context.tasks.start_task(self._ask_and_save_reason(self.table.current_row), key="reason")

    async def _ask_and_save_reason(self, entry: FeedbackEntry) -> None:
        before, alternative = entry.feedback.words, (entry.feedback.message_id, entry.feedback.position)
        dialog = ReasonDialog(self._context.dialog_parent, format_reply(entry), before)
        if await run_dialog(dialog) and dialog.reason != before:
            save_reason = self._feedback.save_reason
            self._commands.run_command(
                tr("editing the reason"),
                partial(save_reason, *alternative, dialog.reason),
                partial(save_reason, *alternative, before),
            )


def key_of(entry: FeedbackEntry) -> tuple[str, int]:
    """Return the row key of a reply: message id and index of the alternative."""
    return str(entry.feedback.message_id), entry.feedback.position


def format_reply(entry: FeedbackEntry) -> str:
    """Return the beginning of the reply, quoted and in one line of at most 160 characters."""
    text = " ".join(entry.text.split())
    return f"“{text if len(text) <= 160 else f'{text[:159]}…'}”" if text else tr("Deleted reply")


def format_reason(entry: FeedbackEntry) -> str:
    """Return the reason in one line, or a placeholder if none was given."""
    return " ".join(entry.feedback.words.split()) or tr("No reason given")


def _build_rows() -> FilteredTableModel[FeedbackEntry]:
    columns = [
        Column[FeedbackEntry](tr("Reply"), format_reply, width=0),
        Column[FeedbackEntry](tr("Reason"), format_reason, width=WIDTHS[REASON]),
        Column[FeedbackEntry](tr("Date"), lambda one: format_date(one.feedback.at.timestamp()), _rated_at, WIDTHS[DATE]),
    ]
    return FilteredTableModel(columns, key=key_of, search_text=lambda one: f"{one.text} {one.feedback.words}")


def _rated_at(entry: FeedbackEntry) -> float:
    return entry.feedback.at.timestamp()
