"""Loading of the persona editor: the lists to choose from, the persona, and unsaved changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.ui.pages.personas.draft import Draft

if TYPE_CHECKING:
    from lethe_app.domain.persona import Persona
    from lethe_app.services.personas.draft_chat import Rehearsal
    from lethe_app.ui.pages.personas.draft import Leftover
    from lethe_app.ui.pages.personas.page import PersonaPage


class PersonaOpening(QObject):
    """Loads one editor page and then enables editing."""

    def __init__(self, page: PersonaPage, leftover: Leftover) -> None:
        super().__init__(page)
        self._page, self._leftover = page, leftover
        self._services = page.place.services

    async def run(self, persona_id: str) -> None:
        page, sheet, library = self._page, self._page.sheet, self._services.library
        worlds, samplers = await library.worlds(), await library.samplers()
        there = {one.unique_name for one in [*await library.personas(), *await library.user_personas()]}
        rehearsal = await self._services.rehearsing.draft_of(persona_id) if persona_id else None
        original = rehearsal.draft.unique_name if rehearsal is not None else persona_id
        saved = await library.persona(original) if original in there or (original and rehearsal is None) else None
        ours = await library.shipped_persona(original) if saved is not None else None
        if page.is_closed:
            return
        sheet.worlds.offer([(name, world.name) for name, world in worlds.items()])
        sheet.tools.offer([(one.name, one.title) for one in self._services.tooling.sets])
        sheet.tasks.offer([(known.name, known.task.title) for known in self._services.away.registry.all()])
        sheet.samplers.offer([(name, preset.name) for name, preset in samplers.items()])
        self._take_up(saved, ours, rehearsal)
        self._take_leftover()
        page.begin_writing()
        if not page.is_user:
            await self._find_models()

    async def _find_models(self) -> None:
        """Fill the list of models afterwards, because the search reads the disk."""
        models = await self._services.models.found()
        if not self._page.is_closed:
            self._page.sheet.model.offer([(model.path.name, model.name) for model in models])

    def _take_up(self, saved: Persona | None, ours: Persona | None, rehearsal: Rehearsal | None) -> None:
        """Set the persona as saved. If a test copy is open, apply its draft as unsaved changes to the original."""
        page = self._page
        if saved is not None:
            page.saved, page.draft, page.deeds.ours = saved, Draft(saved), ours
        if rehearsal is not None:
            page.take_over(rehearsal.draft, self.tr("restoring the draft"))
            page.deeds.show_copy(rehearsal.copy_id)

    def _take_leftover(self) -> None:
        page = self._page
        kept = self._leftover.take(page.saved.unique_name if page.saved else "", is_user=page.is_user)
        if kept is not None and not page.draft.is_like(kept):
            page.take_over(kept, self.tr("restoring unsaved changes"))
            page.banner.say(self.tr("Unsaved changes from the last session were restored. Undo discards them."))
