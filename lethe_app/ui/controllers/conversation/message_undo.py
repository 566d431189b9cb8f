"""Undo edits and deletions of messages by notification or Ctrl+Z."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut

if TYPE_CHECKING:
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier
    from lethe_app.ui.shell.panes import WindowPanes

MAX_UNDO = 50
"""Number of changes that can be undone."""


@dataclass(frozen=True, eq=False)
class UndoEntry:
    """Change of a message that can be undone."""

    session_id: UUID
    undo: Callable[[], Awaitable[object]]


class MessageUndo(QObject):
    """Changes of messages, newest last. Ctrl+Z undoes the newest one of the session on display; a text field that can undo
    handles the keys itself.
    """

    def __init__(
        self, panes: WindowPanes, actions: Actions, notifier: Notifier, replies: ReplyController, tasks: TaskRunner
    ) -> None:
        super().__init__(panes)
        self._panes, self._notifier, self._replies, self._tasks = panes, notifier, replies, tasks
        self._entries: list[UndoEntry] = []
        self._close_notices: dict[UndoEntry, Callable[[], None]] = {}
        """Functions that close the notification about each change."""
        self._shown_session: UUID | None = None
        replies.session_shown.connect(self._on_session_shown)
        shortcut = QShortcut(panes)
        shortcut.setKeys(QKeySequence.StandardKey.Undo)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self._undo_newest)
        actions.connect(undo=self._undo_if_visible)

    def notify_change(self, text: str, session_id: UUID, undo: Callable[[], Awaitable[object]]) -> None:
        """Show a notification about a change with the button “Undo”, and keep the change for Ctrl+Z."""
        entry = UndoEntry(session_id, undo)
        self._entries = [*self._entries, entry][-MAX_UNDO:]
        close = self._notifier.notify(text, button=self.tr("Undo"), action=lambda: self._undo_entry(entry))
        self._close_notices = {one: self._close_notices.get(one, close) for one in self._entries}

    def _on_session_shown(self, session_id: UUID) -> None:
        self._shown_session = session_id

    def _undo_if_visible(self) -> None:
        if self._panes.isVisible():  # otherwise the page on display undoes its own changes
            self._undo_newest()

    def _undo_newest(self) -> None:
        for entry in reversed(self._entries):
            if entry.session_id == self._shown_session:
                self._undo_entry(entry)
                return
        self._notifier.notify(self.tr("There is nothing to undo in this conversation."))

    def _undo_entry(self, entry: UndoEntry) -> None:
        if entry not in self._entries:
            return  # undone already
        if self._replies.is_busy:
            self._notifier.notify(self.tr("Wait until the reply is finished, then press Ctrl+Z."))
            return
        self._entries.remove(entry)
        self._close_notices.pop(entry)()
        self._tasks.start_task(self._run_undo(entry))

    async def _run_undo(self, entry: UndoEntry) -> None:
        await entry.undo()
        self._notifier.notify(self.tr("Undone"))
