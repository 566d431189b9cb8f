"""Store edits of messages, and undo them by notification or Ctrl+Z."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut

from lethe_app.domain.chat import Message

if TYPE_CHECKING:
    from lethe_app.services.chat.message_editing import MessageEditing
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier
    from lethe_app.ui.shell.panes import WindowPanes
    from lethe_app.ui.transcript.chat_view import ChatView

MAX_UNDO = 50
"""Number of edits that can be undone."""


class MessageEdits(QObject):
    """Stores edits. Ctrl+Z undoes the newest one of the session on display; a text field with the focus handles the keys
    itself.
    """

    def __init__(
        self,
        panes: WindowPanes,
        view: ChatView,
        notifier: Notifier,
        sessions: SessionService,
        message_editing: MessageEditing,
        replies: ReplyController,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(view)
        self._messages, self._notifier = view.chat_model, notifier
        self._sessions, self._message_editing, self._replies, self._tasks = sessions, message_editing, replies, tasks
        self._originals: list[Message] = []
        """Edited messages as they were before, newest last."""
        self._shown_session: UUID | None = None
        replies.session_shown.connect(self._on_session_shown)
        view.edited.connect(self.edit_message)
        shortcut = QShortcut(panes)
        shortcut.setKeys(QKeySequence.StandardKey.Undo)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self._undo_newest)

    def edit_message(self, message_id: UUID, text: str) -> None:
        """Store another text of the alternative on display."""
        self._tasks.start_task(self._save_edit(message_id, text))

    def _on_session_shown(self, session_id: UUID) -> None:
        self._shown_session = session_id

    async def _save_edit(self, message_id: UUID, text: str) -> None:
        original = await self._sessions.message(message_id)
        if original.content == text:
            return
        self._messages.replace_message(await self._message_editing.edit(message_id, text))
        self._originals = [*self._originals, original][-MAX_UNDO:]
        self._notifier.notify(self.tr("Message edited"), button=self.tr("Undo"), action=partial(self._undo_edit, original))

    def _undo_newest(self) -> None:
        for original in reversed(self._originals):
            if original.session_id == self._shown_session:
                self._undo_edit(original)
                return

    def _undo_edit(self, original: Message) -> None:
        if original not in self._originals:
            return  # undone already
        if self._replies.is_busy:
            self._notifier.notify(self.tr("Wait until the reply is finished, then press Ctrl+Z."))
            return
        self._originals.remove(original)
        self._tasks.start_task(self._restore_original(original))

    async def _restore_original(self, original: Message) -> None:
        self._messages.replace_message(await self._message_editing.undo_edit(original))
        self._notifier.notify(self.tr("Edit undone"))
