"""Line above the composer for a user message without a reply, with a button that generates one."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from lethe_app.domain.chat import Role
from lethe_app.ui.chat.chat_panel import ChatPanel
from lethe_app.ui.chat.memory_card_parts import wrapped
from lethe_app.ui.controllers.conversation.replies import Turns
from lethe_app.ui.controllers.conversation.reply_state import ReplyState
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.transcript.model.model import ChatModel
from lethe_app.ui.transcript.row_layout import AROUND, AVATAR_ROOM, WIDEST


class UnansweredLine(QWidget):
    """Line in the column of the messages with one button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = wrapped("", small=True)
        self.again = QPushButton()
        self.again.setProperty("filled", True)
        frame = QFrame()
        frame.setMaximumWidth(WIDEST)
        line = QHBoxLayout(frame)
        line.setContentsMargins(AVATAR_ROOM, SPACE_2, SPACE_3, SPACE_1)
        line.setSpacing(SPACE_3)
        line.addWidget(self.words, 1)
        line.addWidget(self.again, 0, Qt.AlignmentFlag.AlignVCenter)
        around = QHBoxLayout(self)
        around.setContentsMargins(AROUND, 0, AROUND, 0)
        around.addWidget(frame)
        self.hide()

    def say(self, words: str, button: str) -> None:
        """Show the line; screen readers are notified only if it is new."""
        is_new = words != self.words.text() or self.isHidden()
        self.words.setText(words)
        self.again.setText(button)
        self.again.setAccessibleDescription(words)
        self.setAccessibleName(words)
        self.show()
        if is_new and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))


class Unanswered(QObject):
    """Shows the line whenever the newest visible message is the user's. It depends on the messages only, so it is also shown
    after a restart.
    """

    def __init__(self, panel: ChatPanel, turns: Turns, messages: ChatModel) -> None:
        super().__init__(panel)
        self._panel, self._turns, self._messages = panel, turns, messages
        self._shown: UUID | None = None
        self._stopped: set[UUID] = set()
        """Sessions whose latest reply the user stopped before its first token."""
        self.line = UnansweredLine()
        panel.put_question(self.line)
        # One update for all signals of the model in the same turn of the event loop.
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._follow)
        for signal in (messages.modelReset, messages.rowsInserted, messages.rowsRemoved):
            signal.connect(lambda *_rows: self._soon.start())
        turns.looked.connect(self._look_at)
        turns.ended.connect(self._note)
        self.line.again.clicked.connect(lambda _checked=False: self._ask())

    def _look_at(self, session_id: UUID) -> None:
        self._shown = session_id
        self._soon.start()

    def _note(self, turn: ReplyState) -> None:
        if turn.is_stopped and not turn.said and not turn.thought:
            self._stopped.add(turn.session_id)
        else:
            self._stopped.discard(turn.session_id)
        self._soon.start()

    @property
    def _is_wanting(self) -> bool:
        """Return whether the newest visible message is the user's and no reply is in progress."""
        for row in range(self._messages.rowCount() - 1, -1, -1):
            outline = self._messages.outline(row)
            if not outline.hidden:
                return outline.role is Role.USER and not self._turns.is_busy
        return False

    def _follow(self) -> None:
        if self._is_wanting and self._shown in self._stopped:
            self.line.say(self.tr("Stopped before the reply began."), self.tr("Try again"))
        elif self._is_wanting:
            self.line.say(self.tr("No reply yet."), self.tr("Generate"))
        else:
            self.line.hide()

    def _ask(self) -> None:
        self._panel.composer.text.setFocus()
        self._turns.send("")
