"""Session on display, its participants, and who of them speaks next."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from lethe_app.errors import FileError
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.avatars import UNDECIDED_SPEAKER
from lethe_app.ui.core.formatting import join_with_and, join_with_or

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from lethe_app.domain.chat import ChatSession
    from lethe_app.domain.persona import Persona
    from lethe_app.services.chat.group import GroupService
    from lethe_app.ui.shell.main_window import MainWindow


class ShownSession(Controller):
    """Session on display, whose participants are named in the window. The chosen speaker is kept per session until the window
    is closed.
    """

    session_changed = Signal(object, object)
    """Emitted with another session when its messages are on display, and with the id of the one that it goes on from if the
    user's message has started it.
    """
    changed = Signal()
    """Emitted when the participants or the chosen speaker have changed."""

    def __init__(self, window: MainWindow, group: GroupService) -> None:
        super().__init__(window)
        self._group = group
        self.session: ChatSession | None = None
        """The session on display."""
        self.participants: list[Persona] = []
        """The persona that owns the session, then the guests."""
        self._chosen_speakers: dict[UUID, str] = {}

    @property
    def session_id(self) -> UUID | None:
        """Return the id of the session on display."""
        return self.session.guid if self.session is not None else None

    async def load_participants(self, session: ChatSession, host: Persona) -> list[Persona]:
        """Return all participants of a session of `host`; only `host` if the persona of a guest cannot be read."""
        if session.guests:
            with suppress(FileError):  # the file of a guest cannot be read, which is reported with the library
                return await self._group.members(session.guid)
        return [host]

    def show_session(self, session: ChatSession, participants: Sequence[Persona]) -> None:
        """Set the session on display, or what has changed of it, and its participants."""
        if session.guid != self.session_id:
            self._window.chat.composer.switch_session(str(session.guid), is_private=session.is_incognito)
            self._window.chat.header.incognito_label.setVisible(session.is_incognito)
        self.session, self.participants = session, list(participants)
        self._window.set_persona(self.joined_names, "" if self.is_group else participants[0].tagline)
        self._notify_changed()

    def continue_in_session(self, session: ChatSession) -> None:
        """Set the session that the user's message has started, with the same participants and chosen speaker."""
        if self.session_id in self._chosen_speakers:
            self._chosen_speakers[session.guid] = self._chosen_speakers[self.session_id]
        self.show_session(session, self.participants)

    def choose_speaker(self, unique_name: str) -> None:
        """Set who answers from now on; an empty name leaves it to the group's turn order."""
        if self.session is not None:
            self._chosen_speakers[self.session.guid] = unique_name
            self._notify_changed()

    @property
    def is_group(self) -> bool:
        return len(self.participants) > 1

    @property
    def joined_names(self) -> str:
        """Return the names of all participants: “Mira, Edmund and Wren”."""
        return join_with_and([one.name for one in self.participants])

    @property
    def chosen_speaker(self) -> Persona | None:
        """Return the chosen speaker; None outside of groups, or if nobody is chosen or the chosen one has left."""
        speaker_id = self._chosen_speakers.get(self.session.guid, "") if self.session is not None and self.is_group else ""
        return next((one for one in self.participants if one.unique_name == speaker_id), None)

    @property
    def chosen_speaker_id(self) -> str:
        """Return the unique name of the chosen speaker; empty if there is none."""
        return self.chosen_speaker.unique_name if self.chosen_speaker is not None else ""

    def expected_speaker(self, speaker_id: str) -> tuple[str, str]:
        """Return unique name and display name under which a reply is awaited; `UNDECIDED_SPEAKER` if it is open who of several
        speaks.
        """
        candidates = [one for one in self.participants if one.unique_name == speaker_id] or self.participants
        if len(candidates) == 1:
            return candidates[0].unique_name, candidates[0].name
        return UNDECIDED_SPEAKER, join_with_or([one.name for one in candidates])

    def _notify_changed(self) -> None:
        if self.is_group:
            self._window.chat.composer.set_speaker(self.chosen_speaker.name if self.chosen_speaker is not None else "")
        self.changed.emit()
