"""Say once that the starter model is only for a first try, and recommend another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.services.events import ModelReady
from lethe_app.services.models.service import is_starter
from lethe_app.ui.chat.composer_card import ComposerCard
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.labels.models import format_offer

if TYPE_CHECKING:
    from lethe_app.services.models.downloads import Downloads
    from lethe_app.services.models.recommendation import DownloadAssessment
    from lethe_app.services.models.service import ModelService
    from lethe_app.services.preferences import Preferences
    from lethe_app.ui.chat.chat_panel import ChatPanel
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.model_downloads import ModelDownloadController
    from lethe_app.ui.core.actions import Actions
    from lethe_app.ui.core.tasks import TaskRunner


class StarterNotice(QObject):
    """Card below the first reply of the starter model; it stays until it is answered."""

    def __init__(
        self,
        chat: ChatPanel,
        actions: Actions,
        models: ModelService,
        preferences: Preferences,
        downloads: Downloads,
        download_controller: ModelDownloadController,
        replies: ReplyController,
        tasks: TaskRunner,
    ) -> None:
        super().__init__(chat)
        self._chat, self._actions, self._tasks = chat, actions, tasks
        self._models, self._preferences, self._downloads = models, preferences, downloads
        self._download_controller = download_controller
        self.card: ComposerCard | None = None
        replies.turn_ended.connect(lambda _turn: self._on_turn_ended())

    def _on_turn_ended(self) -> None:
        state, settings = self._models.state, self._preferences.current
        is_due = isinstance(state, ModelReady) and is_starter(state.model.file)
        if is_due and not settings.has_seen_starter_notice and not settings.awaited_download:
            self._tasks.start_task(self._show_card(), key="starter notice")

    async def _show_card(self) -> None:
        better = await self._downloads.find_better(await self._models.list_chat_models())
        await self._preferences.set(has_seen_starter_notice=True)
        self.card = self._build_card(better)
        self._chat.add_card(self.card)
        announce(self.card, f"{self.card.title.text()} {self.card.details.text()}")

    def _build_card(self, better: DownloadAssessment | None) -> ComposerCard:
        title = self.tr("Replies are written by the small starter model, which is only meant for a first try.")
        if better is None:
            details = self.tr(
                "It runs on any computer, but its replies are simple and rarely use its memories. Larger models write better."
            )
            card = ComposerCard(title, details)
        else:
            details = self.tr(
                "Its replies are simple and rarely use its memories. Recommended for this computer: {name}, {facts}."
            )
            card = ComposerCard(title, details.format(name=better.model.name, facts=format_offer(better)))
            card.add_button(
                self.tr("Download {name}").format(name=better.model.name), "primary", lambda: self._download(better)
            )
        card.add_button(self.tr("All models…"), "filled", self._open_models)
        card.add_button(self.tr("Not now"), "filled", self._remove_card)
        return card

    def _download(self, better: DownloadAssessment) -> None:
        self._remove_card()
        self._download_controller.start_download(better)

    def _open_models(self) -> None:
        self._remove_card()
        self._actions["model_manager"].trigger()

    def _remove_card(self) -> None:
        if self.card is not None:
            self._chat.remove_card(self.card)
            self.card = None
