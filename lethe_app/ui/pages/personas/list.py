"""Page “User personas”: list, choice, editing and deletion of user personas."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPixmap
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.avatars import render_avatar
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.core.routes import PersonaRoute
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.personas.deletion import PersonaDeletion
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.widgets.card_column import CardColumn, create_placeholder, fill_layout
from lethe_app.ui.widgets.choice_card import ChoiceCard
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column

AVATAR_SIZE = 56
"""Diameter of the avatars, in pixels."""
MAX_BIO_LENGTH = 160
"""Characters of the bio that a card shows if there is no tagline."""


class UserPersonaCard(ChoiceCard):
    """Card of a user persona; a double click or Enter edits it, Del deletes it."""

    edit_requested = Signal()
    delete_requested = Signal()
    menu_requested = Signal(QPoint)
    """Emitted with the position on the screen where the menu is to be shown."""

    def __init__(self, theme: Theme, persona: Persona, description: str, avatar: QPixmap, parent: QWidget) -> None:
        super().__init__(theme, persona.name, description, avatar, parent)
        self.persona = persona

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.edit_requested.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        else:
            super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        self.edit_requested.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.setChecked(True)
        self.menu_requested.emit(event.globalPos())


class UserPersonasPage(ReloadingPage):
    """Page with a card for each user persona, and a button that uses the selected one in new conversations."""

    def __init__(
        self, context: PageContext, library: Library, preferences: Preferences, persona_deletion: PersonaDeletion
    ) -> None:
        super().__init__(context, self.tr("User personas"))
        self._library, self._preferences, self._deletion = library, preferences, persona_deletion
        self.cards: list[UserPersonaCard] = []
        self._sheet = CardColumn()
        self._box = QWidget()
        self._box.setAccessibleName(self.tr("User personas"))
        self._column = build_column(spacing=SPACE_3, parent=self._box)
        self._empty_label = create_placeholder(
            self.tr("No user personas yet. One tells every character who you are: your name, and what they should know.")
        )
        self.second_hint = create_placeholder(
            self.tr(
                "Add a second one to be somebody else in some conversations, such as the captain of a ship in a story and "
                "yourself with an assistant. Each conversation keeps the one with which it began."
            )
        )
        for widget in (self._empty_label, self._box, self.second_hint):
            self._sheet.add_widget(widget)
        self._use_button = self.add_button(self.tr("Use this persona"), self.use_selected, "user")
        self._edit_button = self.add_button(self.tr("Edit…"), self._edit_selected, "edit")
        self.new_button: QPushButton = self.add_button(self.tr("New"), lambda: self._open_editor(""), "plus", primary=True)
        hint = self.tr("New conversations use the selected user persona. Existing conversations keep theirs.")
        self.add_head(build_small_label(hint))
        self.body.addWidget(self._sheet, 1)
        self.follow(library.changed, preferences.changed)
        self.theme.changed.connect(self.reload)  # the discs of letters have its colours
        self.reload()

    def first_focus_widget(self) -> QWidget:
        return next((card for card in self.cards if card.isChecked()), self.new_button)

    @property
    def selected(self) -> Persona | None:
        """Return the selected user persona; None if there is none."""
        return next((card.persona for card in self.cards if card.isChecked()), None)

    def select_persona(self, persona_id: str) -> None:
        """Select a user persona; does nothing if it is not in the list."""
        for card in self.cards:
            if card.persona.unique_name == persona_id:
                card.setChecked(True)

    async def load(self) -> None:
        selected_id = self.selected.unique_name if self.selected is not None else self._used_persona_id
        had_focus = any(card.hasFocus() for card in self.cards)
        self.cards = [self._create_card(persona) for persona in await self._library.user_personas()]
        fill_layout(self._column, self.cards)
        self._empty_label.setVisible(not self.cards)
        self.second_hint.setVisible(len(self.cards) == 1)
        for button in (self._use_button, self._edit_button):
            button.setVisible(bool(self.cards))
        for card in self.cards[:1]:
            card.setChecked(True)
        self.select_persona(selected_id)
        if had_focus:
            self.first_focus_widget().setFocus()
        self._update_buttons()

    def _create_card(self, persona: Persona) -> UserPersonaCard:
        about = persona.tagline or " ".join(persona.bio.split())[:MAX_BIO_LENGTH]
        in_use = self.tr("In use for new conversations") if persona.unique_name == self._used_persona_id else ""
        description = "\n".join(filter(None, (about.replace("{{user}}", persona.name), in_use)))
        path, look = self._library.avatar(persona), (AVATAR_SIZE, self.theme.palette, self.devicePixelRatioF())
        avatar = render_avatar(path, persona.unique_name, persona.name, *look)
        card = UserPersonaCard(self.theme, persona, description, avatar, self._box)
        card.toggled.connect(lambda _is_checked: self._update_buttons())
        card.edit_requested.connect(lambda: self._open_editor(persona.unique_name))
        card.delete_requested.connect(lambda: self._delete_persona(persona))
        card.menu_requested.connect(lambda position: self._show_menu(persona, position))
        return card

    @property
    def _used_persona_id(self) -> str:
        return self._preferences.current.user_persona

    def _update_buttons(self) -> None:
        persona = self.selected
        self._edit_button.setEnabled(persona is not None)
        is_used = persona is not None and persona.unique_name == self._used_persona_id
        self._use_button.setEnabled(persona is not None and not is_used)
        self._use_button.setToolTip(self.tr("New conversations use it already") if is_used else "")

    # Actions of the user.

    def use_selected(self) -> None:
        """Put the selected user persona into use for new conversations. Can be undone."""
        if self.selected is not None:
            persona_id, before, preferences = self.selected.unique_name, self._used_persona_id, self._preferences
            self.run_undoable(
                self.tr("switching user persona"),
                lambda: preferences.set(user_persona=persona_id),
                lambda: preferences.set(user_persona=before),
            )

    def _edit_selected(self) -> None:
        if self.selected is not None:
            self._open_editor(self.selected.unique_name)

    def _open_editor(self, persona_id: str) -> None:
        self._context.navigator.open(PersonaRoute(persona_id, is_user=True))

    def _delete_persona(self, persona: Persona) -> None:
        self._context.tasks.start_task(self._confirm_and_delete(persona), key="delete")

    async def _confirm_and_delete(self, persona: Persona) -> None:
        if await self._deletion.confirm_deletion(persona):
            await self._deletion.delete_persona(persona)

    def _show_menu(self, persona: Persona, position: QPoint) -> None:
        menu, colour = QMenu(self), self.theme.palette.muted
        use_action = menu.addAction(load_icon("user", colour), self.tr("Use this persona"), self.use_selected)
        use_action.setEnabled(persona.unique_name != self._used_persona_id)
        menu.addAction(load_icon("edit", colour), self.tr("Edit…"), self._edit_selected)
        menu.addAction(load_icon("trash", colour), self.tr("Delete…"), lambda: self._delete_persona(persona))
        menu.popup(position)
