"""Delete a message after a confirmation, with Undo."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.domain.changes import TrashKind
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.conversation.replies import Turns
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.view import ChatView

MOST_LETTERS = 200
"""Maximum number of characters of the message that the confirmation shows."""


class MessageDeletion(QObject):
    """Moves messages to the trash, once per window. A restored message appears in its old place, because the transcript
    follows changes of the session.
    """

    def __init__(self, window: MainWindow, services: AppServices, view: ChatView, turns: Turns, bridge: Bridge) -> None:
        super().__init__(window)
        self._window, self._services, self._turns, self._bridge = window, services, turns, bridge
        view.delete_requested.connect(lambda message_id: bridge.spawn(self._delete(message_id), lane="delete"))

    async def _delete(self, message_id: UUID) -> None:
        message = await self._services.sessions.message(message_id)
        words = " ".join(message.content.split())
        name = message.speaker_name or self.tr("nobody")
        question = ConfirmDialog(
            self._window,
            self.tr("Delete this message?"),
            words if len(words) <= MOST_LETTERS else f"{words[: MOST_LETTERS - 1]}…",
            self.tr("Delete the message by {name}").format(name=name),
        )
        question.say(self.tr("You can restore it from the Trash."))
        if not await answered(question):
            return
        await self._turns.delete(message.session_id, message_id)
        self._window.notifier.tell(
            self.tr("The message by {name} was deleted.").format(name=name),
            button=self.tr("Undo"),
            action=partial(self._take_back, message_id),
        )

    def _take_back(self, message_id: UUID) -> None:
        self._bridge.spawn(self._restore(message_id))

    async def _restore(self, message_id: UUID) -> None:
        trash = self._services.trash
        for one in await trash.all():
            if one.kind is TrashKind.MESSAGE and one.id == str(message_id):
                await trash.restore(one)
