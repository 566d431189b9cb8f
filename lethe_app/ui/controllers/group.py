"""Group sessions: invite and remove participants, and choose who answers next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QActionGroup, QPixmap
from PySide6.QtWidgets import QMenu

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.avatars import avatar
from lethe_app.ui.core.icons import icon
from lethe_app.ui.dialogs.dialogs import answered

if TYPE_CHECKING:
    from lethe_app.ui.controllers.conversation.replies import Turns
    from lethe_app.ui.controllers.participants import ParticipantsController
    from lethe_app.ui.pages.context import PageContext

FACE = 32
"""Size of an avatar in the dialog, in pixels."""


class GroupController(QObject):
    """Controls participants and next speaker of the session on display, once per window."""

    def __init__(self, place: PageContext, company: ParticipantsController, turns: Turns) -> None:
        super().__init__(place.window)
        self._place, self._company, self._turns = place, company, turns
        self._header, self._chooser = place.window.chat.header, place.window.chat.chooser
        self._wishes = place.window.actions_
        self._wishes.connect(group=lambda: place.bridge.spawn(self._ask(), lane="group"), who_answers=self._choose)
        self._header.group.clicked.connect(lambda _checked=False: self._wishes["group"].trigger())
        self._chooser.opened.connect(self._choose)
        company.changed.connect(self._follow)
        for name in ("group", "who_answers"):
            self._wishes[name].setEnabled(False)

    def _follow(self) -> None:
        """Update header, actions and speaker chooser after a change of session, participants or next speaker."""
        self._header.group.show()
        self._wishes["group"].setEnabled(True)
        self._wishes["who_answers"].setEnabled(self._company.is_group)
        if self._company.is_group:
            chosen = self._company.chosen
            words = self.tr("Next speaker: {name}")
            self._chooser.say(words.format(name=chosen.name if chosen is not None else self.tr("Auto")))
        else:
            self._chooser.hide()

    # Next speaker

    def _choose(self) -> None:
        if not self._company.is_group:
            return
        menu = self.menu()
        menu.popup(self._chooser.button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def menu(self) -> QMenu:
        """Create the menu in which the user chooses who answers from now on, or lets one participant speak at once."""
        from lethe_app.ui.pages.settings.fields import words_for  # noqa: PLC0415 - not needed to open the window

        menu = QMenu(self._place.window)
        menu.setAccessibleName(self._wishes["who_answers"].text())
        menu.aboutToHide.connect(menu.deleteLater)
        group = QActionGroup(menu)
        usual = words_for("group_turns", self._place.services.preferences.current.group_turns)
        self._choice(menu, group, f"{self.tr('Auto')}\t{usual}", "")
        for one in self._company.people:
            self._choice(menu, group, one.name, one.unique_name)
        menu.addSeparator()
        is_free = not self._turns.is_busy
        for one in self._company.people:
            words = self.tr("Let {name} speak now").format(name=one.name)
            menu.addAction(words.replace("&", "&&"), partial(self._let_speak, one.unique_name)).setEnabled(is_free)
        menu.addSeparator()
        menu.addAction(self._wishes["group"])
        self._wishes["group"].setIcon(icon("users", self._place.theme.palette.muted))
        return menu

    def _choice(self, menu: QMenu, group: QActionGroup, words: str, unique_name: str) -> None:
        # A single & would mark a mnemonic.
        action = menu.addAction(words.replace("&", "&&"), partial(self._take, unique_name))
        action.setCheckable(True)
        action.setChecked(unique_name == self._company.speaker)
        group.addAction(action)

    def _take(self, unique_name: str) -> None:
        self._company.choose(unique_name)
        self._place.window.go_to_field()

    def _let_speak(self, unique_name: str) -> None:
        self._place.window.go_to_field()
        self._turns.send("", unique_name)

    # Participants

    async def _ask(self) -> None:
        from lethe_app.ui.dialogs.group import Invitation  # noqa: PLC0415 - rarely needed

        current, services = self._place.session(), self._place.services
        if current is None:
            return
        session = await services.sessions.open(current.guid)
        people, others = await services.group.members(session.guid), await services.group.could_come(session.guid)
        dialog = Invitation(self._place.window, session.guests, people, others, self._face)
        if not await answered(dialog):
            return
        if dialog.is_alone:
            self._wishes["new_persona"].trigger()
        elif dialog.names != session.guests:
            await services.group.ask_in(session.guid, dialog.names)
            self._announce([one for one in [*people, *others] if one.unique_name in {session.persona_id, *dialog.names}])

    def _announce(self, people: list[Persona]) -> None:
        """Announce the participants to screen readers."""
        if QAccessible.isActive():
            words = self.tr("Participants: {names}").format(names=", ".join(one.name for one in people))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._header, words))

    def _face(self, persona: Persona) -> QPixmap:
        picture = self._place.services.library.avatar(persona)
        density = self._place.window.devicePixelRatioF()
        return avatar(picture, persona.unique_name, persona.name, FACE, self._place.theme.palette, density)
