"""What is offered around a reply: permissions of tools, an answer that is missing, and a hint about length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QWidget

from lethe_app.domain.chat import Role
from lethe_app.services.events import PromptBuilt, ToolPermissionRequested, TurnEvent
from lethe_app.ui.chat.composer_card import ToolCard
from lethe_app.ui.chat.memory_card_parts import create_selectable_label
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.transcript.row_layout import AVATAR_COLUMN_WIDTH, COLUMN_MARGIN, MAX_COLUMN_WIDTH
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.layouts import build_row

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.reply_state import ReplyState
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.model.chat_model import ChatModel


class ToolPermissionController(Controller):
    """Shows one card at a time. A request that is answered or cancelled is removed."""

    def __init__(self, window: MainWindow, shown_session: ShownSession, replies: ReplyController) -> None:
        super().__init__(window)
        self._panel, self._shown = window.chat, shown_session
        self._pending_requests: dict[UUID, ToolPermissionRequested] = {}
        self.card: ToolCard | None = None
        replies.event_received.connect(self._on_reply_event)
        shown_session.session_changed.connect(lambda *_sessions: self._update_card())

    def _on_reply_event(self, turn: ReplyState, event: TurnEvent) -> None:
        """Add the request of a reply that waits for the answer."""
        if isinstance(event, ToolPermissionRequested):
            self._pending_requests[turn.session_id] = event
            event.answer.add_done_callback(lambda _answer: self._remove_request(turn.session_id, event))
            self._update_card()

    def _remove_request(self, session_id: UUID, question: ToolPermissionRequested) -> None:
        if self._pending_requests.get(session_id) is question:
            del self._pending_requests[session_id]
            self._update_card()

    def _update_card(self) -> None:
        shown = self._shown.session
        question = self._pending_requests.get(shown.guid) if shown is not None else None
        if self.card is not None and self.card.question is not question:
            had_focus = self.card.isAncestorOf(self._panel.focusWidget() or self._panel)
            self._panel.remove_card(self.card)
            self.card = None
            if had_focus:
                self._panel.composer.draft_field.setFocus()
        if question is not None and self.card is None:
            self.card = ToolCard(question)
            self.card.decided.connect(question.decide)
            self._panel.add_card(self.card)
            announce(self.card, self.card.title.text())


class UnansweredLine(QWidget):
    """Line in the column of the messages with one button."""

    def __init__(self) -> None:
        super().__init__()
        self.text_label = create_selectable_label("", "small")
        self.retry_button = build_button()
        frame = QFrame()
        frame.setMaximumWidth(MAX_COLUMN_WIDTH)
        build_row(
            (self.text_label, 1),
            (self.retry_button, 0, Qt.AlignmentFlag.AlignVCenter),
            spacing=SPACE_3,
            margins=(AVATAR_COLUMN_WIDTH, SPACE_2, SPACE_3, SPACE_1),
            parent=frame,
        )
        build_row(frame, margins=(COLUMN_MARGIN, 0, COLUMN_MARGIN, 0), parent=self)
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


class UnansweredController(Controller):
    """Shows the line whenever the newest visible message is the user's. It depends on the messages only, so it is also shown
    after a restart.
    """

    def __init__(
        self,
        window: MainWindow,
        shown_session: ShownSession,
        replies: ReplyController,
        messages: ChatModel,
    ) -> None:
        super().__init__(window)
        self._panel, self._shown, self._replies, self._messages = window.chat, shown_session, replies, messages
        self._stopped_sessions: set[UUID] = set()
        """Sessions whose latest reply the user stopped before its first token."""
        self.line = UnansweredLine()
        self._panel.add_card(self.line)
        # One update for all signals of the model in the same turn of the event loop.
        self._update_timer = QTimer(self, singleShot=True, interval=0)
        self._update_timer.timeout.connect(self._update_line)
        for signal in (messages.modelReset, messages.rowsInserted, messages.rowsRemoved, shown_session.session_changed):
            signal.connect(lambda *_rows: self._update_timer.start())
        replies.turn_ended.connect(self._on_turn_ended)
        self.line.retry_button.clicked.connect(lambda _checked=False: self._request_reply())

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
        if self._is_reply_missing and self._shown.session_id in self._stopped_sessions:
            self.line.show_text(self.tr("Stopped before the reply began."), self.tr("Try again"))
        elif self._is_reply_missing:
            self.line.show_text(self.tr("No reply yet."), self.tr("Generate"))
        else:
            self.line.hide()

    def _request_reply(self) -> None:
        self._panel.composer.draft_field.setFocus()
        self._replies.send_message("")


LONG_SESSION_FRACTION = 0.9
"""Fraction of the prompt's token budget from which a session counts as long."""


class LongConversationHint(Controller):
    """Shows the suggestion once per session, as a notification."""

    def __init__(self, window: MainWindow, shown_session: ShownSession, replies: ReplyController) -> None:
        super().__init__(window)
        self._shown = shown_session
        self._notified_sessions: set[UUID] = set()
        replies.event_received.connect(self._on_reply_event)

    def _on_reply_event(self, turn: ReplyState, event: TurnEvent) -> None:
        """Check the size of a prompt that was built for the session on display."""
        if not isinstance(event, PromptBuilt) or turn.session_id != self._shown.session_id:
            return
        receipt = event.receipt
        is_long = receipt.prompt_tokens > LONG_SESSION_FRACTION * (receipt.context - receipt.reply_reserve)
        if not is_long or turn.session_id in self._notified_sessions:
            return
        self._notified_sessions.add(turn.session_id)
        template = self.tr("This conversation has grown long, so {name} no longer sees its beginning word for word.")
        self._notifier.notify(
            template.format(name=self._shown.participants[0].name),
            detail=self.tr("A new conversation responds faster, and this one will be remembered."),
            button=self.tr("New conversation"),
            action=self._actions["new"].trigger,
        )
