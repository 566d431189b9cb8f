"""Add and remove participants of the session on display, and choose who speaks next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from lethe_app.config.options import GroupTurns
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.dialogs.dialogs import run_dialog

if TYPE_CHECKING:
    from uuid import UUID

    from lethe_app.services.chat.group import GroupService
    from lethe_app.services.preferences import Preferences
    from lethe_app.services.sessions.service import SessionService
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.shell.main_window import MainWindow

AVATAR_SIZE = 32
"""Size of an avatar in the dialog, in pixels."""


class GroupController(Controller):
    """Adds and removes participants of the session on display. It shows the chosen speaker above the composer, and the menu in
    which the user chooses one.
    """

    def __init__(
        self,
        window: MainWindow,
        directory: PersonaDirectory,
        sessions: SessionService,
        group: GroupService,
        preferences: Preferences,
        shown_session: ShownSession,
        replies: ReplyController,
    ) -> None:
        super().__init__(window)
        self._chat, self._preferences = window.chat, preferences
        self._directory, self._sessions, self._group, self._replies = directory, sessions, group, replies
        self._shown = shown_session
        self._actions.connect(
            group=self._tasks.create_callback(self._choose_participants, key="group"), choose_speaker=self._open_menu
        )
        for name in ("group", "choose_speaker"):
            self._actions[name].setEnabled(False)
        self._chat.header.group_button.clicked.connect(self._actions["group"].trigger)
        self._chat.speaker_chooser.opened.connect(self._open_menu)
        shown_session.changed.connect(self._show_participants)

    def _show_participants(self) -> None:
        """Update the actions and the speaker chooser after a change of session, participants or next speaker."""
        self._chat.header.group_button.setVisible(True)
        self._actions["group"].setEnabled(True)
        self._actions["choose_speaker"].setEnabled(self._shown.is_group)
        if self._shown.is_group:
            chosen = self._shown.chosen_speaker
            name = chosen.name if chosen is not None else self._automatic_choice()
            self._chat.speaker_chooser.show_text(self.tr("Next speaker: {name}").format(name=name))
        else:
            self._chat.speaker_chooser.hide()

    async def _choose_participants(self) -> None:
        from lethe_app.ui.dialogs.group import GroupDialog  # noqa: PLC0415 - rarely needed

        if self._shown.session is None:
            return
        session = await self._sessions.open(self._shown.session.guid)
        participants, other_personas = await self._group.members(session.guid), await self._group.candidates_for(session.guid)
        render_avatar = partial(self._directory.render_avatar, size=AVATAR_SIZE)
        dialog = GroupDialog(self._window, session.guests, participants, other_personas, render_avatar)
        if not await run_dialog(dialog):
            return
        if dialog.is_alone:
            self._actions["new_persona"].trigger()
        elif dialog.selected_names != session.guests:
            await self._sessions.set_guests(session.guid, dialog.selected_names)
            await self._refresh_greeting(session.guid)
            ids = {session.persona_id, *dialog.selected_names}
            names = [one.name for one in (*participants, *other_personas) if one.unique_name in ids]
            announce(self._chat.header, self.tr("Participants: {names}").format(names=", ".join(names)))

    async def _refresh_greeting(self, session_id: UUID) -> None:
        """Show the greeting again if it is the only message, because a group may have another one."""
        outline = await self._sessions.outline(session_id)
        if len(outline) == 1:
            await self._replies.reload_messages(session_id, [outline[0].id])

    # Next speaker

    def _automatic_choice(self) -> str:
        """Return that the next speaker is chosen automatically, with the order where it is not the model that chooses."""
        if self._preferences.current.group_turns is GroupTurns.MODEL:
            return self.tr("Auto")
        if self._preferences.current.group_turns is GroupTurns.TALKATIVE:
            return self.tr("Auto, by talkativeness")
        order = " → ".join(participant.name for participant in self._shown.participants)
        return self.tr("Auto, in turn {order}").format(order=order)

    def _open_menu(self) -> None:
        if not self._shown.is_group:
            return
        menu = self.build_menu()
        menu.popup(self._chat.speaker_chooser.button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def build_menu(self) -> QMenu:
        """Create the menu in which the user chooses who answers from now on, or lets one participant speak at once."""
        from lethe_app.ui.core.labels.fields import value_label  # noqa: PLC0415 - not needed to open the window

        menu = QMenu(self._chat)
        menu.setAccessibleName(self._actions["choose_speaker"].text())
        menu.aboutToHide.connect(menu.deleteLater)
        group = QActionGroup(menu)
        turn_order_text = value_label("group_turns", self._preferences.current.group_turns)
        self._add_speaker_choice(menu, group, f"{self.tr('Auto')}\t{turn_order_text}", "")
        for participant in self._shown.participants:
            self._add_speaker_choice(menu, group, participant.name, participant.unique_name)
        menu.addSeparator()
        is_free = not self._replies.is_busy
        for participant in self._shown.participants:
            words = self.tr("Let {name} speak now").format(name=participant.name)
            menu.addAction(words.replace("&", "&&"), partial(self._let_speak, participant.unique_name)).setEnabled(is_free)
        menu.addSeparator()
        menu.addAction(self._actions["group"])
        self._actions["group"].setIcon(load_icon("users", self._theme.palette.muted))
        return menu

    def _add_speaker_choice(self, menu: QMenu, group: QActionGroup, label: str, unique_name: str) -> None:
        # A single & would mark a mnemonic.
        action = menu.addAction(label.replace("&", "&&"), partial(self._choose_speaker, unique_name))
        action.setCheckable(True)
        action.setChecked(unique_name == self._shown.chosen_speaker_id)
        group.addAction(action)

    def _choose_speaker(self, unique_name: str) -> None:
        self._shown.choose_speaker(unique_name)
        self._chat.focus_composer()

    def _let_speak(self, unique_name: str) -> None:
        self._chat.focus_composer()
        self._replies.send_message("", unique_name)
