"""Choose who answers next in a group session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from lethe_app.config.options import GroupTurns
from lethe_app.ui.core.icons import load_icon

if TYPE_CHECKING:
    from lethe_app.services.preferences import Preferences
    from lethe_app.ui.chat.chat_panel import ChatPanel
    from lethe_app.ui.controllers.conversation.participants import ParticipantsController
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.theme import Theme


class NextSpeakerController(QObject):
    """Shows the chosen speaker above the composer, and the menu in which the user chooses one."""

    def __init__(
        self,
        chat: ChatPanel,
        actions: Actions,
        theme: Theme,
        preferences: Preferences,
        participants: ParticipantsController,
        replies: ReplyController,
    ) -> None:
        super().__init__(chat)
        self._chat, self._actions, self._theme, self._preferences = chat, actions, theme, preferences
        self._participants, self._replies = participants, replies
        actions.connect(choose_speaker=self._open_menu)
        actions["choose_speaker"].setEnabled(False)
        chat.speaker_chooser.opened.connect(self._open_menu)
        participants.changed.connect(self._show_speaker)

    def _show_speaker(self) -> None:
        """Update action and speaker chooser after a change of session, participants or next speaker."""
        self._actions["choose_speaker"].setEnabled(self._participants.is_group)
        if self._participants.is_group:
            chosen = self._participants.chosen_speaker
            name = chosen.name if chosen is not None else self._automatic_choice()
            self._chat.speaker_chooser.show_text(self.tr("Next speaker: {name}").format(name=name))
        else:
            self._chat.speaker_chooser.hide()

    def _automatic_choice(self) -> str:
        """Return that the next speaker is chosen automatically, with the order where it is not the model that chooses."""
        if self._preferences.current.group_turns is GroupTurns.MODEL:
            return self.tr("Auto")
        if self._preferences.current.group_turns is GroupTurns.TALKATIVE:
            return self.tr("Auto, by talkativeness")
        order = " → ".join(participant.name for participant in self._participants.participants)
        return self.tr("Auto, in turn {order}").format(order=order)

    def _open_menu(self) -> None:
        if not self._participants.is_group:
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
        for participant in self._participants.participants:
            self._add_speaker_choice(menu, group, participant.name, participant.unique_name)
        menu.addSeparator()
        is_free = not self._replies.is_busy
        for participant in self._participants.participants:
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
        action.setChecked(unique_name == self._participants.chosen_speaker_id)
        group.addAction(action)

    def _choose_speaker(self, unique_name: str) -> None:
        self._participants.choose_speaker(unique_name)
        self._chat.focus_composer()

    def _let_speak(self, unique_name: str) -> None:
        self._chat.focus_composer()
        self._replies.send_message("", unique_name)
