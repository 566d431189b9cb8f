"""Keep the session on display up to date when pages split, merge, extend or delete it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lethe_app.errors import LetheError
from lethe_app.services.sessions.editing import SessionEditing, SessionsChanged

if TYPE_CHECKING:
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.transcript.model.chat_model import ChatModel


class SessionFollower:
    """Stops the replies of a session before it is changed, then reads it again, or shows the session that replaces it."""

    def __init__(
        self,
        session_editing: SessionEditing,
        sessions: SessionService,
        session_controller: SessionController,
        replies: ReplyController,
        messages: ChatModel,
        tasks: TaskRunner,
    ) -> None:
        self._sessions, self._session_controller = sessions, session_controller
        self._messages, self._tasks = messages, tasks
        session_editing.add_reply_stopper(replies.stop_session_reply)
        self._unsubscribe = session_editing.sessions_changed.add(self._on_session_reshaped)

    def close(self) -> None:
        """Disconnect from the service."""
        self._unsubscribe()

    def _on_session_reshaped(self, change: SessionsChanged) -> None:
        self._tasks.start_task(self._update_shown_session(change))

    async def _update_shown_session(self, change: SessionsChanged) -> None:
        current = self._session_controller.current_session
        if current is None:
            return
        try:
            if current.guid in change.deleted:
                successor = change.sessions[0] if change.sessions else None
                if successor is None:
                    await self._session_controller.show_session(await self._sessions.resume(change.persona_id))
                else:
                    await self._session_controller.go_to_session(successor)
            elif current.guid in change.sessions:
                self._messages.refresh_outlines(await self._sessions.outline(current.guid))
                for message in change.edited_messages:
                    self._messages.replace_message(await self._sessions.message(message))
        except LetheError:
            await self._session_controller.show_session(await self._sessions.resume(change.persona_id))
