"""Group sessions: add and remove participants."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtGui import QPixmap

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.dialogs.dialogs import run_dialog

if TYPE_CHECKING:
    from lethe_app.services.chat.group import GroupService
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.chat.chat_panel import ChatHeader
    from lethe_app.ui.controllers.conversation.participants import ParticipantsController
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.transcript.model.chat_model import ChatModel

AVATAR_SIZE = 32
"""Size of an avatar in the dialog, in pixels."""


class GroupController(QObject):
    """Adds and removes participants of the session on display."""

    def __init__(
        self,
        header: ChatHeader,
        actions: Actions,
        directory: PersonaDirectory,
        sessions: SessionService,
        group: GroupService,
        participants: ParticipantsController,
        messages: ChatModel,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(header)
        self._messages = messages
        self._header, self._actions, self._directory = header, actions, directory
        self._sessions, self._group, self._participants = sessions, group, participants
        actions.connect(group=tasks.create_callback(self._choose_participants, key="group"))
        actions["group"].setEnabled(False)
        header.group_button.clicked.connect(lambda _checked=False: actions["group"].trigger())
        participants.changed.connect(self._enable_action)

    def _enable_action(self) -> None:
        """Enable the action as soon as a session is on display."""
        self._header.group_button.show()
        self._actions["group"].setEnabled(True)

    async def _choose_participants(self) -> None:
        from lethe_app.ui.dialogs.group import GroupDialog  # noqa: PLC0415 - rarely needed

        if self._participants.session_id is None:
            return
        session = await self._sessions.open(self._participants.session_id)
        participants, other_personas = await self._group.members(session.guid), await self._group.candidates_for(session.guid)
        dialog = GroupDialog(self._header.window(), session.guests, participants, other_personas, self._render_avatar)
        if not await run_dialog(dialog):
            return
        if dialog.is_alone:
            self._actions["new_persona"].trigger()
        elif dialog.selected_names != session.guests:
            await self._sessions.set_guests(session.guid, dialog.selected_names)
            await self._refresh_greeting(session.guid)
            self._announce_participants(
                [
                    one
                    for one in [*participants, *other_personas]
                    if one.unique_name in {session.persona_id, *dialog.selected_names}
                ]
            )

    async def _refresh_greeting(self, session_id: UUID) -> None:
        """Show the greeting again if it is the only message, because a group may have another one."""
        outline = await self._sessions.outline(session_id)
        if len(outline) == 1 and session_id == self._participants.session_id:
            self._messages.refresh_outlines(outline)
            self._messages.replace_message(await self._sessions.message(outline[0].id))

    def _announce_participants(self, participants: list[Persona]) -> None:
        """Announce the participants to screen readers."""
        announce(self._header, self.tr("Participants: {names}").format(names=", ".join(one.name for one in participants)))

    def _render_avatar(self, persona: Persona) -> QPixmap:
        return self._directory.render_avatar(persona, AVATAR_SIZE)
