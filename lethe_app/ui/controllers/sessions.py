"""Open, start, rename and delete sessions, and keep the sidebar up to date."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPixmap

from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.scheduling.offload import offload_if_large
from lethe_app.ui.controllers.conversation.drafts import DraftStore
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.formatting import format_message_count
from lethe_app.ui.core.palette import AVATAR
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.shell.sidebar_model import PersonaRow, SessionRow

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.participants import ParticipantsController
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.main_window import MainWindow


class SessionController(QObject):
    """Controller of the sidebar and of the session on display."""

    avatars_changed = Signal()
    """Emitted when personas, and so possibly avatars, have been read again."""
    session_opened = Signal(object)
    """Emitted with the persona whose session is on display now."""

    def __init__(
        self,
        window: MainWindow,
        services: AppServices,
        turns: ReplyController,
        participants: ParticipantsController,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(window)
        self._window, self._services, self._turns, self._tasks = window, services, turns, tasks
        self._participants = participants
        self._sidebar = window.sidebar
        self._personas: dict[str, Persona] = {}
        self._speakers: dict[str, Persona] = {}
        self._current_session: ChatSession | None = None
        self._unsubscribers = [
            services.sessions.changed.add(self._start_session_refresh),
            services.sessions.changed.add(self._start_guest_refresh),
            services.library.changed.add(lambda _nothing: self._start_persona_refresh()),
        ]
        turns.session_started.connect(self._follow_started_session)
        self._drafts = DraftStore(services.paths.window, window.chat.composer)
        self._sidebar.persona_chosen.connect(self.choose_persona)
        self._sidebar.session_chosen.connect(self.choose_session)
        self._sidebar.new_wanted.connect(self.start_session)
        self._sidebar.rename_wanted.connect(lambda guid, title: tasks.start_task(services.sessions.rename(UUID(guid), title)))
        self._sidebar.delete_wanted.connect(lambda guid: tasks.start_task(self._delete_session(guid), key="delete"))
        window.actions_.connect(new=lambda: self.start_session(""))

    def close(self) -> None:
        """Store the drafts and disconnect from the services."""
        self._drafts.close()
        for unsubscribe in self._unsubscribers:
            unsubscribe()

    @property
    def current_session(self) -> ChatSession | None:
        """Return the session on display."""
        return self._current_session

    async def go_to_session(self, guid: UUID) -> None:
        """Open a session and wait until it is on display."""
        await self.show_session(await self._services.sessions.open(guid))

    # User actions

    def choose_persona(self, persona_id: str) -> None:
        """Open the newest session with this persona."""
        self._tasks.start_task(self._resume_persona(persona_id), key="open")

    def choose_session(self, guid: str) -> None:
        """Open a session by its GUID."""
        self._tasks.start_task(self._open_session(guid), key="open")

    def start_session(self, persona_id: str) -> None:
        """Start a new session; with an empty id with the persona of the session on display."""
        chosen_persona_id = persona_id or (
            self._current_session.persona_id if self._current_session else next(iter(self._personas), "")
        )
        if chosen_persona_id:
            self._tasks.start_task(self._open_new_session(chosen_persona_id), key="open")

    async def open_initial_session(self) -> None:
        """Fill the sidebar, open the last session or the first persona's newest one, and report problems of the library."""
        await self.refresh_personas()
        await self._open_last_session()
        for problem in await self._services.library.problems():
            self._window.notifier.report_error(problem)

    async def _open_last_session(self) -> None:
        settings = self._services.preferences.current
        if settings.last_session:
            with suppress(LetheError, ValueError):  # deleted meanwhile: the newest other one takes its place
                await self.show_session(await self._services.sessions.open(UUID(settings.last_session)))
                return
        persona_id = settings.last_persona if settings.last_persona in self._personas else next(iter(self._personas), "")
        if persona_id:
            await self._resume_persona(persona_id)

    async def _resume_persona(self, persona_id: str) -> None:
        await self.show_session(await self._services.sessions.resume(persona_id))

    async def _open_session(self, guid: str) -> None:
        await self.show_session(await self._services.sessions.open(UUID(guid)))

    async def _open_new_session(self, persona_id: str) -> None:
        await self.show_session(await self._services.sessions.start_session(persona_id))

    async def show_session(self, session: ChatSession) -> None:
        """Put `session` on display. One that is on display already is left as it is, at the reader's scroll position."""
        if self._current_session is not None and self._current_session.guid == session.guid:
            self._focus_composer()
            return
        persona = self._personas.get(session.persona_id) or await self._services.library.persona(session.persona_id)
        participants = await self._participants.load_participants(session, persona)
        outline = await self._services.sessions.outline(session.guid)
        self._current_session = session
        self._participants.show_participants(session.guid, participants)
        self._window.chat.composer.switch_session(str(session.guid))
        self._turns.show_session(session, persona, outline)
        self._sidebar.set_open_session(session.persona_id, str(session.guid))
        self._focus_composer()
        self._services.chat.attend(session.guid)
        self.session_opened.emit(persona)
        await self._services.preferences.set(last_persona=session.persona_id, last_session=str(session.guid))

    def _follow_started_session(self, session: ChatSession) -> None:
        """Follow the transcript to a session that the user's message has started and that is on display already."""
        self._current_session = session
        self._participants.follow_to_session(session.guid)
        self._window.chat.composer.switch_session(str(session.guid))
        self._sidebar.set_open_session(session.persona_id, str(session.guid))
        self._tasks.start_task(self._services.preferences.set(last_persona=session.persona_id, last_session=str(session.guid)))

    def _focus_composer(self) -> None:
        """Close the drawer and focus the composer."""
        self._window.panes.close_drawer()
        self._window.focus_composer()

    async def _delete_session(self, guid: str) -> None:
        row = self._sidebar.model.find_session(guid)
        if row is None:
            return
        question = ConfirmDialog(
            self._window,
            self.tr("Delete this conversation?"),
            self.tr("“{title}” and the facts learnt only there will be moved to the Trash, where you can restore them.").format(
                title=row.title
            ),
            self.tr("Delete ‘{title}’ ({count})").format(
                title=shorten_title(row.title), count=format_message_count(row.message_count)
            ),
        )
        if not await run_dialog(question):
            return
        await self._turns.stop_session_reply(UUID(guid))
        await self._services.sessions.delete(UUID(guid))
        if self._current_session is not None and str(self._current_session.guid) == guid:
            await self._resume_persona(row.persona_id)
        self._window.notifier.notify(
            self.tr("“{title}” was deleted.").format(title=shorten_title(row.title)),
            button=self.tr("Undo"),
            action=partial(self._undo_deletion, guid),
        )

    def _undo_deletion(self, guid: str) -> None:
        self._tasks.start_task(self._restore_session(guid))

    async def _restore_session(self, guid: str) -> None:
        await self._services.sessions.restore(UUID(guid))
        await self._open_session(guid)

    # Sidebar

    def _start_session_refresh(self, persona_id: str) -> None:
        self._tasks.start_task(self.refresh_sessions(persona_id), key=f"sessions {persona_id}")

    def _start_persona_refresh(self) -> None:
        self._tasks.start_task(self.refresh_personas(), key="personas")

    async def refresh_personas(self) -> None:
        """Read the personas again, with the sessions of each, and update sidebar, avatars and participants."""
        personas = await self._services.library.personas()
        self._personas = {persona.unique_name: persona for persona in personas}
        user_personas = await self._services.library.user_personas()
        self._speakers = {persona.unique_name: persona for persona in [*personas, *user_personas]}
        self.avatars_changed.emit()
        self._sidebar.set_personas([self.build_persona_row(persona) for persona in personas])
        if self._current_session is not None:
            await self._show_participants(self._current_session)  # who may have been written anew
        for persona in personas:
            await self.refresh_sessions(persona.unique_name)

    def _start_guest_refresh(self, persona_id: str) -> None:
        if self._current_session is not None and self._current_session.persona_id == persona_id:
            self._tasks.start_task(self._refresh_guests(self._current_session), key="guests")

    async def _refresh_guests(self, old_session: ChatSession) -> None:
        """Read the session on display again and show its participants if they have changed."""
        try:
            session = await self._services.sessions.open(old_session.guid)
        except LetheError:
            return  # it was deleted, and another one takes its place in a moment
        if session.guests != old_session.guests and self._current_session is old_session:
            self._current_session = session
            await self._show_participants(session)
            if not self._turns.is_replying:  # the prompt begins with other words now, and may be read before the user writes
                self._services.chat.attend(session.guid)

    async def _show_participants(self, session: ChatSession) -> None:
        """Show the current names of all participants of `session`, if it is still on display."""
        host = self._personas.get(session.persona_id)
        participants = await self._participants.load_participants(session, host) if host is not None else []
        if host is not None and self._current_session is session:
            self._participants.show_participants(session.guid, participants)
            self._turns.update_persona(host)

    async def refresh_sessions(self, persona_id: str) -> None:
        """Read the sessions of a persona again and show them in the sidebar."""
        summaries = await self._services.sessions.list(persona_id)
        ended = await self._services.session_timeout.ended(persona_id)
        # In a thread if there are many sessions, so that the window stays responsive.
        rows = await offload_if_large(
            len(summaries), lambda: [self._build_session_row(summary, ended) for summary in summaries]
        )
        self._sidebar.set_sessions(persona_id, rows)

    def render_speaker_avatar(self, speaker: str) -> QPixmap | None:
        """Return the avatar of a speaker; None if the persona has no picture."""
        persona = self._speakers.get(speaker)
        avatar_path = self._services.library.avatar(persona) if persona is not None else None
        if persona is None or avatar_path is None:
            return None
        return render_avatar(
            avatar_path, speaker, persona.name, AVATAR, self._window.theme.palette, self._window.devicePixelRatioF()
        )

    def build_persona_row(self, persona: Persona) -> PersonaRow:
        """Return the sidebar row of a persona."""
        return PersonaRow(persona.unique_name, persona.name, persona.tagline, self._services.library.avatar(persona))

    def _build_session_row(self, summary: SessionSummary, ended: UUID | None) -> SessionRow:
        title = (
            summary.title.strip()
            or strip_markdown(summary.first_words)
            or strip_markdown(summary.preview)
            or self.tr("New conversation")
        )
        guests = tuple(self._speakers[guest].name for guest in summary.guests if guest in self._speakers)
        return SessionRow(
            str(summary.guid),
            summary.persona_id,
            title,
            summary.last_activity,
            summary.messages,
            guests=guests,
            is_ended=summary.guid == ended,
        )


def strip_markdown(preview: str) -> str:
    """Return the beginning of a message as one line, without Markdown marks of actions and headings."""
    return " ".join(preview.replace("*", "").replace("#", "").split()).strip('“”"_> ')


def shorten_title(title: str, max_length: int = 24) -> str:
    """Return a title of at most `max_length` characters, for a button."""
    return title if len(title) <= max_length else f"{title[: max_length - 1].rstrip()}…"
