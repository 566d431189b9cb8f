"""Line above the composer for a user message without a reply, with a button that generates one."""

from __future__ import annotations

from uuid import UUID

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from lethe_app.domain.chat import Role
from lethe_app.ui.chat.chat_panel import ChatPanel
from lethe_app.ui.chat.memory_card_parts import create_selectable_label
from lethe_app.ui.controllers.conversation.replies import ReplyController
from lethe_app.ui.controllers.conversation.reply_state import ReplyState
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.transcript.model.chat_model import ChatModel
from lethe_app.ui.transcript.row_layout import AVATAR_COLUMN_WIDTH, COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.buttons import build_button


class UnansweredLine(QWidget):
    """Line in the column of the messages with one button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text_label = create_selectable_label("", "small")
        self.retry_button = build_button()
        frame = QFrame()
        frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        line = QHBoxLayout(frame)
        line.setContentsMargins(AVATAR_COLUMN_WIDTH, SPACE_2, SPACE_3, SPACE_1)
        line.setSpacing(SPACE_3)
        line.addWidget(self.text_label, 1)
        line.addWidget(self.retry_button, 0, Qt.AlignmentFlag.AlignVCenter)
        around = QHBoxLayout(self)
        around.setContentsMargins(COLUMN_MARGIN, 0, COLUMN_MARGIN, 0)
        around.addWidget(frame)
        self.hide()

    def show_text(self, text: str, button_text: str) -> None:
        """Show the line; screen readers are notified only if it is new."""
        is_new = text != self.text_label.text() or self.isHidden()
        self.text_label.setText(text)
        self.retry_button.setText(button_text)
        self.retry_button.setAccessibleDescription(text)
        self.setAccessibleName(text)
        self.show()
        if is_new:
            announce(self, text)


class UnansweredController(QObject):
    """Shows the line whenever the newest visible message is the user's. It depends on the messages only, so it is also shown
    after a restart.
    """

    def __init__(self, panel: ChatPanel, replies: ReplyController, messages: ChatModel) -> None:
        super().__init__(panel)
        self._panel, self._replies, self._messages = panel, replies, messages
        self._shown_session: UUID | None = None
        self._stopped_sessions: set[UUID] = set()
        """Sessions whose latest reply the user stopped before its first token."""
        self.line = UnansweredLine()
        panel.add_card(self.line)
        # One update for all signals of the model in the same turn of the event loop.
        self._update_timer = QTimer(self, singleShot=True, interval=0)
        self._update_timer.timeout.connect(self._update_line)
        for signal in (messages.modelReset, messages.rowsInserted, messages.rowsRemoved):
            signal.connect(lambda *_rows: self._update_timer.start())
        replies.session_shown.connect(self._on_session_shown)
        replies.turn_ended.connect(self._on_turn_ended)
        self.line.retry_button.clicked.connect(lambda _checked=False: self._request_reply())

    def _on_session_shown(self, session_id: UUID) -> None:
        self._shown_session = session_id
        self._update_timer.start()

    def _on_turn_ended(self, turn: ReplyState) -> None:
        if turn.is_stopped and not turn.text_parts and not turn.thinking_parts:
            self._stopped_sessions.add(turn.session_id)
        else:
            self._stopped_sessions.discard(turn.session_id)
        self._update_timer.start()

    @property
    def _is_reply_missing(self) -> bool:
        """Return whether the newest visible message is the user's and no reply is in progress."""
        for row in range(self._messages.rowCount() - 1, -1, -1):
            outline = self._messages.outline(row)
            if not outline.hidden:
                return outline.role is Role.USER and not self._replies.is_busy
        return False

    def _update_line(self) -> None:
        if self._is_reply_missing and self._shown_session in self._stopped_sessions:
            self.line.show_text(self.tr("Stopped before the reply began."), self.tr("Try again"))
        elif self._is_reply_missing:
            self.line.show_text(self.tr("No reply yet."), self.tr("Generate"))
        else:
            self.line.hide()

    def _request_reply(self) -> None:
        self._panel.composer.draft_field.setFocus()
        self._replies.send_message("")
