"""Page “User personas”: list, choice, editing and deletion of user personas."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.avatars import avatar
from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import ICON, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.personas.deletion import PersonaDeletion
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel


class UserPersonasPage(Page):
    """Page with the list of user personas; Enter edits, Del deletes, and a button uses the selected one in new
    conversations.
    """

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, self.tr("User personas"))
        self.place = place
        columns = [
            Column[Persona](self.tr("Name"), lambda one: one.name, width=220, icon=self._face),
            Column[Persona](self.tr("Tagline"), lambda one: one.tagline or " ".join(one.bio.split())[:160], width=0),
            Column[Persona]("", self._use, width=200, colour=lambda one: self.theme.palette.water),
        ]
        self._deeds = CommandRunner(self.undo, place.bridge)
        self.rows = FilteredTableModel(
            columns, key=lambda one: one.unique_name, searched=lambda one: f"{one.name} {one.tagline}"
        )
        nobody = self.tr("No user personas yet. Create one with “New”.")
        self.table = Table(self.rows, self.theme, self.tr("User personas"), nobody)
        self.table.opened.connect(self._edit)
        self.table.delete_wanted.connect(lambda chosen: self._delete(chosen[0]))
        self.table.menu_wanted.connect(self._show_menu)
        self.table.current_changed.connect(lambda _one: self._follow())
        self._be = self.add_button(self.tr("Use this persona"), self.choose, "user")
        self._change = self.add_button(self.tr("Edit…"), lambda: self._edit(self.table.current), "edit")
        self.new: QPushButton = self.add_button(self.tr("New"), lambda: self._open(""), "plus", primary=True)
        words = explanation(self.tr("New conversations use the selected user persona. Existing conversations keep theirs."))
        words.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        self.body.addWidget(words)
        self.body.addWidget(self.table, 1)
        self._forget = [
            place.services.library.changed.add(lambda _nothing: self._refresh()),
            place.services.preferences.changed.add(lambda _settings: self._refresh()),
        ]
        self._refresh()

    def first_focus(self) -> QWidget:
        return self.table

    def close_page(self) -> None:
        for forget in self._forget:
            forget()
        self.place.bridge.cancel("selves")

    # what is shown

    def _refresh(self) -> None:
        self.place.bridge.spawn(self._fill(), lane="selves")

    async def _fill(self) -> None:
        self.rows.fill(await self.place.services.library.user_personas())
        if self.table.current is None and not self.table.go_to(self._chosen) and self.rows.shown:
            self.table.go_to(self.rows.shown[0].unique_name)
        self._follow()

    @property
    def _chosen(self) -> str:
        return self.place.services.preferences.current.user_persona

    def _use(self, one: Persona) -> str:
        return self.tr("in use") if one.unique_name == self._chosen else ""

    def _face(self, one: Persona) -> QIcon:
        path = self.place.services.library.avatar(one)
        return QIcon(avatar(path, one.unique_name, one.name, ICON, self.theme.palette, self.devicePixelRatioF()))

    def _follow(self) -> None:
        one = self.table.current
        self._change.setEnabled(one is not None)
        self._be.setEnabled(one is not None and one.unique_name != self._chosen)

    # Actions of the user.

    def choose(self) -> None:
        """Put the selected user persona into use for new conversations. Can be undone."""
        one = self.table.current
        if one is not None:
            self._be_someone(one.unique_name)

    def _be_someone(self, name: str) -> None:
        before = self._chosen
        preferences = self.place.services.preferences
        self._deeds.do(
            self.tr("switching user persona"),
            lambda: preferences.set(user_persona=name),
            lambda: preferences.set(user_persona=before),
        )

    def _edit(self, one: Persona | None) -> None:
        if one is not None:
            self._open(one.unique_name)

    def _open(self, persona_id: str) -> None:
        from lethe_app.ui.pages.persona_routes import open_persona  # noqa: PLC0415 - which imports this page

        open_persona(self.place, persona_id, is_user=True)

    def _delete(self, one: Persona) -> None:
        self.place.bridge.spawn(self._say_farewell(one), lane="delete")

    async def _say_farewell(self, one: Persona) -> None:
        farewell = PersonaDeletion(self.place)
        if await farewell.ask(one):
            await farewell.say(one)

    def _show_menu(self, point: QPoint) -> None:
        one = self.table.current
        if one is None:
            return
        menu, colour = QMenu(self), self.theme.palette.muted
        be = menu.addAction(icon("user", colour), self.tr("Use this persona"), self.choose)
        be.setEnabled(one.unique_name != self._chosen)
        menu.addAction(icon("edit", colour), self.tr("Edit…"), lambda: self._edit(one))
        menu.addAction(icon("trash", colour), self.tr("Delete…"), lambda: self._delete(one))
        menu.popup(point)
