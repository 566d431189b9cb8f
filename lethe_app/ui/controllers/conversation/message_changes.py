"""Edit, delete and rate messages, show their details, and undo and redo changes by notification or by keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut

from lethe_app.domain.agent_runs import ReplyRating
from lethe_app.domain.changes import TrashKind
from lethe_app.domain.chat import Message, Role
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import truncate_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.message_details import MessageDetailsDialog
from lethe_app.ui.transcript.model.annotations import format_rating

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.services.background.feedback import FeedbackService
    from lethe_app.services.chat.message_editing import MessageEditing
    from lethe_app.services.maintenance.trash import Trash
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.transcript.chat_view import ChatView

MAX_TEXT_LENGTH = 200
"""Maximum number of characters of the message that the confirmation shows."""
MAX_UNDO = 50
"""Number of changes that can be undone."""
Step = Callable[[], Awaitable[object]]


@dataclass(frozen=True, eq=False)
class MessageChange:
    """Change of a message that can be undone and redone."""

    session_id: UUID
    undo: Step
    redo: Step | None
    """None if it is not redone."""
    close_notice: Callable[[], None]
    text: str
    """What was done, as it was notified."""


class MessageChanges(Controller):
    """Stores the edits and ratings made in the transcript, opens the details of a message, and moves messages to the trash.

    Ctrl+Z undoes and Ctrl+Shift+Z redoes the newest change in the session on display; a text field that can do so itself
    handles the keys first. A restored message appears in its old place, because the transcript follows changes of the session.
    """

    def __init__(
        self,
        window: MainWindow,
        view: ChatView,
        sessions: SessionService,
        message_editing: MessageEditing,
        trash: Trash,
        feedback: FeedbackService,
        shown_session: ShownSession,
        replies: ReplyController,
    ) -> None:
        super().__init__(window)
        self._panes, self._view, self._messages = window.panes, view, view.chat_model
        self._sessions, self._message_editing, self._trash, self._feedback = sessions, message_editing, trash, feedback
        self._ratings = view.chat_model.annotations.ratings
        self._shown, self._replies = shown_session, replies
        self._made: list[MessageChange] = []
        """Changes that can be undone, newest last."""
        self._undone: list[MessageChange] = []
        view.edited.connect(self._tasks.create_slot(self.edit_message))
        view.details_requested.connect(self._tasks.create_slot(self._show_details, key="details"))
        view.delete_requested.connect(self._tasks.create_slot(self._delete, key="delete"))
        view.rating_requested.connect(self._tasks.create_slot(self._save_rating))
        self.follow(self._tasks.create_callback(self._ratings.refresh, key="ratings"), feedback.changed)
        replies.turn_ended.connect(lambda _turn: self._notifier.drop_undoable())
        for keys, slot in (
            (QKeySequence.StandardKey.Undo, self._undo_newest),
            (QKeySequence.StandardKey.Redo, self._redo_newest),
        ):
            shortcut = QShortcut(self._panes)
            shortcut.setKeys(keys)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        self._actions.connect(
            undo=partial(self._run_if_visible, self._undo_newest), redo=partial(self._run_if_visible, self._redo_newest)
        )

    # Undo

    def _notify_change(self, text: str, session_id: UUID, undo: Step, redo: Step) -> None:
        """Show a notification about a change with the button “Undo”, and keep the change for Ctrl+Z."""
        self._notifier.drop_undoable()
        self._undone = [change for change in self._undone if change.session_id != session_id]
        self._add_change(text, session_id, undo, redo)

    def _add_change(self, text: str, session_id: UUID, undo: Step, redo: Step | None, notice: str = "") -> None:
        close = self._notifier.notify(notice or text, button=self.tr("Undo"), action=lambda: self._undo_change(change))
        change = MessageChange(session_id, undo, redo, close, text)
        self.keep_change(change)

    def keep_change(self, change: MessageChange) -> None:
        """Keep a change for Ctrl+Z that something else on display tells of."""
        self._made = [*self._made, change][-MAX_UNDO:]

    def drop_change(self, change: MessageChange | None) -> None:
        """Keep a change no longer, because it was undone otherwise or cannot be undone any more."""
        self._made = [each for each in self._made if each is not change]

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
        return next((change for change in reversed(changes) if change.session_id == self._shown.session_id), None)

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
        if change.redo is not None:
            self._undone.append(change)
        self._notifier.notify(self.tr("Undone"), self.tr("Taken back: {change}").format(change=change.text))

    async def _run_redo(self, change: MessageChange) -> None:
        if change.redo is not None:
            await change.redo()
        self._add_change(change.text, change.session_id, change.undo, change.redo, self.tr("Redone"))

    # Changes

    async def _show_details(self, message_id: UUID) -> None:
        await run_dialog(MessageDetailsDialog(self._view.window(), await self._sessions.message(message_id)))

    async def edit_message(self, message_id: UUID, text: str) -> None:
        """Store another text of the alternative on display."""
        original = await self._sessions.message(message_id)
        if original.content == text:
            return
        await self._replace_text(original, text)
        self._notify_change(
            self.tr("Message edited"),
            original.session_id,
            partial(self._restore_original, original),
            partial(self._replace_text, original, text),
        )

    async def _replace_text(self, message: Message, text: str) -> None:
        self._messages.replace_message(await self._message_editing.edit(message.id, text))

    async def _restore_original(self, original: Message) -> None:
        self._messages.replace_message(await self._message_editing.undo_edit(original))

    async def _save_rating(self, message_id: UUID, rating: str) -> None:
        await self._feedback.rate_reply(message_id, ReplyRating(rating))
        await self._ratings.load([message_id])
        row = self._messages.row_of(message_id)
        if row is not None:
            stored = self._messages.annotations_of(row).rating
            announce(self._view, format_rating(stored) if stored is not None else self.tr("rating removed"))

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
        move_to_trash = partial(self._replies.delete_message, message.session_id, message.id)
        await move_to_trash()
        text = self.tr("Your message was deleted.") if is_own else self.tr("The message by {name} was deleted.")
        self._notify_change(
            text.format(name=name),
            message.session_id,
            partial(self._restore_message, message),
            move_to_trash,
        )

    async def _restore_message(self, message: Message) -> None:
        for entry in await self._trash.list_items():
            if entry.kind is TrashKind.MESSAGE and entry.id == str(message.id):
                await self._trash.restore(entry)
