"""Page “User personas”: list, choice, editing and deletion of user personas."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import ICON
from lethe_app.ui.core.routes import PersonaRoute
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.list_page import ListPage
from lethe_app.ui.pages.personas.deletion import PersonaDeletion
from lethe_app.ui.pages.undo_commands import CommandRunner
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel


class UserPersonasPage(ListPage):
    """Page with the list of user personas; Enter edits, Del deletes, and a button uses the selected one in new
    conversations.
    """

    def __init__(self, context: PageContext, library: Library, preferences: Preferences, deletion: PersonaDeletion) -> None:
        super().__init__(context, self.tr("User personas"))
        self._library, self._preferences, self._deletion = library, preferences, deletion
        columns = [
            Column[Persona](self.tr("Name"), lambda one: one.name, width=220, icon=self._avatar_icon),
            Column[Persona](self.tr("Tagline"), lambda one: one.tagline or " ".join(one.bio.split())[:160], width=0),
            Column[Persona]("", self._format_use, width=200, colour=lambda one: self.theme.palette.water),
        ]
        self._commands = CommandRunner(self.undo_stack, context.tasks)
        self.rows = FilteredTableModel(
            columns, key=lambda one: one.unique_name, search_text=lambda one: f"{one.name} {one.tagline}"
        )
        empty_text = self.tr("No user personas yet. Create one with “New”.")
        self.table = Table(self.rows, self.theme, self.tr("User personas"), empty_text)
        self.table.opened.connect(self._edit_persona)
        self.table.delete_requested.connect(lambda chosen: self._delete_persona(chosen[0]))
        self.table.menu_requested.connect(self._show_menu)
        self.table.current_changed.connect(lambda _one: self._update_buttons())
        self._use_button = self.add_button(self.tr("Use this persona"), self.use_selected, "user")
        self._edit_button = self.add_button(self.tr("Edit…"), lambda: self._edit_persona(self.table.current_row), "edit")
        self.new_button: QPushButton = self.add_button(self.tr("New"), lambda: self._open_editor(""), "plus", primary=True)
        hint = self.tr("New conversations use the selected user persona. Existing conversations keep theirs.")
        self._add_head(build_small_label(hint))
        self.body.addWidget(self.table, 1)
        self._unsubscribers = [
            library.changed.add(lambda _nothing: self._schedule_reload()),
            preferences.changed.add(lambda _settings: self._schedule_reload()),
        ]
        self._schedule_reload()

    def first_focus_widget(self) -> QWidget:
        return self.table

    async def _reload(self) -> None:
        self.rows.set_rows(await self._library.user_personas())
        if self.table.current_row is None and not self.table.select_row(self._used_persona_id) and self.rows.visible_rows:
            self.table.select_row(self.rows.visible_rows[0].unique_name)
        self._update_buttons()

    @property
    def _used_persona_id(self) -> str:
        return self._preferences.current.user_persona

    def _format_use(self, persona: Persona) -> str:
        return self.tr("in use") if persona.unique_name == self._used_persona_id else ""

    def _avatar_icon(self, persona: Persona) -> QIcon:
        path = self._library.avatar(persona)
        return QIcon(render_avatar(path, persona.unique_name, persona.name, ICON, self.theme.palette, self.devicePixelRatioF()))

    def _update_buttons(self) -> None:
        persona = self.table.current_row
        self._edit_button.setEnabled(persona is not None)
        self._use_button.setEnabled(persona is not None and persona.unique_name != self._used_persona_id)

    # Actions of the user.

    def use_selected(self) -> None:
        """Put the selected user persona into use for new conversations. Can be undone."""
        persona = self.table.current_row
        if persona is not None:
            self._use_persona(persona.unique_name)

    def _use_persona(self, persona_id: str) -> None:
        before = self._used_persona_id
        preferences = self._preferences
        self._commands.run_command(
            self.tr("switching user persona"),
            lambda: preferences.set(user_persona=persona_id),
            lambda: preferences.set(user_persona=before),
        )

    def _edit_persona(self, persona: Persona | None) -> None:
        if persona is not None:
            self._open_editor(persona.unique_name)

    def _open_editor(self, persona_id: str) -> None:
        self._context.navigator.open(PersonaRoute(persona_id, is_user=True))

    def _delete_persona(self, persona: Persona) -> None:
        self._context.tasks.start_task(self._confirm_and_delete(persona), key="delete")

    async def _confirm_and_delete(self, persona: Persona) -> None:
        if await self._deletion.confirm_deletion(persona):
            await self._deletion.delete_persona(persona)

    def _show_menu(self, position: QPoint) -> None:
        persona = self.table.current_row
        if persona is None:
            return
        menu, colour = QMenu(self), self.theme.palette.muted
        use_action = menu.addAction(load_icon("user", colour), self.tr("Use this persona"), self.use_selected)
        use_action.setEnabled(persona.unique_name != self._used_persona_id)
        menu.addAction(load_icon("edit", colour), self.tr("Edit…"), lambda: self._edit_persona(persona))
        menu.addAction(load_icon("trash", colour), self.tr("Delete…"), lambda: self._delete_persona(persona))
        menu.popup(position)
