"""Load and choose models, and load the preferred model of a persona."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu

from lethe_app.errors import ModelCrashed, ModelError, ModelMissing, ModelOutOfMemory, ModelUnreadable
from lethe_app.services.events import ModelFailed, ModelLoading, ModelReady, ModelState, NoModel
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.formatting import describe_model, format_count, format_size
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.labels.models import format_offer, format_offer_fit, format_speed, format_trust, format_trust_briefly
from lethe_app.ui.dialogs.files import ask_for_model_file, ask_for_model_folder

if TYPE_CHECKING:
    from pathlib import Path

    from lethe_app.domain.model import ModelFile
    from lethe_app.domain.persona import Persona
    from lethe_app.services.extraction.qualification import Qualification
    from lethe_app.services.models.downloads import Downloads
    from lethe_app.services.models.recommendation import DownloadAssessment
    from lethe_app.services.models.service import ModelService
    from lethe_app.services.token_counts import TokenCountService
    from lethe_app.ui.shell.main_window import MainWindow

MAX_NAME_WIDTH = 320
"""Maximum width of a name in the menu of models, in pixels; a longer one is shown in full by its tooltip."""


class ModelController(Controller):
    """Follows the model's state. Errors of the model get a button with a remedy."""

    download_requested = Signal(object)
    """Emitted with the `DownloadAssessment` of the model that the user chose to download."""

    def __init__(
        self,
        window: MainWindow,
        models: ModelService,
        downloads: Downloads,
        qualification: Qualification,
        token_counts: TokenCountService,
    ) -> None:
        super().__init__(window)
        self._status, self._composer = window.chat.status, window.chat.composer
        self._models, self._downloads, self._qualification = models, downloads, qualification
        self._token_counts = token_counts
        self._used_tokens = 0
        self._model_name = ""
        self._persona: Persona | None = None
        self._offered_models: set[tuple[str, str]] = set()
        """Ids of personas with their preferred models; each is offered once while the window is open."""
        self._unsubscribers.append(models.changed.add(self._show_state))
        self.follow(self._check_preferred_model, models.changed)
        self._composer.count_requested.connect(self._tasks.create_slot(self._count_tokens, key="count"))
        self._status.clicked.connect(self.open_menu)
        self._actions.connect(models=self.open_menu)
        self._notifier.register_remedy(ModelCrashed, self.tr("Restart"), lambda: self.load_model(None), replaces_text=True)
        for kind in (ModelMissing, ModelUnreadable, ModelOutOfMemory):
            self._notifier.register_remedy(kind, self.tr("Choose model"), self.open_menu)
        self._show_state(models.state)

    @property
    def state(self) -> ModelState:
        """Return the state of the model."""
        return self._models.state

    def show_used_tokens(self, tokens: int) -> None:
        """Set the number of tokens that the last prompt took of the context; 0 if it is not known."""
        self._used_tokens = tokens
        if isinstance(self._models.state, ModelReady):
            self._show_state(self._models.state)

    def open_menu(self) -> None:
        """Open the menu of models below the status line."""
        self._tasks.start_task(self._show_menu(), key="models")

    def load_model(self, path: Path | None = None) -> None:
        """Load the model file `path`; without a path the service chooses it, or loads the current one again."""
        self._tasks.start_task(self._models.load(path), key="load")

    async def show_no_model_state(self) -> None:
        """Load no model yet: show that the first message loads one, or that there is none."""
        has_models = bool(await self._models.list_chat_models())
        self._status.show_no_model_loaded() if has_models else self._status.show_no_model()

    def _show_state(self, state: ModelState) -> None:
        if isinstance(state, ModelLoading):
            self._model_name = state.name
            self._status.show_loading(state.name, state.fraction)
        elif isinstance(state, ModelReady):
            self._model_name = state.model.file.name
            self._notifier.retract_errors(ModelError)
            self._status.show_ready(self._model_name, self._used_tokens, state.model.context)
        elif isinstance(state, NoModel):
            self._status.show_no_model()
        elif isinstance(state, ModelFailed):
            self._status.show_failed(self._model_name)
            self._notifier.report_error(state.error)

    async def _show_menu(self) -> None:
        self._status.show_side_activity(self.tr("Looking for models…"))
        try:
            models = await self._models.list_chat_models()
            better = await self._downloads.find_better(models)
        finally:
            self._status.show_side_activity("")
        menu = self.build_menu(models, better)
        # The right edges are aligned, and the menu stays to the right of the window's left edge, or Qt would move it.
        menu.ensurePolished()
        below = self._status.mapToGlobal(QPoint(self._status.width() - menu.sizeHint().width(), self._status.height()))
        left_edge = self._status.window().mapToGlobal(QPoint()).x()
        menu.popup(QPoint(max(left_edge, below.x()), below.y()))

    def build_menu(self, models: list[ModelFile], better: DownloadAssessment | None = None) -> QMenu:
        """Create the menu of models with their sizes; the loaded one is checked. `better` is offered for download first."""
        menu = QMenu(self._status)
        menu.setToolTipsVisible(True)
        menu.aboutToHide.connect(menu.deleteLater)
        state, colour = self._models.state, self._theme.palette.muted
        loaded_path = state.model.file.path if isinstance(state, ModelReady) else None
        if better is not None:
            self._add_download(menu, better)
            menu.addSeparator()
        for model in models:
            action = menu.addAction(self._elide(model.name, format_size(model.size)))
            action.setToolTip(f"{model.name}\n{describe_model(model)}")
            action.setCheckable(True)
            action.setChecked(model.path == loaded_path)
            action.triggered.connect(lambda _checked=False, path=model.path: self.load_model(path))
        if not models:
            menu.addAction(self.tr("No model found on this computer")).setEnabled(False)
        if loaded_path is not None and (verdict := self._qualification.verdict) is not None:
            menu.addSeparator()
            trust = menu.addAction(format_trust_briefly(verdict))
            trust.setToolTip(format_trust(verdict))
            trust.setEnabled(False)
        menu.addSeparator()
        pick_file = self._tasks.create_callback(self._load_picked_file, key="pick")
        pick_folder = self._tasks.create_callback(self._add_picked_folder, key="pick")
        menu.addAction(load_icon("model", colour), self.tr("Choose a GGUF file…"), pick_file)
        menu.addAction(load_icon("folder", colour), self.tr("Add model folder…"), pick_folder)
        menu.addAction(
            load_icon("download", colour), self.tr("All models and downloads…"), self._actions["model_manager"].trigger
        )
        if loaded_path is not None or isinstance(state, ModelFailed):
            menu.addAction(load_icon("refresh", colour), self.tr("Reload model"), lambda: self.load_model(None))
        return menu

    def _add_download(self, menu: QMenu, better: DownloadAssessment) -> None:
        """Add the recommended download, and below it what is expected of it."""
        progress = self._downloads.progress.get(better.model.file)
        if progress is not None and not progress.is_over:
            title = self.tr("Downloading {name}…").format(name=better.model.name)
            menu.addAction(self._elide(title), self._actions["model_manager"].trigger)
            return
        title = self.tr("Download {name}").format(name=better.model.name)
        action = menu.addAction(
            load_icon("download", self._theme.palette.muted), self._elide(title, format_size(better.model.size))
        )
        action.setToolTip(f"{better.model.why}\n{format_offer(better)}")
        action.triggered.connect(lambda: self.download_requested.emit(better))
        facts = format_speed(better.speed, uses_gpu=better.uses_gpu) or format_offer_fit(better.level)
        menu.addAction(self.tr("Recommended: {facts}").format(facts=facts)).setEnabled(False)

    def _elide(self, name: str, facts: str = "") -> str:
        """Return the text of a menu item with the facts in the right column, and the name no longer than has room."""
        shown = self._status.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, MAX_NAME_WIDTH)
        return (f"{shown}\t{facts}" if facts else shown).replace("&", "&&")

    async def _load_picked_file(self) -> None:
        path = await ask_for_model_file(self._status.window())
        if path is not None:
            await self._models.load(path)

    async def _add_picked_folder(self) -> None:
        folder = await ask_for_model_folder(self._status.window())
        if folder is not None:
            await self._models.add_folder(folder)
            await self._show_menu()

    async def add_folder(self) -> None:
        """Let the user add a folder with models, and notify how many were found in it."""
        folder = await ask_for_model_folder(self._status.window())
        if folder is None:
            return
        found = await self._models.add_folder(folder)
        count_text = format_count(len(found), self.tr("{n} model found."), self.tr("{n} models found."))
        self._notifier.notify(self.tr("The model folder “{folder}” was added.").format(folder=folder.name), count_text)

    async def _count_tokens(self, text: str) -> None:
        self._composer.show_tokens(text, await self._token_counts.count_one(text))

    # Preferred model of a persona

    def set_persona(self, persona: Persona) -> None:
        """Set the persona of the session on display."""
        self._persona = persona
        self._check_preferred_model()

    def _check_preferred_model(self) -> None:
        """Offer the persona's model when another one is ready; nothing is offered while a model is being loaded."""
        persona, state = self._persona, self._models.state
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
                partial(self.load_model, model.path),
            )
