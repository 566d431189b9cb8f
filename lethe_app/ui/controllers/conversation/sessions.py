"""Open, start, end, delete and export sessions, and keep the one on display up to date."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from lethe_app.errors import LetheError
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce, is_screen_reader_active
from lethe_app.ui.core.file_transfers import open_folder
from lethe_app.ui.core.formatting import format_message_count, suggest_file_name, truncate_text
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.dialogs.files import ask_where_to_save
from lethe_app.ui.transcript.markdown.blocks import strip_formatting

if TYPE_CHECKING:
    from collections.abc import Callable

    from lethe_app.domain.chat import ChatSession
    from lethe_app.services.personas.card_export import CardExport
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.sessions.editing import SessionEditing, SessionsChanged
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.shell.main_window import MainWindow
    from lethe_app.ui.shell.sidebar_model import SessionRow

MAX_TITLE_LENGTH = 24
"""Maximum number of characters of a title on a button."""


class SessionController(Controller):
    """Controller of the session on display. Its replies are stopped before it is changed elsewhere; then it is read again, or
    the session is shown that replaces it.
    """

    def __init__(
        self,
        window: MainWindow,
        directory: PersonaDirectory,
        sessions: SessionService,
        preferences: Preferences,
        session_editing: SessionEditing,
        shown_session: ShownSession,
        replies: ReplyController,
    ) -> None:
        super().__init__(window)
        self._chat, self._directory, self._sessions, self._preferences = window.chat, directory, sessions, preferences
        self._replies = replies
        self.shown = shown_session
        """Session on display."""
        self._commands: dict[str, Callable[[str], object]] = {"new": self.start_session, "incognito": self.start_incognito}
        """Commands of the menus in the sidebar by name, called with the id of the persona or session."""
        session_editing.add_reply_stopper(replies.stop_session_reply)
        self._unsubscribers += [
            sessions.changed.add(self._on_sessions_changed),
            session_editing.sessions_changed.add(self._tasks.create_slot(self._update_shown_session)),
        ]
        shown_session.session_changed.connect(self._store_last_session)
        window.sidebar.command_chosen.connect(lambda name, row_id: self._commands[name](row_id))

    def add_persona_commands(self, **commands: Callable[[str], object]) -> None:
        """Connect commands, called with the id of a persona, with its menu in the sidebar and with the actions of the window,
        which concern the persona on display.
        """
        self._add_commands(lambda session: session.persona_id, commands)

    def add_session_commands(self, **commands: Callable[[str], object]) -> None:
        """Connect commands, called with the GUID of a session, in the same way."""
        self._add_commands(lambda session: str(session.guid), commands)

    def _add_commands(self, get_id: Callable[[ChatSession], str], commands: dict[str, Callable[[str], object]]) -> None:
        def run_on_current(command: Callable[[str], object]) -> None:
            if self.shown.session is not None:
                command(get_id(self.shown.session))
            else:
                self._notifier.notify(self.tr("Open a conversation first."))

        self._commands |= commands
        self._actions.connect(**{name: partial(run_on_current, command) for name, command in commands.items()})

    async def go_to_session(self, guid: UUID) -> None:
        """Open a session and wait until it is on display."""
        await self.show_session(await self._sessions.open(guid))

    # User actions

    def choose_persona(self, persona_id: str) -> None:
        """Open the newest session with this persona."""
        self._tasks.start_task(self.resume_persona(persona_id), key="open")

    def choose_session(self, guid: str) -> None:
        """Open a session by its GUID."""
        self._tasks.start_task(self.go_to_session(UUID(guid)), key="open")

    def start_incognito(self, persona_id: str) -> None:
        """Start an incognito session; with an empty id with the persona of the session on display."""
        self.start_session(persona_id, is_incognito=True)

    def start_session(self, persona_id: str, *, is_incognito: bool = False) -> None:
        """Start a new session; with an empty id with the persona of the session on display."""
        shown = self.shown.session
        chosen_persona_id = persona_id or (shown.persona_id if shown else next(iter(self._directory.personas), ""))
        if chosen_persona_id:
            self._tasks.start_task(self._open_new_session(chosen_persona_id, is_incognito=is_incognito), key="open")

    async def open_last_session(self) -> None:
        """Open the session of the last time, or else the newest one of the last or the first persona."""
        settings = self._preferences.current
        if settings.last_session:
            with suppress(LetheError, ValueError):  # deleted meanwhile; the newest other one is opened instead
                await self.go_to_session(UUID(settings.last_session))
                return
        personas = self._directory.personas
        persona_id = settings.last_persona if settings.last_persona in personas else next(iter(personas), "")
        if persona_id:
            await self.resume_persona(persona_id)

    async def resume_persona(self, persona_id: str) -> None:
        """Open the newest session of a persona and wait until it is on display."""
        await self.show_session(await self._sessions.resume(persona_id))

    async def _open_new_session(self, persona_id: str, *, is_incognito: bool = False) -> None:
        """Stop the reply on display, which the new session's first reply would have to wait for, and begin a new session."""
        if self._replies.is_busy and self.shown.session is not None:
            await self._replies.stop_session_reply(self.shown.session.guid)
            self._notifier.notify(self.tr("The reply in the previous conversation was stopped; its text so far is kept."))
        start = self._sessions.start_incognito if is_incognito else self._sessions.start_session
        await self.show_session(await start(persona_id))

    async def show_session(self, session: ChatSession) -> None:
        """Put `session` on display. One that is on display already is left as it is, at the reader's scroll position."""
        if self.shown.session_id == session.guid:
            self._window.focus_composer()
            return
        persona = await self._directory.find_persona(session.persona_id)
        participants = await self.shown.load_participants(session, persona)
        outline = await self._sessions.outline(session.guid)
        self.shown.show_session(session, participants)
        self._replies.show_messages(session, outline)
        self.shown.session_changed.emit(session, None)
        self._window.focus_composer()
        self._replies.read_ahead()
        if is_screen_reader_active():
            await self._announce_session(session)

    async def _announce_session(self, session: ChatSession) -> None:
        """Announce the newest message of the session that was just opened, and that it is incognito."""
        newest = await self._replies.load_newest_message()
        if newest is not None:
            text = f"{newest.speaker_name}: {strip_formatting(newest.content)}"
            incognito = f"{self._chat.header.incognito_label.text()}. " if session.is_incognito else ""
            announce(self._chat, incognito + text)

    def _store_last_session(self, session: ChatSession) -> None:
        if not session.is_incognito:
            self._tasks.start_task(self._preferences.set(last_persona=session.persona_id, last_session=str(session.guid)))

    # Changes

    async def _update_shown_session(self, change: SessionsChanged) -> None:
        """Show what was changed of the session on display, or another one if it was deleted."""
        shown_id = self.shown.session_id
        try:
            if shown_id in change.deleted and change.sessions:
                await self.go_to_session(change.sessions[0])
            elif shown_id in change.deleted:
                await self.resume_persona(change.persona_id)
            elif shown_id is not None and shown_id in change.sessions:
                await self._replies.reload_messages(shown_id, change.edited_messages)
        except LetheError:
            await self.resume_persona(change.persona_id)

    async def refresh_participants(self) -> None:
        """Show the current names of the participants of the session on display."""
        if self.shown.session is not None:
            await self._show_participants(self.shown.session)

    def _on_sessions_changed(self, persona_id: str) -> None:
        # Only now, because a change of another persona must not cancel a refresh under way.
        if self.shown.session is not None and self.shown.session.persona_id == persona_id:
            self._tasks.start_task(self._refresh_guests(self.shown.session), key="guests")

    async def _refresh_guests(self, old_session: ChatSession) -> None:
        """Read the session on display again, and show its participants if they have changed."""
        try:
            session = await self._sessions.open(old_session.guid)
        except LetheError:
            return  # deleted meanwhile; another one is about to be shown
        if session.guests != old_session.guests and self.shown.session is old_session:
            self.shown.session = session
            await self._show_participants(session)
            if not self._replies.is_replying:  # the stable prefix of the prompt has changed
                self._replies.read_ahead()

    async def _show_participants(self, session: ChatSession) -> None:
        """Show the current names of all participants of `session`, if it is still on display."""
        host = self._directory.personas.get(session.persona_id)
        participants = await self.shown.load_participants(session, host) if host is not None else []
        if participants and self.shown.session is session:
            self.shown.show_session(session, participants)
            self._replies.update_names()


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
        self._sidebar, self._status = window.sidebar, window.chat.status
        self._sessions, self._session_controller, self._replies = sessions, session_controller, replies
        self._get_card_export = get_card_export
        session_controller.add_session_commands(
            delete=lambda guid: self._tasks.start_task(self._delete_session(UUID(guid)), key=f"delete {guid}"),
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
        self._status.show_side_activity(self.tr("Ending the conversation…"))
        try:
            has_ended = await self._sessions.end(guid)
        finally:
            self._status.show_side_activity("")
        if not has_ended:
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
