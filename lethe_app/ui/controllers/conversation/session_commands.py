"""Commands on sessions of the sidebar: delete after a confirmation, with Undo, and end now."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject

from lethe_app.ui.core.formatting import format_message_count, truncate_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog

if TYPE_CHECKING:
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier
    from lethe_app.ui.shell.sidebar import Sidebar
    from lethe_app.ui.shell.sidebar_model import SessionRow


MAX_TITLE_LENGTH = 24
"""Maximum number of characters of a title on a button."""


class SessionCommands(QObject):
    """Deletes and ends sessions of the sidebar. In place of one on display that is deleted, the persona's newest other one is
    opened.
    """

    def __init__(
        self,
        sidebar: Sidebar,
        actions: Actions,
        notifier: Notifier,
        sessions: SessionService,
        session_controller: SessionController,
        replies: ReplyController,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(sidebar)
        self._sidebar, self._notifier = sidebar, notifier
        self._sessions, self._session_controller = sessions, session_controller
        self._replies, self._tasks = replies, tasks
        sidebar.delete_requested.connect(lambda guid: tasks.start_task(self._delete_session(UUID(guid)), key="delete"))
        sidebar.end_requested.connect(lambda guid: self._start_end(UUID(guid)))
        actions.connect(
            delete=self._delete_current_session,
            end_session=self._end_current_session,
            export_session=self._export_current_session,
        )

    def _delete_current_session(self) -> None:
        session = self._session_controller.current_session
        if session is not None:
            self._tasks.start_task(self._delete_session(session.guid), key="delete")

    def _end_current_session(self) -> None:
        session = self._session_controller.current_session
        if session is not None:
            self._start_end(session.guid)

    def _start_end(self, guid: UUID) -> None:
        self._tasks.start_task(self._end_session(guid), key=f"end {guid}")

    def _export_current_session(self) -> None:
        session = self._session_controller.current_session
        row = self._sidebar.model.find_session(str(session.guid)) if session is not None else None
        if row is not None and row.is_incognito:
            self._notifier.notify(self.tr("An incognito conversation leaves nothing behind: copy what you want to keep."))
        elif row is not None:
            self._sidebar.export_session_requested.emit(row.guid, row.title)

    async def _find_stored(self, guid: UUID) -> SessionRow | None:
        """Return the row of a session. An incognito one, which is not stored, is closed after a question instead."""
        row = self._sidebar.model.find_session(str(guid))
        if row is not None and row.is_incognito:
            await self._close_incognito(guid, row.persona_id)
            return None
        return row

    async def _delete_session(self, guid: UUID) -> None:
        row = await self._find_stored(guid)
        if row is None:
            return
        question = ConfirmDialog(
            self._sidebar.window(),
            self.tr("Delete this conversation?"),
            self.tr("“{title}” and the facts learnt only there will be moved to the Trash, where you can restore them.").format(
                title=row.title
            ),
            self.tr("Delete “{title}” ({count})").format(
                title=truncate_text(row.title, MAX_TITLE_LENGTH), count=format_message_count(row.message_count)
            ),
        )
        if not await run_dialog(question):
            return
        await self._replies.stop_session_reply(guid)
        await self._sessions.delete(guid)
        current = self._session_controller.current_session
        if current is not None and current.guid == guid:
            await self._session_controller.resume_persona(row.persona_id)
        self._notifier.notify_undoable(
            self.tr("“{title}” was deleted.").format(title=truncate_text(row.title, MAX_TITLE_LENGTH)),
            self._tasks.create_callback(self._restore_session, guid),
        )

    async def _end_session(self, guid: UUID) -> None:
        """Archive a session now, which makes its title, summary and facts, and offer a new one; close an incognito one."""
        row = await self._find_stored(guid)
        if row is None:
            return
        await self._replies.stop_session_reply(guid)
        if not await self._sessions.end(guid):
            self._notifier.notify(self.tr("There is nothing to remember in this conversation yet."))
            return
        text = self.tr("“{title}” has ended; what is worth remembering is kept. Writing in it continues it.")
        title = (await self._sessions.open(guid)).name or row.title  # archiving gives it a title
        self._notifier.notify(
            text.format(title=truncate_text(title, MAX_TITLE_LENGTH)),
            button=self.tr("New conversation"),
            action=lambda: self._session_controller.start_session(row.persona_id),
        )

    async def _close_incognito(self, guid: UUID, persona_id: str) -> None:
        question = ConfirmDialog(
            self._sidebar.window(),
            self.tr("Close the incognito conversation?"),
            self.tr("Its messages are deleted permanently. Nothing of them was stored."),
            self.tr("Close conversation"),
            is_final=True,
        )
        if not await run_dialog(question):
            return
        await self._replies.stop_session_reply(guid)
        await self._sessions.delete(guid)
        current = self._session_controller.current_session
        if current is not None and current.guid == guid:
            await self._session_controller.resume_persona(persona_id)
        self._notifier.notify(self.tr("The incognito conversation is gone."))

    async def _restore_session(self, guid: UUID) -> None:
        await self._sessions.restore(guid)
        await self._session_controller.go_to_session(guid)
