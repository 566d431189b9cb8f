"""Participants of the session on display, and which of them the user wants to answer next."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject, Signal

from lethe_app.domain.chat import ChatSession
from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError
from lethe_app.ui.core.formatting import joined, one_of
from lethe_app.ui.transcript.avatars import ANYBODY

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.shell.main_window import MainWindow


class ParticipantsController(QObject):
    """Shows the participants' names in the window. The chosen speaker is kept per session until the window is closed."""

    changed = Signal()
    """Emitted when the participants or the chosen speaker have changed."""

    def __init__(self, window: MainWindow, services: AppServices) -> None:
        super().__init__(window)
        self._window, self._group = window, services.group
        self.people: list[Persona] = []
        """The persona that owns the session, then the guests."""
        self._shown: UUID | None = None
        self._choices: dict[UUID, str] = {}

    async def participants_of(self, session: ChatSession, host: Persona) -> list[Persona]:
        """Return all participants of a session of `host`; only `host` if the persona of a guest cannot be read."""
        if session.guests:
            with suppress(FileError):  # hers cannot be read any more; she is told of elsewhere, and the conversation opens
                return await self._group.members(session.guid)
        return [host]

    def show(self, session_id: UUID, people: Sequence[Persona]) -> None:
        """Set the session on display and its participants."""
        self._shown, self.people = session_id, list(people)
        self._window.set_persona(self.names, "" if self.is_group else people[0].tagline)
        self._tell()

    def go_along(self, session_id: UUID) -> None:
        """Take over participants and chosen speaker for the session that the user's message has started."""
        if self._shown in self._choices:
            self._choices[session_id] = self._choices[self._shown]
        self._shown = session_id

    def choose(self, unique_name: str) -> None:
        """Set who answers from now on; an empty name leaves it to the group's turn order."""
        if self._shown is not None:
            self._choices[self._shown] = unique_name
            self._tell()

    @property
    def is_group(self) -> bool:
        return len(self.people) > 1

    @property
    def names(self) -> str:
        """Return the names of all participants: “Mira, Edmund and Wren”."""
        return joined([one.name for one in self.people])

    @property
    def chosen(self) -> Persona | None:
        """Return the chosen speaker; None outside of groups, or if nobody is chosen or the chosen one has left."""
        wanted = self._choices.get(self._shown, "") if self._shown is not None and self.is_group else ""
        return next((one for one in self.people if one.unique_name == wanted), None)

    @property
    def speaker(self) -> str:
        """Return the unique name of the chosen speaker; empty if there is none."""
        return self.chosen.unique_name if self.chosen is not None else ""

    def awaited(self, speaker: str) -> tuple[str, str]:
        """Return unique name and display name under which a reply is awaited; `ANYBODY` if it is open who of several speaks."""
        wanted = [one for one in self.people if one.unique_name == speaker] or self.people
        if len(wanted) == 1:
            return wanted[0].unique_name, wanted[0].name
        return ANYBODY, one_of([one.name for one in wanted])

    def _tell(self) -> None:
        if self.is_group:
            self._window.chat.composer.set_speaker(self.chosen.name if self.chosen is not None else "")
        self.changed.emit()
