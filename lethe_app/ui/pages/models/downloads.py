"""Cards of models to download: purpose, size, licence and progress."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton

from lethe_app.domain.model import DownloadStage
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.recommendation import READING_SPEED, DownloadAssessment, FitLevel, words_per_second
from lethe_app.ui.core.formatting import format_size
from lethe_app.ui.core.labels.models import format_download, format_offer_facts, format_offer_fit
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, run_dialog
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.labels import build_badge, build_heading, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

FIT_BADGES = {FitLevel.FITS: "good", FitLevel.TIGHT: "", FitLevel.TOO_LARGE: "danger"}
"""Style of the badge by fit."""


class DownloadOffer(QFrame):
    """Card of a model that can be downloaded."""

    def __init__(
        self, context: PageContext, downloads: Downloads, assessment: DownloadAssessment, use_model: Callable[[Path], object]
    ) -> None:
        """Create the card; `use_model` is called with the file of the model when it is to be used."""
        super().__init__()
        self._context, self._downloads, self._use_model = context, downloads, use_model
        model = assessment.model
        self.setProperty("panel", True)
        self.setAccessibleName(model.name)
        self.model = model
        self._is_recommended = assessment.is_recommended
        # What the button does depends on the state; its one connection calls `_button_action`.
        self._button_action: Callable[[], object] = lambda: None
        memory_text = self.tr("needs about {memory} of memory").format(memory=format_size(model.memory))
        title_row = FlowLayout(spacing=SPACE_3)
        title_row.addWidget(build_heading(model.name))
        if assessment.is_recommended:
            title_row.addWidget(build_badge(self.tr("Recommended"), "good"))
        self.fit_badge = build_badge(format_offer_fit(assessment.level), FIT_BADGES[assessment.level])
        title_row.addWidget(self.fit_badge)
        words = words_per_second(assessment.speed)
        if assessment.speed and words < READING_SPEED and assessment.level is not FitLevel.TOO_LARGE:
            title_row.addWidget(build_badge(self.tr("slow on this computer"), ""))
        self.state_label = build_small_label("")
        self.progress_bar = QProgressBar()
        self.progress_bar.setTextVisible(False)
        self.progress_bar.setAccessibleName(self.tr("Download of {name}").format(name=model.name))
        self.action_button = QPushButton()
        self.action_button.clicked.connect(self._run_button_action)
        self.discard_button = QPushButton(self.tr("Discard"))
        self.discard_button.setToolTip(self.tr("Discard the partial download"))
        self.discard_button.setAccessibleName(self.tr("Discard the partial download of {name}").format(name=model.name))
        self.discard_button.setProperty("filled", True)
        self.discard_button.clicked.connect(context.tasks.create_callback(self._discard, key="discard"))
        facts = build_small_label(f"{format_offer_facts(assessment)} · {memory_text}")
        labels = (create_text_label(model.why), facts, self.state_label)
        text_column = build_column(title_row, *labels, self.progress_bar, spacing=SPACE_2)
        buttons = build_column(self.action_button, self.discard_button, 1, spacing=SPACE_2)
        build_row((text_column, 1), buttons, spacing=SPACE_4, margins=SPACE_4, parent=self)

    def show_progress(self) -> None:
        """Show how far the download is, and what can be done."""
        downloads, model = self._downloads, self.model
        progress, partial_size = downloads.progress.get(model.file), downloads.partial_size(model)
        path = downloads.find_downloaded(model)
        is_running = progress is not None and not progress.is_over
        self.progress_bar.setVisible(is_running)
        if progress is not None:
            self.progress_bar.setRange(0, 1000 if progress.total else 0)
            self.progress_bar.setValue(round(1000 * progress.done / progress.total) if progress.total else 0)
        partial_text = self.tr("{kept} already downloaded.").format(kept=format_size(partial_size)) if partial_size else ""
        state_text = format_download(progress) if progress is not None and path is None else partial_text
        self.state_label.setText(state_text)
        self.state_label.setVisible(bool(state_text))
        self.state_label.setProperty("complaint", progress is not None and progress.stage is DownloadStage.FAILED)
        # Qt evaluates a style sheet's property selectors only when a widget is polished.
        self.state_label.style().polish(self.state_label)
        self.discard_button.setVisible(bool(partial_size) and path is None and not is_running)
        if path is not None:
            self._set_button_action(self.tr("Use model"), partial(self._use_model, path), primary=True)
        elif is_running:
            self._set_button_action(self.tr("Stop"), self._context.tasks.create_callback(downloads.stop, model.file))
        else:
            text = self.tr("Resume") if partial_size else self.tr("Download")
            self._set_button_action(text, partial(downloads.start_download, model), primary=self._is_recommended)

    def _run_button_action(self) -> None:
        self._button_action()

    async def _discard(self) -> None:
        """Discard the partial download after confirmation."""
        size = format_size(self._downloads.partial_size(self.model))
        question = ConfirmDialog(
            self._context.dialog_parent,
            self.tr("Discard partial download?"),
            self.tr("{kept} have been downloaded. A later download will start from the beginning.").format(kept=size),
            self.tr("Discard {kept} of “{name}”").format(kept=size, name=self.model.name),
        )
        if await run_dialog(question):
            await self._downloads.discard(self.model.file)
            self.show_progress()

    def _set_button_action(self, text: str, action: Callable[[], object], *, primary: bool = False) -> None:
        self.action_button.setText(text)
        self.action_button.setAccessibleName(f"{text}: {self.model.name}")
        self.action_button.setProperty("primary", primary)
        self.action_button.setProperty("filled", not primary)
        self.action_button.style().polish(self.action_button)
        self._button_action = action
