"""Offer to load the model that a persona prefers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.domain.persona import Persona
from lethe_app.services.events import ModelState, Ready

if TYPE_CHECKING:
    from lethe_app.ui.controllers.model import ModelController
    from lethe_app.ui.pages.context import PageContext


class PreferredModelController(QObject):
    """Offers each preferred model once per persona while the window is open."""

    def __init__(self, place: PageContext, models: ModelController) -> None:
        super().__init__(place.window)
        self._place, self._models = place, models
        self._persona: Persona | None = None
        self._offered: set[tuple[str, str]] = set()
        self._forget = place.services.models.changed.add(self._follow)

    def close(self) -> None:
        """Disconnect from the model service."""
        self._forget()

    def meet(self, persona: Persona) -> None:
        """Set the persona of the session on display."""
        self._persona = persona
        self._follow(self._place.services.models.state)

    def _follow(self, state: ModelState) -> None:
        """Offer the persona's model when another one is ready; nothing is offered while a model is being loaded."""
        persona = self._persona
        if persona is None or not persona.preferred_model or not isinstance(state, Ready):
            return
        key = (persona.unique_name, persona.preferred_model)
        if state.model.file.path.name != persona.preferred_model and key not in self._offered:
            self._offered.add(key)
            self._place.bridge.spawn(self._offer(persona), lane="voice")

    async def _offer(self, persona: Persona) -> None:
        """Show the offer if the model is on this computer and the persona is still on display."""
        found = await self._place.services.models.found()
        model = next((one for one in found if one.path.name == persona.preferred_model), None)
        if model is not None and persona is self._persona:
            self._place.window.notifier.tell(
                self.tr("{name} prefers the model “{model}”.").format(name=persona.name, model=model.name),
                self.tr("Another model is loaded now."),
                self.tr("Load model"),
                partial(self._models.load, model.path),
            )
