"""Loading of the persona editor: the lists to choose from, the persona, and unsaved changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.ui.pages.personas.draft import Draft
from lethe_app.ui.pages.personas.fields import MODEL, SAMPLERS, TASKS, TOOLS, WORLDS

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.personas.draft_chat import DraftTest
    from lethe_app.ui.pages.personas.actions import PersonaActions
    from lethe_app.ui.pages.personas.editor import PersonaEditor
    from lethe_app.ui.pages.personas.services import PersonaEditorServices


class PersonaLoader(QObject):
    """Loads one editor page and then enables editing."""

    def __init__(self, page: PersonaEditor, services: PersonaEditorServices, actions: PersonaActions) -> None:
        super().__init__(page)
        self._page, self._services, self._actions = page, services, actions

    async def load_page(self, persona_id: str) -> None:
        page, sheet, library = self._page, self._page.sheet, self._services.library
        worlds, samplers = await library.worlds(), await library.samplers()
        known_ids = {one.unique_name for one in [*await library.personas(), *await library.user_personas()]}
        draft_test = await self._services.draft_chat.draft_of(persona_id) if persona_id else None
        original = draft_test.draft.unique_name if draft_test is not None else persona_id
        saved = await library.persona(original) if original in known_ids or (original and draft_test is None) else None
        shipped = await library.shipped_persona(original) if saved is not None else None
        if page.is_closed:
            return
        sheet.set_choices(WORLDS, [(name, world.name) for name, world in worlds.items()])
        sheet.set_choices(TOOLS, [(one.name, one.title) for one in self._services.tool_registry.sets])
        sheet.set_choices(
            TASKS, [(entry.name, entry.task.title) for entry in self._services.background_runner.registry.list_tasks()]
        )
        sheet.set_choices(SAMPLERS, [(name, preset.name) for name, preset in samplers.items()])
        self._set_saved(saved, shipped, draft_test)
        self._restore_unsaved()
        page.enable_editing()
        if not page.is_user:
            await self._load_models()

    async def _load_models(self) -> None:
        """Fill the list of models afterwards, because the search reads the disk."""
        models = await self._services.models.list_chat_models()
        if not self._page.is_closed:
            self._page.sheet.set_choices(MODEL, [(model.path.name, model.name) for model in models])

    def _set_saved(self, saved: Persona | None, shipped: Persona | None, draft_test: DraftTest | None) -> None:
        """Set the persona as saved. If a test copy is open, apply its draft as unsaved changes to the original."""
        page = self._page
        if saved is not None:
            page.saved, page.draft, self._actions.shipped = saved, Draft(saved), shipped
        if draft_test is not None:
            page.replace_fields(draft_test.draft, self.tr("restoring the draft"))
            self._actions.show_copy(draft_test.copy_id)

    def _restore_unsaved(self) -> None:
        page = self._page
        unsaved = page.stored_draft.load_draft(page.saved.unique_name if page.saved else "", is_user=page.is_user)
        if unsaved is not None and not page.draft.is_equivalent_to(unsaved):
            page.replace_fields(unsaved, self.tr("restoring unsaved changes"))
            page.banner.show_message(self.tr("Unsaved changes from the last session were restored. Undo discards them."))
