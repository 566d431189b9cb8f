"""Show the state of the chat model in the status line, and let the user load another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu

from lethe_app.domain.model import ModelFile
from lethe_app.errors import ModelCrashed, ModelMissing, ModelOutOfMemory, ModelUnreadable
from lethe_app.services.events import Failed, Loading, ModelState, NoModel, Ready
from lethe_app.ui.core.formatting import described
from lethe_app.ui.core.icons import icon
from lethe_app.ui.pages.models.memory_labels import trust_in_words
from lethe_app.ui.shell.gear_menu import add_model_folder, asked_for_file, asked_for_folder

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices
    from lethe_app.ui.core.tasks import Bridge
    from lethe_app.ui.shell.main_window import MainWindow


class ModelController(QObject):
    """Follows the model's state. Errors of the model get a button with a remedy."""

    def __init__(self, window: MainWindow, services: AppServices, bridge: Bridge) -> None:
        super().__init__(window)
        self._window, self._services, self._bridge = window, services, bridge
        self._status = window.chat.status
        self._used = 0
        self._name = ""
        self._forget = services.models.changed.add(self._show)
        self._status.clicked.connect(self.choose)
        window.actions_.connect(models=self.choose)
        window.notifier.offer(ModelCrashed, self.tr("Restart"), self.restart, is_enough=True)
        for kind in (ModelMissing, ModelUnreadable, ModelOutOfMemory):
            window.notifier.offer(kind, self.tr("Choose model"), self.choose)
        self._show(services.models.state)

    def show_used(self, tokens: int) -> None:
        """Set the number of tokens that the last prompt took of the context; 0 if it is not known."""
        self._used = tokens
        if isinstance(self._services.models.state, Ready):
            self._show(self._services.models.state)

    def choose(self) -> None:
        """Open the menu of models below the status line."""
        self._bridge.spawn(self._choose(), lane="models")

    def load(self, path: Path | None = None) -> None:
        """Load the model file `path`; without a path the service chooses the model."""
        self._bridge.spawn(self._services.models.load(path), lane="load")

    async def wait(self) -> None:
        """Load no model yet: show that the first message loads one, or that there is none."""
        chatting = [model for model in await self._services.models.found() if not model.is_embedding]
        self._status.show_waiting() if chatting else self._status.show_none()

    def restart(self) -> None:
        """Load the current model again."""
        self._bridge.spawn(self._services.models.restart(), lane="load")

    def close(self) -> None:
        """Disconnect from the model service."""
        self._forget()

    def _show(self, state: ModelState) -> None:
        if isinstance(state, Loading):
            self._name = state.name
            self._status.show_loading(state.name, state.fraction)
        elif isinstance(state, Ready):
            self._name = state.model.file.name
            self._status.show_ready(self._name, self._used, state.model.context)
        elif isinstance(state, NoModel):
            self._status.show_none()
        elif isinstance(state, Failed):
            self._status.show_failed(self._name)
            self._window.notifier.report(state.error)

    async def _choose(self) -> None:
        self._status.show_busy(self.tr("Looking for models…"))
        try:
            models = await self._services.models.found()
        finally:
            self._status.show_rest()
        menu = self.menu_of(models)
        corner = self._status.mapToGlobal(QPoint(self._status.width() - menu.sizeHint().width(), self._status.height()))
        menu.popup(corner)

    def menu_of(self, models: list[ModelFile]) -> QMenu:
        """Create the menu of models with source and size; the loaded one is checked. Embedding models are left out."""
        menu = QMenu(self._window)
        menu.aboutToHide.connect(menu.deleteLater)
        state, colour = self._services.models.state, self._window.theme.palette.muted
        present = state.model.file.path if isinstance(state, Ready) else None
        usable = [model for model in models if not model.is_embedding]
        for model in usable:
            action = menu.addAction(f"{model.name}\t{described(model)}".replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(model.path == present)
            action.triggered.connect(lambda _checked=False, path=model.path: self.load(path))
        if not usable:
            menu.addAction(self.tr("No model found on this computer")).setEnabled(False)
        if present is not None and (words := self._verdict_words()):
            menu.addSeparator()
            menu.addAction(words).setEnabled(False)
        menu.addSeparator()
        menu.addAction(icon("model", colour), self.tr("Choose a GGUF file…"), self._pick_file)
        menu.addAction(icon("folder", colour), self.tr("Add model folder…"), self._pick_folder)
        if present is not None or isinstance(state, Failed):
            menu.addAction(icon("refresh", colour), self.tr("Reload model"), self.restart)
        return menu

    def _verdict_words(self) -> str:
        """Return the result of the qualification of the loaded model in words; empty before there is one."""
        verdict = self._services.trust.verdict
        return trust_in_words(verdict) if verdict is not None else ""

    def _pick_file(self) -> None:
        self._bridge.spawn(self._load_picked(), lane="pick")

    async def _load_picked(self) -> None:
        path = await asked_for_file(self._window)
        if path is not None:
            await self._services.models.load(path)

    def _pick_folder(self) -> None:
        self._bridge.spawn(self._search_picked(), lane="pick")

    async def _search_picked(self) -> None:
        folder = await asked_for_folder(self._window)
        if folder is not None:
            await add_model_folder(self._services, folder)
            await self._choose()
