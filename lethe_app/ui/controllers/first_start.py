"""Welcome screen of the first start: fills it, stores the user's choices and opens the first session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.domain.model import KvType, ModelFile
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.models.memory_fit import FitLevel, fit, free_memory
from lethe_app.ui.shell.gear_menu import add_model_folder, asked_for_file, asked_for_folder
from lethe_app.ui.shell.welcome import Welcome

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.controllers.model import ModelController
    from lethe_app.ui.controllers.sessions import Conversations
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow


class FirstStart(QObject):
    """Controller of the welcome screen. An error is reported, and the user can press Begin again."""

    def __init__(
        self, window: MainWindow, services: AppServices, conversations: Conversations, desk: ModelController, bridge: Bridge
    ) -> None:
        super().__init__(window)
        self._window, self._services, self._conversations, self._desk = window, services, conversations, desk
        self._bridge = bridge
        self._picked: ModelFile | None = None
        self.page = Welcome(window.theme)
        self.page.begun.connect(lambda name, model, persona: bridge.spawn(self._begin(name, model, persona), lane="begin"))
        self.page.file_wanted.connect(lambda: bridge.spawn(self._pick_file(), lane="pick"))
        self.page.folder_wanted.connect(lambda: bridge.spawn(self._pick_folder(), lane="pick"))

    async def run(self) -> None:
        """Show the screen and fill it. The search for models comes last, because it takes longest."""
        self.page.dress()
        self._window.greet(self.page)
        self.page.name.setFocus()
        personas = await self._services.library.personas()
        self.page.set_personas([self._conversations.row_of(persona) for persona in personas])
        await self._find_models()

    async def _find_models(self, chosen: Path | None = None) -> None:
        found = await self._services.models.found()
        picked = [self._picked] if self._picked and self._picked.path not in {model.path for model in found} else []
        models = [*picked, *found]
        large = await asyncio.to_thread(self._too_large, models)
        self.page.set_models(sorted(models, key=lambda model: model.path in large), chosen, large)

    def _too_large(self, models: Sequence[ModelFile]) -> set[Path]:
        """Return the paths of the models that do not fit into the memory that is free now."""
        settings, free = self._services.preferences.current, free_memory()
        kv = KvType(settings.kv_type)
        return {model.path for model in models if fit(model, settings.context, kv, free).verdict is FitLevel.TOO_LARGE}

    async def _pick_file(self) -> None:
        path = await asked_for_file(self._window)
        if path is None:
            return
        self._picked = ModelFile(path, path.stem, path.stat().st_size, architecture="", source=self.tr("Your file"))
        await self._find_models(path)

    async def _pick_folder(self) -> None:
        folder = await asked_for_folder(self._window)
        if folder is None:
            return
        await add_model_folder(self._services, folder)
        found = await self._services.models.found()
        inside = [model for model in found if folder in model.path.parents]
        await self._find_models(inside[0].path if inside else None)
        if not inside:
            self._window.notifier.tell(self.tr("No model was found in {folder}.").format(folder=folder.name))

    async def _begin(self, name: str, model: Path | None, persona_id: str) -> None:
        try:
            await self._become(name or self.tr("Friend"))  # “You” could not be told of in any sentence
            await self._services.preferences.set(welcomed=True, last_persona=persona_id)
        except LetheError:
            self.page.again()
            raise
        if model is None:
            await self._desk.wait()
        else:
            self._desk.load(model)
        await self._conversations.start()
        self._window.show_conversation()

    async def _become(self, name: str) -> None:
        """Select the user persona of that name, and create it unless an earlier attempt did."""
        selves = [persona for persona in await self._services.library.user_personas() if persona.name == name]
        own = selves[0] if selves else await self._services.library.save_persona(Persona(name=name, is_user=True))
        await self._services.preferences.set(user_persona=own.unique_name)
