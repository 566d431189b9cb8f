"""Delete a message after a confirmation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.changes import TrashKind
from lethe_app.domain.chat import Message, Role
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog

if TYPE_CHECKING:
    from lethe_app.services.maintenance.trash import Trash
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.message_undo import MessageUndo
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.transcript.chat_view import ChatView

MAX_TEXT_LENGTH = 200
"""Maximum number of characters of the message that the confirmation shows."""


class MessageDeletion(QObject):
    """Moves messages to the trash. A restored message appears in its old place, because the transcript follows changes of the
    session.
    """

    def __init__(
        self,
        view: ChatView,
        sessions: SessionService,
        trash: Trash,
        replies: ReplyController,
        undo: MessageUndo,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(view)
        self._view, self._undo = view, undo
        self._sessions, self._trash, self._replies = sessions, trash, replies
        view.delete_requested.connect(lambda message_id: tasks.start_task(self._delete(message_id), key="delete"))

    async def _delete(self, message_id: UUID) -> None:
        message = await self._sessions.message(message_id)
        name, is_own = message.speaker_name or self.tr("nobody"), message.role is Role.USER
        question = ConfirmDialog(
            self._view.window(),
            self.tr("Delete this message?"),
            truncate_text(" ".join(message.content.split()), MAX_TEXT_LENGTH),
            self.tr("Delete your message") if is_own else self.tr("Delete the message by {name}").format(name=name),
        )
        question.add_paragraph(self.tr("You can restore it from the Trash."))
        if not await run_dialog(question):
            return
        await self._move_to_trash(message)
        text = self.tr("Your message was deleted.") if is_own else self.tr("The message by {name} was deleted.")
        self._undo.notify_change(
            text.format(name=name),
            message.session_id,
            partial(self._restore_message, message),
            partial(self._move_to_trash, message),
        )

    async def _move_to_trash(self, message: Message) -> None:
        await self._replies.delete_message(message.session_id, message.id)

    async def _restore_message(self, message: Message) -> None:
        for entry in await self._trash.list_items():
            if entry.kind is TrashKind.MESSAGE and entry.id == str(message.id):
                await self._trash.restore(entry)
