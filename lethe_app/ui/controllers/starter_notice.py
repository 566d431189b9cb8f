"""Say once that the starter model is only for a first try, and recommend another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lethe_app.services.events import ModelReady
from lethe_app.services.models.service import is_starter
from lethe_app.ui.chat.composer_card import ComposerCard
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import format_size
from lethe_app.ui.core.labels.models import format_offer, format_speed
from lethe_app.ui.widgets.buttons import IconButton

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
    """Card below the first reply of the starter model, complete or stopped; it stays until it is answered."""

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
        title = self.tr("The starter model is only a taste.")
        if better is None:
            card = ComposerCard(title, self.tr("Larger models write better and use their memories."), is_compact=True)
        else:
            speed = format_speed(better.speed, uses_gpu=better.uses_gpu)
            facts = " · ".join(filter(None, (better.model.name, format_size(better.model.size), speed)))
            card = ComposerCard(title, self.tr("Better: {facts}").format(facts=facts), is_compact=True)
            card.details.setToolTip(f"{better.model.why}\n{format_offer(better)}")
            download = card.add_button(self.tr("Download"), "primary", lambda: self._download(better))
            download.setAccessibleName(self.tr("Download {name}").format(name=better.model.name))
        card.add_button(self.tr("Models…"), "filled", self._open_models)
        close_button = IconButton(self._chat.theme, "close", self.tr("Not now"))
        close_button.clicked.connect(self._remove_card)
        card.add_icon_button(close_button)
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
