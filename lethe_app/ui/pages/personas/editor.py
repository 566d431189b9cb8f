"""Draft of a persona in its form, which the parts of the editor page load, preview, save and merge."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from lethe_app.domain.persona import Persona
from lethe_app.ui.core.routes import PersonaRoute, Route
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.personas.banner import MessageBanner
from lethe_app.ui.pages.personas.draft import Draft, StoredDraft, TypingCommand
from lethe_app.ui.pages.personas.fields import AVATAR, field_title, persona_sections, user_persona_sections
from lethe_app.ui.pages.personas.form import PersonaForm
from lethe_app.ui.pages.personas.pictures import UnsavedAvatars
from lethe_app.ui.pages.personas.preview import PersonaPreview


class PersonaEditor(Page):
    """Page with the draft of a persona and its form; every change is a command on the undo stack."""

    draft_changed = Signal()
    """Emitted after a change of the draft or of the saved persona."""
    loaded = Signal()
    """Emitted when the draft is loaded and can be edited."""
    saving = Signal()
    """Emitted before a valid draft is saved."""

    def __init__(self, context: PageContext, draft_file: Path, *, is_user: bool) -> None:
        """Create the editor; unsaved changes are stored in `draft_file`."""
        super().__init__(context.theme, "")
        self.context = context
        self.draft = Draft(is_user=is_user)
        self.saved: Persona | None = None
        self.is_user = is_user
        self.pictures = UnsavedAvatars()
        self.is_loaded = self.is_closed = False
        self.save_lock = asyncio.Lock()
        self.stored_draft = StoredDraft(draft_file)
        self._is_user_input = False
        self._is_discarded = False
        self.sheet = PersonaForm(user_persona_sections() if is_user else persona_sections(), self.theme)
        self.sheet.setEnabled(False)  # nothing is written into a draft that is about to be replaced
        self.sheet.changed.connect(self.change_field)
        self.sheet.unfinished_changed.connect(self.draft_changed)
        self.sheet.avatar.remove_requested.connect(lambda: self.change_field(AVATAR, ""))
        self.preview = PersonaPreview(self.theme, is_user=is_user)
        self.banner = MessageBanner()

    def enable_editing(self) -> None:
        """Show the loaded draft and enable editing."""
        self.is_loaded = True
        self.sheet.setEnabled(True)
        self.sheet.show_values(self.draft.values)
        self.draft_changed.emit()
        self.loaded.emit()
        self.first_focus_widget().setFocus()

    # changing

    def change_field(self, name: str, value: object) -> None:
        """Set a field as input of the user. Can be undone."""
        old = self.draft.values[name]
        if value != old:
            self._is_user_input = True
            self.undo_stack.push(TypingCommand(field_title(name), name, old, value, self._apply_value))
            self._is_user_input = False

    def replace_fields(self, persona: Persona, title: str) -> None:
        """Set all fields to those of `persona` in a single undo step."""
        changes = list(self.draft.differing_fields(persona))
        if not changes:
            return
        self._is_user_input = True
        self.undo_stack.beginMacro(title)
        for name, old, new in changes:
            self.undo_stack.push(TypingCommand(title, name, old, new, self._apply_value))
        self.undo_stack.endMacro()
        self._is_user_input = False

    def _apply_value(self, name: str, value: object) -> None:
        """Store and show a value; on undo and redo, scroll to its field."""
        self.draft.values[name] = self.pictures.file_of(str(value)) or value if name == AVATAR else value
        self.sheet.set_field(name, value)
        if not self._is_user_input:
            self.sheet.reveal_field(name)
        self.draft_changed.emit()

    @property
    def persona_name(self) -> str:
        return str(self.draft.values["name"]).strip()

    @property
    def is_dirty(self) -> bool:
        return not self.draft.is_equivalent_to(self.saved)

    def adopt_saved(self, saved: Persona) -> None:
        """Take the saved persona as the base of the draft."""
        self.saved = self.draft.base = saved
        self.draft.values[AVATAR] = saved.avatar
        self.draft_changed.emit()

    def discard_unsaved(self) -> None:
        """Drop unsaved changes: neither ask about them nor store them."""
        self._is_discarded = True

    def store_draft(self) -> None:
        """Store unsaved changes for the next start, in case the window is closed or the program is killed."""
        if self.is_loaded and self.is_dirty and not self._is_discarded:
            self.stored_draft.save_draft(self.draft.build_persona("?"), is_new=self.saved is None)
        elif self.is_loaded:
            self.stored_draft.delete_draft()

    def first_focus_widget(self) -> QWidget:
        return self.sheet.field("name")

    def is_showing(self, route: Route) -> bool:
        """Return whether the page edits the persona of the route, for example one that was created on it."""
        return isinstance(route, PersonaRoute) and self.saved is not None and self.saved.unique_name == route.persona_id
