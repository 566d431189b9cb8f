"""Store edits of messages, and undo them by notification or Ctrl+Z."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut

from lethe_app.domain.chat import Message

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.conversation.replies import Turns
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.model.model import ChatModel
    from lethe_app.ui.transcript.view import ChatView

MOST = 50
"""Number of edits that can be undone."""


class MessageEdits(QObject):
    """Stores edits. Ctrl+Z undoes the newest one of the session on display; a text field with the focus handles the keys
    itself.
    """

    def __init__(
        self, window: MainWindow, services: AppServices, view: ChatView, messages: ChatModel, turns: Turns, bridge: Bridge
    ) -> None:
        super().__init__(window)
        self._window, self._services, self._messages, self._turns, self._bridge = window, services, messages, turns, bridge
        self._before: list[Message] = []
        """Edited messages as they were before, newest last."""
        self._shown: UUID | None = None
        turns.looked.connect(self._look_at)
        view.edited.connect(self.edit)
        shortcut = QShortcut(window.panes)
        shortcut.setKeys(QKeySequence.StandardKey.Undo)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self._undo_newest)

    def edit(self, message_id: UUID, text: str) -> None:
        """Store another text of the alternative on display."""
        self._bridge.spawn(self._edit(message_id, text))

    def _look_at(self, session_id: UUID) -> None:
        self._shown = session_id

    async def _edit(self, message_id: UUID, text: str) -> None:
        before = await self._services.sessions.message(message_id)
        if before.content == text:
            return
        self._messages.replace(await self._services.message_editing.edit(message_id, text))
        self._before = [*self._before, before][-MOST:]
        self._window.notifier.tell(self.tr("Message edited"), button=self.tr("Undo"), action=partial(self._undo, before))

    def _undo_newest(self) -> None:
        for before in reversed(self._before):
            if before.session_id == self._shown:
                self._undo(before)
                return

    def _undo(self, before: Message) -> None:
        if before not in self._before:
            return  # taken back already
        if self._turns.is_busy:
            self._window.notifier.tell(self.tr("Wait until the reply is finished, then press Ctrl+Z."))
            return
        self._before.remove(before)
        self._bridge.spawn(self._put_back(before))

    async def _put_back(self, before: Message) -> None:
        self._messages.replace(await self._services.message_editing.undo_edit(before))
        self._window.notifier.tell(self.tr("Edit undone"))
