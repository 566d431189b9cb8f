"""Welcome screen of the first start: fills it, stores the user's choices and opens the first session."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from lethe_app.domain.model import KvType, ModelFile
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError
from lethe_app.services.models.recommendation import (
    DownloadAssessment,
    FitLevel,
    estimate_fit,
    estimate_speed,
    rank_local_models,
)
from lethe_app.services.models.service import describe_user_model
from lethe_app.system_memory import available_memory
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.dialogs.files import ask_for_model_file, ask_for_model_folder
from lethe_app.ui.shell.welcome import Welcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from lethe_app.services.library import Library
    from lethe_app.services.models.downloads import Downloads
    from lethe_app.services.models.service import ModelService
    from lethe_app.services.preferences import Preferences
    from lethe_app.ui.controllers.persona_directory import PersonaDirectory
    from lethe_app.ui.shell.main_window import MainWindow


class FirstStart(Controller):
    """Controller of the welcome screen. An error is reported, and the user can press Begin again."""

    model_chosen = Signal(object)
    """Emitted with the path of the model to load, the `DownloadAssessment` of the one to download, or None to load none yet."""

    def __init__(
        self,
        window: MainWindow,
        library: Library,
        models: ModelService,
        downloads: Downloads,
        preferences: Preferences,
        directory: PersonaDirectory,
        open_session: Callable[[], Awaitable[None]],
    ) -> None:
        """Create the welcome screen; `open_session` is awaited when the user has finished it."""
        super().__init__(window)
        self._library, self._models, self._downloads, self._preferences = library, models, downloads, preferences
        self._directory, self._open_session = directory, open_session
        self._picked_model: ModelFile | None = None
        self.page = Welcome(window.theme)
        self.page.start_requested.connect(self._tasks.create_slot(self._finish_welcome, key="first start"))
        self.page.file_requested.connect(self._tasks.create_slot(self._pick_file, key="pick"))
        self.page.folder_requested.connect(self._tasks.create_slot(self._pick_folder, key="pick"))

    async def show_welcome(self) -> None:
        """Show the screen and fill it. The search for models comes last, because it takes longest."""
        self.page.apply_theme()
        self._window.show_welcome_page(self.page)
        self.page.name_field.setFocus()
        personas = await self._library.personas()
        self.page.set_personas([self._directory.build_persona_row(persona) for persona in personas])
        await self._find_models()

    async def _find_models(self, selected_path: Path | None = None) -> None:
        found, hardware = await asyncio.gather(self._models.list_chat_models(), self._downloads.hardware.current())
        picked = self._picked_model
        models = [picked, *found] if picked and picked.path not in {model.path for model in found} else found
        too_large = await asyncio.to_thread(self._find_too_large, models)
        models = rank_local_models(models, hardware)
        speeds = {model.path: estimate_speed(model.size, hardware) for model in models}
        models.sort(key=lambda model: model.path in too_large)
        self.page.set_models(models, selected_path, too_large, speeds)
        self.page.set_offer(await self._downloads.find_better(models))

    def _find_too_large(self, models: Sequence[ModelFile]) -> set[Path]:
        """Return the paths of the models that do not fit into the memory that is free now."""
        settings, free = self._preferences.current, available_memory()
        kv = KvType(settings.kv_type)
        return {model.path for model in models if estimate_fit(model, settings.context, kv, free).level is FitLevel.TOO_LARGE}

    async def _pick_file(self) -> None:
        path = await ask_for_model_file(self._window)
        if path is None:
            return
        described = await asyncio.to_thread(describe_user_model, path)
        self._picked_model = replace(described, source=self.tr("Your file"))
        await self._find_models(path)

    async def _pick_folder(self) -> None:
        folder = await ask_for_model_folder(self._window)
        if folder is None:
            return
        models_in_folder = await self._models.add_folder(folder)
        await self._find_models(models_in_folder[0].path if models_in_folder else None)
        if not models_in_folder:
            self._notifier.notify(self.tr("No model was found in {folder}.").format(folder=folder.name))

    async def _finish_welcome(self, name: str, model: Path | DownloadAssessment | None, persona_id: str) -> None:
        try:
            # “You” as a name would make facts such as “You has a dog”.
            await self._select_user_persona(name or self.tr("Friend"))
            await self._preferences.set(welcomed=True, last_persona=persona_id)
        except LetheError:
            self.page.enable_retry()
            raise
        self.model_chosen.emit(model)
        await self._open_session()
        self._window.close_welcome_pages()

    async def _select_user_persona(self, name: str) -> None:
        """Select the user persona of that name, and create it unless an earlier attempt did."""
        known = next((persona for persona in await self._library.user_personas() if persona.name == name), None)
        user_persona = known or await self._library.save_persona(Persona(name=name, is_user=True))
        await self._preferences.set(user_persona=user_persona.unique_name)
