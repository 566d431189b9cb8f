"""Undo and redo edits and deletions of messages by notification or by keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
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
Step = Callable[[], Awaitable[object]]


@dataclass(frozen=True, eq=False)
class MessageChange:
    """Change of a message that can be undone and redone."""

    session_id: UUID
    undo: Step
    redo: Step
    close_notice: Callable[[], None]


class MessageUndo(QObject):
    """Changes of messages, and those that were undone, newest last. Ctrl+Z undoes and Ctrl+Shift+Z redoes the newest one of the
    session on display; a text field that can do so itself handles the keys first.
    """

    def __init__(
        self, panes: WindowPanes, actions: Actions, notifier: Notifier, replies: ReplyController, tasks: TaskRunner
    ) -> None:
        super().__init__(panes)
        self._panes, self._notifier, self._replies, self._tasks = panes, notifier, replies, tasks
        self._made: list[MessageChange] = []
        self._undone: list[MessageChange] = []
        self._shown_session: UUID | None = None
        replies.session_shown.connect(self._on_session_shown)
        replies.turn_ended.connect(lambda _turn: notifier.drop_undoable())
        for keys, slot in (
            (QKeySequence.StandardKey.Undo, self._undo_newest),
            (QKeySequence.StandardKey.Redo, self._redo_newest),
        ):
            shortcut = QShortcut(panes)
            shortcut.setKeys(keys)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        actions.connect(undo=partial(self._run_if_visible, self._undo_newest))
        actions.connect(redo=partial(self._run_if_visible, self._redo_newest))

    def notify_change(self, text: str, session_id: UUID, undo: Step, redo: Step) -> None:
        """Show a notification about a change with the button “Undo”, and keep the change for Ctrl+Z."""
        self._notifier.drop_undoable()
        self._undone = [change for change in self._undone if change.session_id != session_id]
        self._add_change(text, session_id, undo, redo)

    def _add_change(self, text: str, session_id: UUID, undo: Step, redo: Step) -> None:
        close = self._notifier.notify(text, button=self.tr("Undo"), action=lambda: self._undo_change(change))
        change = MessageChange(session_id, undo, redo, close)
        self._made = [*self._made, change][-MAX_UNDO:]

    def _on_session_shown(self, session_id: UUID) -> None:
        self._shown_session = session_id

    def _run_if_visible(self, undo_or_redo: Callable[[], None]) -> None:
        if self._panes.isVisible():  # otherwise the page on display undoes its own changes
            undo_or_redo()

    def _undo_newest(self) -> None:
        change = self._find_newest(self._made)
        if change is not None:
            self._undo_change(change)
        elif not self._notifier.undo_last():
            self._notifier.notify(self.tr("There is nothing to undo in this conversation."))

    def _redo_newest(self) -> None:
        change = self._find_newest(self._undone)
        if change is None:
            self._notifier.notify(self.tr("There is nothing to redo in this conversation."))
        elif self._may_change(self.tr("Wait until the reply is finished, then press Ctrl+Shift+Z.")):
            self._undone.remove(change)
            self._tasks.start_task(self._run_redo(change))

    def _find_newest(self, changes: Sequence[MessageChange]) -> MessageChange | None:
        """Return the newest change of the session on display."""
        return next((change for change in reversed(changes) if change.session_id == self._shown_session), None)

    def _undo_change(self, change: MessageChange) -> None:
        if change not in self._made:
            return  # undone already
        if self._may_change(self.tr("Wait until the reply is finished, then press Ctrl+Z.")):
            self._made.remove(change)
            change.close_notice()
            self._tasks.start_task(self._run_undo(change))

    def _may_change(self, advice: str) -> bool:
        """Return whether no reply is being written; otherwise show the advice."""
        if self._replies.is_busy:
            self._notifier.notify(advice)
        return not self._replies.is_busy

    async def _run_undo(self, change: MessageChange) -> None:
        await change.undo()
        self._undone.append(change)
        self._notifier.notify(self.tr("Undone"))

    async def _run_redo(self, change: MessageChange) -> None:
        await change.redo()
        self._add_change(self.tr("Redone"), change.session_id, change.undo, change.redo)
