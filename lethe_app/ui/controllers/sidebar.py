"""Fill the sidebar with the personas and their sessions, and pass on what the user chooses in it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import Signal

from lethe_app.services.scheduling.offload import offload_if_large
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.formatting import format_session_title
from lethe_app.ui.shell.sidebar_model import SessionRow

if TYPE_CHECKING:
    from lethe_app.domain.chat import SessionSummary
    from lethe_app.services.library import Library
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.services.sessions.timeout import SessionTimeout
    from lethe_app.ui.controllers.conversation.sessions import SessionController
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.shell.main_window import MainWindow


class SidebarController(Controller):
    """Controller of the sidebar's list. It reads the personas again when the library changes, and the sessions of a persona
    when one of them changes.
    """

    avatars_changed = Signal()
    """Emitted when personas, and so possibly avatars, have been read again."""

    def __init__(
        self,
        window: MainWindow,
        directory: PersonaDirectory,
        library: Library,
        sessions: SessionService,
        session_timeout: SessionTimeout,
        session_controller: SessionController,
    ) -> None:
        super().__init__(window)
        sidebar = window.sidebar
        self._sidebar, self._directory, self._sessions = sidebar, directory, sessions
        self._session_timeout, self._session_controller = session_timeout, session_controller
        self._unsubscribers.append(
            sessions.changed.add(
                lambda persona_id: self._tasks.start_task(self.refresh_sessions(persona_id), f"sessions {persona_id}")
            )
        )
        self.follow(self._tasks.create_callback(self.refresh_personas, key="personas"), library.changed)
        session_controller.shown.session_changed.connect(
            lambda session, _replaced_id: sidebar.set_open_session(session.persona_id, str(session.guid))
        )
        sidebar.persona_chosen.connect(session_controller.choose_persona)
        sidebar.session_chosen.connect(session_controller.choose_session)
        sidebar.rename_requested.connect(lambda guid, title: self._tasks.start_task(sessions.rename(UUID(guid), title)))

    async def refresh_personas(self) -> None:
        """Read the personas again, with the sessions of each, and update sidebar, avatars and participants."""
        await self._directory.read_personas()
        personas = list(self._directory.personas.values())
        self.avatars_changed.emit()
        self._sidebar.model.set_personas([self._directory.build_persona_row(persona) for persona in personas])
        await self._session_controller.refresh_participants()  # their names may have changed
        for persona in personas:
            await self.refresh_sessions(persona.unique_name)

    async def refresh_sessions(self, persona_id: str) -> None:
        """Read the sessions of a persona again and show them."""
        summaries = await self._sessions.list(persona_id, with_incognito=True)
        ended = await self._session_timeout.find_ended_session(persona_id)
        # In a thread if there are many sessions, so that the window stays responsive.
        rows = await offload_if_large(
            len(summaries), lambda: [self._build_session_row(summary, ended) for summary in summaries]
        )
        self._sidebar.model.set_sessions(persona_id, rows)

    def _build_session_row(self, summary: SessionSummary, ended: UUID | None) -> SessionRow:
        placeholder = self.tr("Incognito conversation") if summary.is_incognito else ""
        title = format_session_title(summary.title or summary.first_words or summary.preview or placeholder)
        return SessionRow(
            str(summary.guid),
            summary.persona_id,
            title,
            summary.last_activity,
            summary.messages,
            guests=self._directory.find_names(summary.guests),
            is_ended=summary.guid == ended,
            is_incognito=summary.is_incognito,
            can_end=not (summary.archived or summary.is_incognito) and bool(summary.first_words),
        )
