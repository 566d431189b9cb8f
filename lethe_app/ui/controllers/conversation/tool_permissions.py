"""Keep the pending permission requests of tools, and show the one of the session on display."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.services.events import ToolPermissionRequested
from lethe_app.ui.chat.tool_permission_card import ToolCard
from lethe_app.ui.core.accessibility import announce

if TYPE_CHECKING:
    from lethe_app.ui.chat.chat_panel import ChatPanel
    from lethe_app.ui.controllers.conversation.replies import ReplyController


class ToolPermissionController(QObject):
    """Shows one card at a time. A request that is answered or cancelled is removed."""

    def __init__(self, panel: ChatPanel, replies: ReplyController) -> None:
        super().__init__(panel)
        self._panel = panel
        self._pending_requests: dict[UUID, ToolPermissionRequested] = {}
        self._shown_session: UUID | None = None
        self.card: ToolCard | None = None
        replies.permission_requested.connect(self.add_request)
        replies.session_shown.connect(self.show_session_request)

    def add_request(self, session_id: UUID, question: ToolPermissionRequested) -> None:
        """Add the request of a reply that waits for the answer."""
        self._pending_requests[session_id] = question
        question.answer.add_done_callback(lambda _answer: self._remove_request(session_id, question))
        self._update_card()

    def show_session_request(self, session_id: UUID) -> None:
        """Set the session on display, and show its request."""
        self._shown_session = session_id
        self._update_card()

    def _remove_request(self, session_id: UUID, question: ToolPermissionRequested) -> None:
        if self._pending_requests.get(session_id) is question:
            del self._pending_requests[session_id]
            self._update_card()

    def _update_card(self) -> None:
        question = self._pending_requests.get(self._shown_session) if self._shown_session is not None else None
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
