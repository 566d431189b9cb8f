"""Download models, and recommend one to who uses the starter model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lethe_app.config.options import ModelChoices
from lethe_app.domain.model import DownloadProgress, DownloadStage
from lethe_app.services.events import ModelReady
from lethe_app.services.models.service import is_starter
from lethe_app.ui.chat.composer_card import ComposerCard
from lethe_app.ui.controllers.controller import Controller
from lethe_app.ui.core.accessibility import announce
from lethe_app.ui.core.formatting import format_size
from lethe_app.ui.core.labels.models import format_offer, format_speed
from lethe_app.ui.widgets.buttons import IconButton

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from uuid import UUID

    from lethe_app.domain.chat import ChatSession
    from lethe_app.services.models.downloads import Downloads
    from lethe_app.services.models.recommendation import DownloadAssessment
    from lethe_app.services.models.service import ModelService
    from lethe_app.services.preferences import Preferences
    from lethe_app.ui.controllers.conversation.replies import ReplyController
    from lethe_app.ui.controllers.conversation.shown_session import ShownSession
    from lethe_app.ui.shell.main_window import MainWindow

ALL_GPU_LAYERS = -1
"""Setting that offloads all layers of a model to the graphics card."""


class ModelDownloadController(Controller):
    """Starts downloads that the user asked for on the welcome page, in the model menu or in the chat, and loads the model as
    soon as no reply is in progress. A download that was not complete when the program was closed is offered again; a first
    one in a card below the first reply of the starter model, complete or stopped, which is shown in that
    conversation until it is answered.
    """

    def __init__(
        self,
        window: MainWindow,
        downloads: Downloads,
        models: ModelService,
        preferences: Preferences,
        replies: ReplyController,
        shown_session: ShownSession,
    ) -> None:
        super().__init__(window)
        self._chat, self._replies, self._shown = window.chat, replies, shown_session
        self._downloads, self._models, self._preferences = downloads, models, preferences
        self._card: ComposerCard | None = None
        self._card_session: UUID | None = None
        """Session below whose reply the card was shown first, or the one that goes on from it."""
        self._downloaded_path: Path | None = None
        """Model that is loaded when the reply in progress is complete."""
        self._unsubscribers.append(downloads.changed.add(self._on_progress))
        replies.turn_ended.connect(lambda turn: self._on_turn_ended(turn.session_id))
        shown_session.session_changed.connect(self._on_session_changed)

    def start_download(self, assessment: DownloadAssessment) -> None:
        """Start the download; the model is loaded when it is complete."""
        self._tasks.start_task(self._start(assessment), key="download")

    async def offer_to_resume(self) -> None:
        """Offer to go on with a download that was not complete when the program was closed."""
        model = await self._downloads.find_offer(self._preferences.current.awaited_download)
        if model is None:
            return
        if (path := self._downloads.find_downloaded(model)) is not None:
            self._load_when_idle(path)
        elif partial_size := self._downloads.partial_size(model):
            self._notifier.notify(
                self.tr("The download of {name} is not complete.").format(name=model.name),
                self.tr("{done} of {total} are on this computer.").format(
                    done=format_size(partial_size), total=format_size(model.size)
                ),
                self.tr("Resume"),
                lambda: self._downloads.start_download(model),
                is_lasting=True,
            )

    async def _start(self, assessment: DownloadAssessment) -> None:
        model = assessment.model
        await self._preferences.set(awaited_download=model.file)
        choices = self._preferences.current.model_choices
        if assessment.uses_gpu and model.file not in choices:  # the user has chosen no settings for this file before
            await self._preferences.set(model_choices={**choices, model.file: ModelChoices(gpu_layers=ALL_GPU_LAYERS)})
        self._downloads.start_download(model)
        self._notifier.notify(
            self.tr("Downloading {name}.").format(name=model.name),
            self.tr("Keep chatting; the model is loaded when it is complete."),
            self.tr("Show downloads"),
            self._actions["model_manager"].trigger,
        )

    def _on_progress(self, progress: DownloadProgress) -> None:
        if progress.model.file != self._preferences.current.awaited_download:
            return
        if progress.stage is DownloadStage.DONE and progress.path is not None:
            self._load_when_idle(progress.path)
        elif progress.stage is DownloadStage.FAILED:
            self._notifier.notify(
                self.tr("The download of {name} stopped.").format(name=progress.model.name),
                progress.problem,
                self.tr("Try again"),
                lambda: self._downloads.start_download(progress.model),
                is_lasting=True,
            )

    def _load_when_idle(self, path: Path) -> None:
        self._downloaded_path = path
        if not self._replies.is_replying:
            self._load_downloaded()

    def _load_downloaded(self) -> None:
        if self._downloaded_path is not None and not self._replies.is_replying:
            path, self._downloaded_path = self._downloaded_path, None
            self._tasks.start_task(self._load(path), key="load")

    async def _load(self, path: Path) -> None:
        await self._preferences.set(awaited_download="")
        await self._models.load(path)
        state = self._models.state
        if isinstance(state, ModelReady):
            self._notifier.notify(self.tr("{name} is loaded and writes the next reply.").format(name=state.model.file.name))

    # Card below the first reply

    def _on_turn_ended(self, session_id: UUID) -> None:
        self._load_downloaded()
        state, settings = self._models.state, self._preferences.current
        is_due = isinstance(state, ModelReady) and is_starter(state.model.file)
        if is_due and not settings.has_seen_starter_notice and not settings.awaited_download:
            self._tasks.start_task(self._show_card(session_id), key="starter notice")

    async def _show_card(self, session_id: UUID) -> None:
        await self._preferences.set(has_seen_starter_notice=True)  # before the search, during which another turn may end
        better = await self._downloads.find_better(await self._models.list_chat_models())
        self._card, self._card_session = self._build_card(better), session_id
        self._chat.add_card(self._card)
        self._card.setVisible(self._shown.session_id == session_id)
        announce(self._card, f"{self._card.title.text()} {self._card.details.text()}")

    def _on_session_changed(self, session: ChatSession, replaced_id: UUID | None) -> None:
        if self._card is not None:
            if replaced_id == self._card_session:
                self._card_session = session.guid
            self._card.setVisible(session.guid == self._card_session)

    def _build_card(self, better: DownloadAssessment | None) -> ComposerCard:
        title = self.tr("The starter model is only a taste.")
        if better is None:
            card = ComposerCard(title, self.tr("Larger models write better and use their memories."), is_compact=True)
        else:
            speed = format_speed(better.speed, uses_gpu=better.uses_gpu)
            facts = " · ".join(filter(None, (better.model.name, format_size(better.model.size), speed)))
            card = ComposerCard(title, self.tr("Better: {facts}").format(facts=facts), is_compact=True)
            card.details.setToolTip(f"{better.model.why}\n{format_offer(better)}")
            start = partial(self.start_download, better)
            download = card.add_button(self.tr("Download"), "primary", lambda: self._answer(start))
            download.setAccessibleName(self.tr("Download {name}").format(name=better.model.name))
        open_models = self._actions["model_manager"].trigger
        card.add_button(self.tr("Models…"), "filled", lambda: self._answer(open_models))
        close_button = IconButton(self._chat.theme, "close", self.tr("Not now"))
        close_button.clicked.connect(lambda: self._answer(lambda: None))
        card.add_icon_button(close_button)
        return card

    def _answer(self, action: Callable[[], object]) -> None:
        """Remove the card, and do what its button says."""
        if self._card is not None:
            self._chat.remove_card(self._card)
            self._card = None
        action()
