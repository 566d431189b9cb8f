"""Commands of the sidebar and the header on sessions, and the end of a session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from lethe_app.errors import LetheError
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import format_message_count, format_minutes, suggest_file_name, truncate_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.files import ask_where_to_save
from lethe_app.ui.transcript.painting.link_line import LinkLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.services.personas.card_export import CardExport
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.scheduling.loop import Idleness
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.services.sessions.timeout import SessionTimeout
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.shell.sidebar_model import SessionRow
    from lethe_app.ui.transcript.chat_view import ChatView

MAX_TITLE_LENGTH = 24
"""Maximum number of characters of a title on a button."""


class SessionCommands(Controller):
    """Deletes, ends and exports sessions of the sidebar. In place of one on display that is deleted, the persona's newest other
    one is opened.
    """

    def __init__(
        self,
        window: MainWindow,
        sessions: SessionService,
        session_controller: SessionController,
        replies: ReplyController,
        get_card_export: Callable[[], CardExport],
    ) -> None:
        """Connect the commands. `get_card_export` is called when it is needed, because the service takes long to load."""
        super().__init__(window)
        self._sidebar = window.sidebar
        self._sessions, self._session_controller, self._replies = sessions, session_controller, replies
        self._get_card_export = get_card_export
        session_controller.add_session_commands(
            delete=lambda guid: self._tasks.start_task(self._delete_session(UUID(guid)), key="delete"),
            end_session=lambda guid: self._tasks.start_task(self._end_session(UUID(guid)), key=f"end {guid}"),
            export_session=lambda guid: self._tasks.start_task(self._export_session(guid), key="export session"),
        )

    async def _export_session(self, guid: str) -> None:
        """Ask for the file, then write the conversation."""
        row = self._sidebar.model.find_session(guid)
        if row is None:
            return
        if row.is_incognito:
            self._notifier.notify(self.tr("An incognito conversation leaves nothing behind: copy what you want to keep."))
            return
        file_name = f"{suggest_file_name(row.title, self.tr('Conversation'))}.md"
        filters = (self.tr("Markdown (*.md)"), self.tr("Chat of SillyTavern (*.jsonl)"))
        chosen = await ask_where_to_save(self._window, self.tr("Export conversation"), file_name, *filters)
        if chosen is None:
            return
        file = await self._get_card_export().export_conversation(UUID(guid), chosen[0])
        self._notifier.notify(
            self.tr("“{title}” was exported to “{file}”.").format(title=truncate_text(row.title), file=file.name),
            button=self.tr("Show in folder"),
            action=partial(open_folder, file.parent),
        )

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
            self._window,
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
        await self._delete_now(guid, row.persona_id)
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
            self._window,
            self.tr("Close the incognito conversation?"),
            self.tr("Its messages are deleted permanently. Nothing of them was stored."),
            self.tr("Close conversation"),
            is_final=True,
        )
        if not await run_dialog(question):
            return
        await self._delete_now(guid, persona_id)
        self._notifier.notify(self.tr("The incognito conversation is gone."))

    async def _delete_now(self, guid: UUID, persona_id: str) -> None:
        """Delete a session; in place of the one on display another one of the persona is opened."""
        await self._replies.stop_session_reply(guid)
        await self._sessions.delete(guid)
        if self._session_controller.shown.session_id == guid:
            await self._session_controller.resume_persona(persona_id)

    async def _restore_session(self, guid: UUID) -> None:
        await self._sessions.restore(guid)
        await self._session_controller.go_to_session(guid)


class SessionEnd(Controller):
    """Follows the session on display. Sessions do not time out while a message is being edited."""

    def __init__(
        self,
        window: MainWindow,
        view: ChatView,
        sessions: SessionService,
        session_timeout: SessionTimeout,
        preferences: Preferences,
        idleness: Idleness,
        shown_session: ShownSession,
    ) -> None:
        super().__init__(window)
        self._chat, self._view = window.chat, view
        self._sessions, self._session_timeout, self._preferences = sessions, session_timeout, preferences
        self._shown = shown_session
        self.ended_line = LinkLine(view.viewport())
        self.ended_line.linkActivated.connect(lambda _address: self._continue_session())
        self.follow(self._refresh_state, sessions.changed, preferences.changed)
        self.follow(self._report_input, idleness.user_active)
        shown_session.session_changed.connect(lambda *_sessions: self._on_session_changed())
        view.editor_toggled.connect(self._report_editing)

    def close(self) -> None:
        """Disconnect from the services."""
        super().close()
        self._session_timeout.set_edited_session(None)

    def _on_session_changed(self) -> None:
        self._report_editing()
        self._update_widgets(has_ended=False)
        self._refresh_state()

    def _refresh_state(self) -> None:
        if self._shown.session_id is not None:
            self._tasks.start_task(self._check_ended(self._shown.session_id), key="session end")

    async def _check_ended(self, session_id: UUID) -> None:
        try:
            has_ended = await self._sessions.has_ended(session_id)
        except LetheError:
            return  # deleted meanwhile; another one is about to be shown
        if session_id != self._shown.session_id:
            return
        if has_ended and not self.ended_line.isVisibleTo(self._view):
            minutes = self._preferences.current.rotation_minutes
            text = self.tr("This conversation ended after {time} of inactivity").format(time=format_minutes(minutes))
            self.ended_line.show_pieces((text, ""), (" · ", ""), (self.tr("Continue"), "continue"))
            announce(self.ended_line, self.ended_line.plain_text)
        self._update_widgets(has_ended=has_ended)

    def _update_widgets(self, *, has_ended: bool) -> None:
        self._view.set_footer(self.ended_line if has_ended else None)
        self._chat.composer.set_ended(is_ended=has_ended)

    def _report_input(self) -> None:
        if self._shown.session_id is not None and not self._chat.is_covered:
            self._session_timeout.note_input(self._shown.session_id)

    def _report_editing(self) -> None:
        self._session_timeout.set_edited_session(self._shown.session_id if self._view.editor is not None else None)

    def _continue_session(self) -> None:
        if self._shown.session_id is not None:
            self._chat.focus_composer()
            self._tasks.start_task(self._sessions.reopen(self._shown.session_id))
