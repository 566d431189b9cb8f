"""Store edits of messages, and show their details."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.chat import Message
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.dialogs.message_details import MessageDetailsDialog

if TYPE_CHECKING:
    from lethe_app.services.chat.message_editing import MessageEditing
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.message_undo import MessageUndo
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.transcript.chat_view import ChatView


class MessageEdits(QObject):
    """Stores the edits made in the transcript, which can be undone, and opens the details of a message."""

    def __init__(
        self,
        view: ChatView,
        sessions: SessionService,
        message_editing: MessageEditing,
        undo: MessageUndo,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(view)
        self._messages, self._undo = view.chat_model, undo
        self._sessions, self._message_editing, self._tasks = sessions, message_editing, tasks
        view.edited.connect(self.edit_message)
        view.details_requested.connect(lambda message_id: tasks.start_task(self._show_details(message_id), key="details"))
        self._window = view.window

    def edit_message(self, message_id: UUID, text: str) -> None:
        """Store another text of the alternative on display."""
        self._tasks.start_task(self._save_edit(message_id, text))

    async def _show_details(self, message_id: UUID) -> None:
        await run_dialog(MessageDetailsDialog(self._window(), await self._sessions.message(message_id)))

    async def _save_edit(self, message_id: UUID, text: str) -> None:
        original = await self._sessions.message(message_id)
        if original.content == text:
            return
        await self._replace_text(original, text)
        self._undo.notify_change(
            self.tr("Message edited"),
            original.session_id,
            partial(self._restore_original, original),
            partial(self._replace_text, original, text),
        )

    async def _replace_text(self, message: Message, text: str) -> None:
        self._messages.replace_message(await self._message_editing.edit(message.id, text))

    async def _restore_original(self, original: Message) -> None:
        self._messages.replace_message(await self._message_editing.undo_edit(original))
