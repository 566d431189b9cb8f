"""Group sessions: invite and remove participants, and choose who answers next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QActionGroup, QPixmap
from PySide6.QtWidgets import QMenu

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.dialogs.dialogs import run_dialog

if TYPE_CHECKING:
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.participants import ParticipantsController
    from lethe_app.ui.pages.context import PageContext

AVATAR_SIZE = 32
"""Size of an avatar in the dialog, in pixels."""


class GroupController(QObject):
    """Controls participants and next speaker of the session on display, once per window."""

    def __init__(self, context: PageContext, participants: ParticipantsController, turns: ReplyController) -> None:
        super().__init__(context.window)
        self._context, self._participants, self._turns = context, participants, turns
        self._header, self._chooser = context.window.chat.header, context.window.chat.speaker_chooser
        self._actions = context.window.actions_
        self._actions.connect(
            group=lambda: context.tasks.start_task(self._choose_participants(), key="group"), who_answers=self._open_menu
        )
        self._header.group_button.clicked.connect(lambda _checked=False: self._actions["group"].trigger())
        self._chooser.opened.connect(self._open_menu)
        participants.changed.connect(self._update_widgets)
        for name in ("group", "who_answers"):
            self._actions[name].setEnabled(False)

    def _update_widgets(self) -> None:
        """Update header, actions and speaker chooser after a change of session, participants or next speaker."""
        self._header.group_button.show()
        self._actions["group"].setEnabled(True)
        self._actions["who_answers"].setEnabled(self._participants.is_group)
        if self._participants.is_group:
            chosen = self._participants.chosen_speaker
            words = self.tr("Next speaker: {name}")
            self._chooser.show_text(words.format(name=chosen.name if chosen is not None else self.tr("Auto")))
        else:
            self._chooser.hide()

    # Next speaker

    def _open_menu(self) -> None:
        if not self._participants.is_group:
            return
        menu = self.build_menu()
        menu.popup(self._chooser.button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def build_menu(self) -> QMenu:
        """Create the menu in which the user chooses who answers from now on, or lets one participant speak at once."""
        from lethe_app.ui.pages.settings.fields import value_label  # noqa: PLC0415 - not needed to open the window

        menu = QMenu(self._context.window)
        menu.setAccessibleName(self._actions["who_answers"].text())
        menu.aboutToHide.connect(menu.deleteLater)
        group = QActionGroup(menu)
        turn_order_text = value_label("group_turns", self._context.services.preferences.current.group_turns)
        self._add_speaker_choice(menu, group, f"{self.tr('Auto')}\t{turn_order_text}", "")
        for participant in self._participants.participants:
            self._add_speaker_choice(menu, group, participant.name, participant.unique_name)
        menu.addSeparator()
        is_free = not self._turns.is_busy
        for participant in self._participants.participants:
            words = self.tr("Let {name} speak now").format(name=participant.name)
            menu.addAction(words.replace("&", "&&"), partial(self._let_speak, participant.unique_name)).setEnabled(is_free)
        menu.addSeparator()
        menu.addAction(self._actions["group"])
        self._actions["group"].setIcon(load_icon("users", self._context.theme.palette.muted))
        return menu

    def _add_speaker_choice(self, menu: QMenu, group: QActionGroup, label: str, unique_name: str) -> None:
        # A single & would mark a mnemonic.
        action = menu.addAction(label.replace("&", "&&"), partial(self._choose_speaker, unique_name))
        action.setCheckable(True)
        action.setChecked(unique_name == self._participants.chosen_speaker_id)
        group.addAction(action)

    def _choose_speaker(self, unique_name: str) -> None:
        self._participants.choose_speaker(unique_name)
        self._context.window.focus_composer()

    def _let_speak(self, unique_name: str) -> None:
        self._context.window.focus_composer()
        self._turns.send_message("", unique_name)

    # Participants

    async def _choose_participants(self) -> None:
        from lethe_app.ui.dialogs.group import GroupDialog  # noqa: PLC0415 - rarely needed

        current, services = self._context.current_session(), self._context.services
        if current is None:
            return
        session = await services.sessions.open(current.guid)
        participants, other_personas = await services.group.members(session.guid), await services.group.could_come(session.guid)
        dialog = GroupDialog(self._context.window, session.guests, participants, other_personas, self._render_avatar)
        if not await run_dialog(dialog):
            return
        if dialog.is_alone:
            self._actions["new_persona"].trigger()
        elif dialog.selected_names != session.guests:
            await services.group.ask_in(session.guid, dialog.selected_names)
            self._announce_participants(
                [
                    one
                    for one in [*participants, *other_personas]
                    if one.unique_name in {session.persona_id, *dialog.selected_names}
                ]
            )

    def _announce_participants(self, participants: list[Persona]) -> None:
        """Announce the participants to screen readers."""
        if QAccessible.isActive():
            words = self.tr("Participants: {names}").format(names=", ".join(one.name for one in participants))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._header, words))

    def _render_avatar(self, persona: Persona) -> QPixmap:
        avatar_path = self._context.services.library.avatar(persona)
        device_pixel_ratio = self._context.window.devicePixelRatioF()
        return render_avatar(
            avatar_path, persona.unique_name, persona.name, AVATAR_SIZE, self._context.theme.palette, device_pixel_ratio
        )
