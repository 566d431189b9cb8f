"""List of disliked replies with the reason, which the user can add or edit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.services.background.feedback import LONGEST_REASON, FeedbackEntry
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.dialogs.dialogs import QuestionDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.labels import day_of
from lethe_app.ui.pages.memories.table_model import fit
from lethe_app.ui.pages.page import explanation, headline
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.flow_layout import Flow
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

REPLY, WHY, WHEN = range(3)
WIDTHS = {WHY: 340, WHEN: 116}
DISPENSABLE = (WHEN, WHY)
LEAST = 220
LEAST_HEIGHT = 120


def tr(words: str) -> str:
    """Translate a text in the context of the page; usable before a page exists."""
    return QCoreApplication.translate("ObjectionPage", words)


class ReasonDialog(QuestionDialog):
    """Dialog that asks why a reply was disliked."""

    def __init__(self, parent: QWidget, reply: str, words: str) -> None:
        super().__init__(parent, tr("What was wrong with this reply?"), tr("Save reason"))
        self.say(reply)
        self.field = QLineEdit(words)
        self.field.setMaxLength(LONGEST_REASON)
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
    def words(self) -> str:
        return self.field.text().strip()


class DislikedReplies(QWidget):
    """List of disliked replies; hidden while there are none."""

    def __init__(
        self, place: PageContext, deeds: CommandRunner, whose: Callable[[], str], parent: QWidget | None = None
    ) -> None:
        """Create the list; `whose` returns the unique name of the persona whose replies are listed."""
        super().__init__(parent)
        self._place, self._deeds, self._whose = place, deeds, whose
        self._feedback = place.services.feedback
        self.rows = _made_rows()
        self.why_button = QPushButton(tr("Give reason…"))
        self.go_button = QPushButton(tr("Go to reply"))
        for button in (self.why_button, self.go_button):
            button.setProperty("filled", True)
        self.table: Table[FeedbackEntry] = Table(self.rows, place.theme, tr("Disliked replies"), tr("No disliked replies."))
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.setMinimumHeight(LEAST_HEIGHT)
        self._lay_out()
        self._forget = self._feedback.changed.add(self._changed_behind)
        self.why_button.clicked.connect(lambda _checked=False: self.say_why())
        self.go_button.clicked.connect(lambda _checked=False: self.go())
        self.table.opened.connect(lambda _one: self.say_why())
        self.table.current_changed.connect(lambda _one: self._follow())
        self.table.viewport().installEventFilter(self)
        self._follow()
        self.hide()

    def _lay_out(self) -> None:
        line = QWidget()
        flow = Flow(line, spacing=SPACE_2)
        for button in (self.why_button, self.go_button):
            flow.addWidget(button)
        head = QVBoxLayout()
        head.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_1)
        head.addWidget(headline(tr("Disliked replies")))
        words = tr(
            "The next dream learns from the reasons you give. Without a reason, you are asked only if several "
            "replies have something in common."
        )
        head.addWidget(explanation(words))
        head.addWidget(line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.table, 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, LEAST)
        return False

    def close_list(self) -> None:
        """Cancel loading and disconnect from the feedback service."""
        self._place.bridge.cancel("disliked replies")
        self._forget()

    # reading

    def _changed_behind(self, persona: str) -> None:
        if persona == self._whose():
            self.read_soon()

    def read_soon(self) -> None:
        self._place.bridge.spawn(self._read(self._whose()), lane="disliked replies")

    async def _read(self, persona: str) -> None:
        told = await self._feedback.list_feedback(persona)
        self.rows.fill([one for one in told if one.feedback.verdict is ReplyRating.BAD])
        self.setVisible(bool(self.rows.total))
        if self.table.current is None and self.rows.shown:
            self.table.go_to(key_of(self.rows.shown[0]))
        self._follow()

    def _follow(self) -> None:
        chosen = self.table.current
        self.why_button.setEnabled(chosen is not None and chosen.session is not None)
        self.go_button.setEnabled(chosen is not None and chosen.session is not None)

    # Actions of the user.

    def go(self) -> None:
        """Open the conversation at the selected reply."""
        chosen = self.table.current
        if chosen is not None and chosen.session is not None:
            self._place.go_to(chosen.session, chosen.feedback.message_id)

    def say_why(self) -> None:
        """Open a dialog for the reason of the selected reply. Can be undone."""
        if self.table.current is not None and self.table.current.session is not None:
            self._place.bridge.spawn(self._say_why(self.table.current), lane="reason")

    async def _say_why(self, thought: FeedbackEntry) -> None:
        before, here = thought.feedback.words, (thought.feedback.message_id, thought.feedback.position)
        dialog = ReasonDialog(self._place.window, reply_of(thought), before)
        if await answered(dialog) and dialog.words != before:
            say = self._feedback.say_why
            self._deeds.do(tr("editing the reason"), partial(say, *here, dialog.words), partial(say, *here, before))


def key_of(one: FeedbackEntry) -> tuple[str, int]:
    """Return the row key of a reply: message id and index of the alternative."""
    return str(one.feedback.message_id), one.feedback.position


def reply_of(one: FeedbackEntry) -> str:
    """Return the beginning of the reply, quoted and in one line of at most 160 characters."""
    words = " ".join(one.text.split())
    return f"“{words if len(words) <= 160 else f'{words[:159]}…'}”" if words else tr("Deleted reply")


def why_of(one: FeedbackEntry) -> str:
    """Return the reason in one line, or a placeholder if none was given."""
    return " ".join(one.feedback.words.split()) or tr("No reason given")


def _made_rows() -> FilteredTableModel[FeedbackEntry]:
    columns = [
        Column[FeedbackEntry](tr("Reply"), reply_of, width=0),
        Column[FeedbackEntry](tr("Reason"), why_of, width=WIDTHS[WHY]),
        Column[FeedbackEntry](tr("Date"), lambda one: day_of(one.feedback.at.timestamp()), _moment, WIDTHS[WHEN]),
    ]
    return FilteredTableModel(columns, key=key_of, searched=lambda one: f"{one.text} {one.feedback.words}")


def _moment(one: FeedbackEntry) -> float:
    return one.feedback.at.timestamp()
