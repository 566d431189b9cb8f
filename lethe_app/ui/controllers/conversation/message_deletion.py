"""Delete a message after a confirmation, with Undo."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.changes import TrashKind
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.view import ChatView

MAX_TEXT_LENGTH = 200
"""Maximum number of characters of the message that the confirmation shows."""


class MessageDeletion(QObject):
    """Moves messages to the trash, once per window. A restored message appears in its old place, because the transcript
    follows changes of the session.
    """

    def __init__(
        self, window: MainWindow, services: AppServices, view: ChatView, turns: ReplyController, tasks: TaskRunner
    ) -> None:
        super().__init__(window)
        self._window, self._services, self._turns, self._tasks = window, services, turns, tasks
        view.delete_requested.connect(lambda message_id: tasks.start_task(self._delete(message_id), key="delete"))

    async def _delete(self, message_id: UUID) -> None:
        message = await self._services.sessions.message(message_id)
        words = " ".join(message.content.split())
        name = message.speaker_name or self.tr("nobody")
        question = ConfirmDialog(
            self._window,
            self.tr("Delete this message?"),
            words if len(words) <= MAX_TEXT_LENGTH else f"{words[: MAX_TEXT_LENGTH - 1]}…",
            self.tr("Delete the message by {name}").format(name=name),
        )
        question.add_paragraph(self.tr("You can restore it from the Trash."))
        if not await run_dialog(question):
            return
        await self._turns.delete_message(message.session_id, message_id)
        self._window.notifier.notify(
            self.tr("The message by {name} was deleted.").format(name=name),
            button=self.tr("Undo"),
            action=partial(self._undo_deletion, message_id),
        )

    def _undo_deletion(self, message_id: UUID) -> None:
        self._tasks.start_task(self._restore_message(message_id))

    async def _restore_message(self, message_id: UUID) -> None:
        trash = self._services.trash
        for entry in await trash.list_items():
            if entry.kind is TrashKind.MESSAGE and entry.id == str(message_id):
                await trash.restore(entry)
