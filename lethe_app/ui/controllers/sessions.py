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
from lethe_app.services.scheduling.offload import apart
from lethe_app.ui.controllers.conversation.drafts import Drafts
from lethe_app.ui.core.avatars import avatar
from lethe_app.ui.core.formatting import messages_in_words
from lethe_app.ui.core.palette import AVATAR
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.shell.sidebar_model import PersonaRow, SessionRow

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.conversation.replies import Turns
    from lethe_app.ui.controllers.participants import ParticipantsController
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow


class Conversations(QObject):
    """Controller of the sidebar and of the session on display."""

    faces_changed = Signal()
    """Emitted when personas, and so possibly avatars, have been read again."""
    opened = Signal(object)
    """Emitted with the persona whose session is on display now."""

    def __init__(
        self, window: MainWindow, services: AppServices, turns: Turns, company: ParticipantsController, bridge: Bridge
    ) -> None:
        super().__init__(window)
        self._window, self._services, self._turns, self._bridge = window, services, turns, bridge
        self._company = company
        self._sidebar = window.sidebar
        self._personas: dict[str, Persona] = {}
        self._faces: dict[str, Persona] = {}
        self._open: ChatSession | None = None
        self._forget = [
            services.sessions.changed.add(self._refresh),
            services.sessions.changed.add(self._look_who_is_there),
            services.library.changed.add(lambda _nothing: self._refresh_all()),
        ]
        turns.moved.connect(self._follow)
        self._drafts = Drafts(services.paths.window, window.chat.composer)
        self._sidebar.persona_chosen.connect(self.choose_persona)
        self._sidebar.session_chosen.connect(self.choose_session)
        self._sidebar.new_wanted.connect(self.start_session)
        self._sidebar.rename_wanted.connect(lambda guid, title: bridge.spawn(services.sessions.rename(UUID(guid), title)))
        self._sidebar.delete_wanted.connect(lambda guid: bridge.spawn(self._delete(guid), lane="delete"))
        window.actions_.connect(new=lambda: self.start_session(""))

    def close(self) -> None:
        """Store the drafts and disconnect from the services."""
        self._drafts.close()
        for forget in self._forget:
            forget()

    @property
    def current(self) -> ChatSession | None:
        """Return the session on display."""
        return self._open

    async def go_to(self, guid: UUID) -> None:
        """Open a session and wait until it is on display."""
        await self.show(await self._services.sessions.open(guid))

    # User actions

    def choose_persona(self, persona_id: str) -> None:
        """Open the newest session with this persona."""
        self._bridge.spawn(self._resume(persona_id), lane="open")

    def choose_session(self, guid: str) -> None:
        """Open a session by its GUID."""
        self._bridge.spawn(self._open_session(guid), lane="open")

    def start_session(self, persona_id: str) -> None:
        """Start a new session; with an empty id with the persona of the session on display."""
        chosen = persona_id or (self._open.persona_id if self._open else next(iter(self._personas), ""))
        if chosen:
            self._bridge.spawn(self._begin(chosen), lane="open")

    async def start(self) -> None:
        """Fill the sidebar, open the last session or the first persona's newest one, and report problems of the library."""
        await self.refresh_personas()
        await self._open_last()
        for problem in await self._services.library.problems():
            self._window.notifier.report(problem)

    async def _open_last(self) -> None:
        settings = self._services.preferences.current
        if settings.last_session:
            with suppress(LetheError, ValueError):  # deleted meanwhile: the newest other one takes its place
                await self.show(await self._services.sessions.open(UUID(settings.last_session)))
                return
        persona_id = settings.last_persona if settings.last_persona in self._personas else next(iter(self._personas), "")
        if persona_id:
            await self._resume(persona_id)

    async def _resume(self, persona_id: str) -> None:
        await self.show(await self._services.sessions.resume(persona_id))

    async def _open_session(self, guid: str) -> None:
        await self.show(await self._services.sessions.open(UUID(guid)))

    async def _begin(self, persona_id: str) -> None:
        await self.show(await self._services.sessions.start_session(persona_id))

    async def show(self, session: ChatSession) -> None:
        """Put `session` on display. One that is on display already is left as it is, at the reader's scroll position."""
        if self._open is not None and self._open.guid == session.guid:
            self._give_way()
            return
        persona = self._personas.get(session.persona_id) or await self._services.library.persona(session.persona_id)
        people = await self._company.participants_of(session, persona)
        outline = await self._services.sessions.outline(session.guid)
        self._open = session
        self._company.show(session.guid, people)
        self._window.chat.composer.switch_to(str(session.guid))
        self._turns.show(session, persona, outline)
        self._sidebar.set_open(session.persona_id, str(session.guid))
        self._give_way()
        self._services.chat.attend(session.guid)
        self.opened.emit(persona)
        await self._services.preferences.set(last_persona=session.persona_id, last_session=str(session.guid))

    def _follow(self, session: ChatSession) -> None:
        """Follow the transcript to a session that the user's message has started and that is on display already."""
        self._open = session
        self._company.go_along(session.guid)
        self._window.chat.composer.switch_to(str(session.guid))
        self._sidebar.set_open(session.persona_id, str(session.guid))
        self._bridge.spawn(self._services.preferences.set(last_persona=session.persona_id, last_session=str(session.guid)))

    def _give_way(self) -> None:
        """Close the drawer and focus the composer."""
        self._window.panes.close_drawer()
        self._window.go_to_field()

    async def _delete(self, guid: str) -> None:
        row = self._sidebar.model.session(guid)
        if row is None:
            return
        question = ConfirmDialog(
            self._window,
            self.tr("Delete this conversation?"),
            self.tr("“{title}” and the facts learnt only there will be moved to the Trash, where you can restore them.").format(
                title=row.title
            ),
            self.tr("Delete ‘{title}’ ({count})").format(title=shortened(row.title), count=messages_in_words(row.messages)),
        )
        if not await answered(question):
            return
        await self._turns.stop_in(UUID(guid))
        await self._services.sessions.delete(UUID(guid))
        if self._open is not None and str(self._open.guid) == guid:
            await self._resume(row.persona_id)
        self._window.notifier.tell(
            self.tr("“{title}” was deleted.").format(title=shortened(row.title)),
            button=self.tr("Undo"),
            action=partial(self._take_back, guid),
        )

    def _take_back(self, guid: str) -> None:
        self._bridge.spawn(self._restore(guid))

    async def _restore(self, guid: str) -> None:
        await self._services.sessions.restore(UUID(guid))
        await self._open_session(guid)

    # Sidebar

    def _refresh(self, persona_id: str) -> None:
        self._bridge.spawn(self.refresh_sessions(persona_id), lane=f"sessions {persona_id}")

    def _refresh_all(self) -> None:
        self._bridge.spawn(self.refresh_personas(), lane="personas")

    async def refresh_personas(self) -> None:
        """Read the personas again, with the sessions of each, and update sidebar, avatars and participants."""
        personas = await self._services.library.personas()
        self._personas = {persona.unique_name: persona for persona in personas}
        selves = await self._services.library.user_personas()
        self._faces = {persona.unique_name: persona for persona in [*personas, *selves]}
        self.faces_changed.emit()
        self._sidebar.set_personas([self.row_of(persona) for persona in personas])
        if self._open is not None:
            await self._meet(self._open)  # who may have been written anew
        for persona in personas:
            await self.refresh_sessions(persona.unique_name)

    def _look_who_is_there(self, persona_id: str) -> None:
        if self._open is not None and self._open.persona_id == persona_id:
            self._bridge.spawn(self._follow_guests(self._open), lane="guests")

    async def _follow_guests(self, before: ChatSession) -> None:
        """Read the session on display again and show its participants if they have changed."""
        try:
            session = await self._services.sessions.open(before.guid)
        except LetheError:
            return  # it was deleted, and another one takes its place in a moment
        if session.guests != before.guests and self._open is before:
            self._open = session
            await self._meet(session)
            if not self._turns.is_replying:  # the prompt begins with other words now, and may be read before the user writes
                self._services.chat.attend(session.guid)

    async def _meet(self, session: ChatSession) -> None:
        """Show the current names of all participants of `session`, if it is still on display."""
        host = self._personas.get(session.persona_id)
        people = await self._company.participants_of(session, host) if host is not None else []
        if host is not None and self._open is session:
            self._company.show(session.guid, people)
            self._turns.meet(host)

    async def refresh_sessions(self, persona_id: str) -> None:
        """Read the sessions of a persona again and show them in the sidebar."""
        summaries = await self._services.sessions.list(persona_id)
        ended = await self._services.timeout.ended(persona_id)
        # In a thread if there are many sessions, so that the window stays responsive.
        rows = await apart(len(summaries), lambda: [self._session_row(summary, ended) for summary in summaries])
        self._sidebar.set_sessions(persona_id, rows)

    def face(self, speaker: str) -> QPixmap | None:
        """Return the avatar of a speaker; None if the persona has no picture."""
        persona = self._faces.get(speaker)
        picture = self._services.library.avatar(persona) if persona is not None else None
        if persona is None or picture is None:
            return None
        return avatar(picture, speaker, persona.name, AVATAR, self._window.theme.palette, self._window.devicePixelRatioF())

    def row_of(self, persona: Persona) -> PersonaRow:
        """Return the sidebar row of a persona."""
        return PersonaRow(persona.unique_name, persona.name, persona.tagline, self._services.library.avatar(persona))

    def _session_row(self, summary: SessionSummary, ended: UUID | None) -> SessionRow:
        title = summary.title.strip() or bare(summary.first_words) or bare(summary.preview) or self.tr("New conversation")
        guests = tuple(self._faces[guest].name for guest in summary.guests if guest in self._faces)
        return SessionRow(
            str(summary.guid),
            summary.persona_id,
            title,
            summary.last_activity,
            summary.messages,
            guests=guests,
            is_ended=summary.guid == ended,
        )


def bare(preview: str) -> str:
    """Return the beginning of a message as one line, without Markdown marks of actions and headings."""
    return " ".join(preview.replace("*", "").replace("#", "").split()).strip('“”"_> ')


def shortened(title: str, most: int = 24) -> str:
    """Return a title of at most `most` characters, for a button."""
    return title if len(title) <= most else f"{title[: most - 1].rstrip()}…"
