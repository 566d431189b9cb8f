"""Show in the transcript that the session has timed out, continue it on request, and report user input in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.errors import LetheError
from lethe_app.ui.core.formatting import format_minutes
from lethe_app.ui.transcript.painting.link_line import LinkLine

if TYPE_CHECKING:
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.scheduling.loop import Idleness
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.services.sessions.timeout import SessionTimeout
    from lethe_app.ui.chat.chat_panel import ChatPanel
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.transcript.chat_view import ChatView


class SessionEnd(QObject):
    """Follows the session on display. Sessions do not time out while a message is being edited."""

    def __init__(
        self,
        chat: ChatPanel,
        view: ChatView,
        sessions: SessionService,
        session_timeout: SessionTimeout,
        preferences: Preferences,
        idleness: Idleness,
        replies: ReplyController,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(view)
        self._chat, self._view, self._tasks = chat, view, tasks
        self._sessions, self._session_timeout, self._preferences = sessions, session_timeout, preferences
        self._shown_session: UUID | None = None
        self.ended_line = LinkLine(view.viewport())
        self.ended_line.linkActivated.connect(lambda _address: self._continue_session())
        self._unsubscribers = [
            sessions.changed.add(lambda _persona: self._refresh_state()),
            preferences.changed.add(lambda _settings: self._refresh_state()),
            idleness.user_active.add(lambda _none: self._report_input()),
        ]
        replies.session_shown.connect(self._on_session_shown)
        view.editor_toggled.connect(self._report_editing)

    def close(self) -> None:
        """Disconnect from the services."""
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        self._session_timeout.set_edited_session(None)

    def _on_session_shown(self, session_id: UUID) -> None:
        self._shown_session = session_id
        self._report_editing()
        self._update_widgets(has_ended=False)
        self._refresh_state()

    def _refresh_state(self) -> None:
        if self._shown_session is not None:
            self._tasks.start_task(self._check_ended(self._shown_session), key="session end")

    async def _check_ended(self, session_id: UUID) -> None:
        try:
            has_ended = await self._sessions.has_ended(session_id)
        except LetheError:
            return  # deleted meanwhile; another one is about to be shown
        if session_id != self._shown_session:
            return
        if has_ended and not self.ended_line.isVisibleTo(self._view):
            minutes = self._preferences.current.rotation_minutes
            text = self.tr("This conversation ended after {time} of inactivity").format(time=format_minutes(minutes))
            self.ended_line.show_pieces((text, ""), (" · ", ""), (self.tr("Continue"), "continue"))
            self.ended_line.announce_text()
        self._update_widgets(has_ended=has_ended)

    def _update_widgets(self, *, has_ended: bool) -> None:
        self._view.set_footer(self.ended_line if has_ended else None)
        self._chat.composer.set_ended(is_ended=has_ended)

    def _report_input(self) -> None:
        if self._shown_session is not None and not self._chat.is_covered:
            self._session_timeout.note_input(self._shown_session)

    def _report_editing(self) -> None:
        self._session_timeout.set_edited_session(self._shown_session if self._view.editor is not None else None)

    def _continue_session(self) -> None:
        if self._shown_session is not None:
            self._chat.focus_composer()
            self._tasks.start_task(self._sessions.reopen(self._shown_session))
