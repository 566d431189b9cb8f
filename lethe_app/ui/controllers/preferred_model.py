"""Offer to load the model that a persona prefers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.domain.persona import Persona
from lethe_app.services.events import ModelReady, ModelState

if TYPE_CHECKING:
    from lethe_app.services.models.service import ModelService
    from lethe_app.ui.controllers.model import ModelController
    from lethe_app.ui.core.tasks import TaskRunner
    from lethe_app.ui.shell.notifier import Notifier


class PreferredModelController(QObject):
    """Offers each preferred model once per persona while the window is open."""

    def __init__(self, notifier: Notifier, models: ModelService, model_controller: ModelController, tasks: TaskRunner) -> None:
        super().__init__(notifier)
        self._notifier, self._models, self._model_controller, self._tasks = notifier, models, model_controller, tasks
        self._persona: Persona | None = None
        self._offered_models: set[tuple[str, str]] = set()
        self._unsubscribe = models.changed.add(self._on_model_changed)

    def close(self) -> None:
        """Disconnect from the model service."""
        self._unsubscribe()

    def set_persona(self, persona: Persona) -> None:
        """Set the persona of the session on display."""
        self._persona = persona
        self._on_model_changed(self._models.state)

    def _on_model_changed(self, state: ModelState) -> None:
        """Offer the persona's model when another one is ready; nothing is offered while a model is being loaded."""
        persona = self._persona
        if persona is None or not persona.preferred_model or not isinstance(state, ModelReady):
            return
        key = (persona.unique_name, persona.preferred_model)
        if state.model.file.path.name != persona.preferred_model and key not in self._offered_models:
            self._offered_models.add(key)
            self._tasks.start_task(self._offer_model(persona), key="preferred model")

    async def _offer_model(self, persona: Persona) -> None:
        """Show the offer if the model is on this computer and the persona is still on display."""
        found = await self._models.list_chat_models()
        model = next((one for one in found if one.path.name == persona.preferred_model), None)
        if model is not None and persona is self._persona:
            self._notifier.notify(
                self.tr("{name} prefers the model “{model}”.").format(name=persona.name, model=model.name),
                self.tr("Another model is loaded now."),
                self.tr("Load model"),
                partial(self._model_controller.load_model, model.path),
            )
