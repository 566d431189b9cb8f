"""Page “Models”: the models on this computer with memory estimates, loading and downloads."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from operator import attrgetter
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QTabBar, QWidget

from lethe_app.config.options import ModelChoices
from lethe_app.domain.model import DownloadProgress, KvType, ModelFile
from lethe_app.errors import LetheError, SpeechModelMissing
from lethe_app.services.events import ModelLoading, ModelReady, ModelState
from lethe_app.services.models.hardware import Hardware
from lethe_app.services.models.recommendation import FitLevel, MemoryEstimate, estimate_fit, estimate_speed
from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.dictation import Dictation
from lethe_app.system_memory import available_memory
from lethe_app.ui.core.formatting import abbreviate_tokens, format_size
from lethe_app.ui.core.labels.models import format_fit_level, format_short_speed
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_4
from lethe_app.ui.core.routes import ModelsRoute, Route
from lethe_app.ui.dialogs.files import ask_for_file, ask_for_model_file, ask_for_model_folder
from lethe_app.ui.pages.advanced_chip import build_advanced_chip
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.models.card import ModelCard, ModelEntry, ModelPageServices
from lethe_app.ui.pages.models.downloads import DownloadOffer
from lethe_app.ui.pages.models.embedder_use import EmbedderUse
from lethe_app.ui.pages.record_page.base import ReloadingPage
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import CardColumn, create_splitter
from lethe_app.ui.widgets.labels import build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_row
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

DOWNLOAD_TAB, SPEECH_TAB = 1, 2
MEASURE_INTERVAL_MS = 3000
"""Interval in milliseconds at which the free memory is measured."""


class SpeechModelSheet(CardColumn):
    """Card with the model in use, above those of the downloads, which the page adds."""

    def __init__(self, context: PageContext, preferences: Preferences, dictation: Dictation) -> None:
        super().__init__()
        self._context, self._preferences, self._dictation = context, preferences, dictation
        self._spawn = context.tasks.start_task
        column = self.add_card(
            self.tr("Dictation"),
            self.tr(
                "What you say is recognised on this computer by a Whisper model. The sound is never stored, and never leaves"
                " this computer."
            ),
        )
        self.model_label = create_text_label("")
        self.pick_button = build_button(self.tr("Choose file…"), lambda: self._spawn(self._pick_file(), "pick"))
        column.addLayout(build_row((self.model_label, 1), self.pick_button, spacing=SPACE_2))

    def use_model(self, path: Path) -> None:
        """Recognise with a model that was downloaded."""
        self._spawn(self._preferences.set(dictation_model=str(path)), "use")

    def refresh(self) -> None:
        """Show which model recognises."""
        self._spawn(self._show_model(), "speech model")

    async def _show_model(self) -> None:
        try:
            path = await self._dictation.find_model()
        except SpeechModelMissing as error:  # its remedy leads to this page
            self.model_label.setText(f"{error.message} {self.tr('Download one below, or choose a file.')}")
            return
        except LetheError as error:
            self.model_label.setText(str(error))
            return
        model = next((one for one in await self._dictation.list_models() if one.path == path.resolve()), None)
        if model is None:
            self.model_label.setText(self.tr("{file} is not a complete Whisper model.").format(file=path.name))
            return
        languages = self.tr("many languages") if model.is_multilingual else self.tr("English only")
        self.model_label.setText(
            self.tr("In use: {file} · {languages} · {size}").format(
                file=path.name, languages=languages, size=format_size(model.size)
            )
        )

    async def _pick_file(self) -> None:
        title, kind = self.tr("Choose speech recognition model"), self.tr("Whisper models (*.bin)")
        path = await ask_for_file(self._context.dialog_parent, title, kind)
        if path is not None:
            await self._preferences.set(dictation_model=str(path))


class ModelPage(ReloadingPage):
    """Page with three tabs: local models, downloads and speech recognition. No network connection is made before the user
    starts a download.
    """

    def __init__(self, context: PageContext, services: ModelPageServices, embedder_use: EmbedderUse) -> None:
        super().__init__(context, self.tr("Models"))
        self._services, self._embedder_use, self._spawn = services, embedder_use, context.tasks.start_task
        self._models: list[ModelFile] = []
        self._hardware: Hardware | None = None
        self._offers: list[DownloadOffer] = []
        self.tabs = QTabBar()
        self.tabs.addTab(self.tr("On this computer"))
        self.tabs.addTab(self.tr("Download"))
        self.tabs.addTab(self.tr("Speech"))
        self.tabs.setAccessibleName(self.tr("Models"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.currentChanged.connect(self._show_tab)
        self.search = SearchField(self.theme, self.tr("Search models"))
        self._build_table()
        self.search.textChanged.connect(self.rows.set_filter)
        self.card = ModelCard(context, services, embedder_use, self.saver, self.run_undoable)
        self.advanced_chip = build_advanced_chip("models", services.preferences, context.tasks)
        self.advanced_chip.toggled.connect(lambda is_on: self.card.show_advanced(is_on=is_on))
        self.card.show_advanced(is_on=self.advanced_chip.isChecked())
        self.download_sheet = CardColumn()
        self.speech_sheet = SpeechModelSheet(context, services.preferences, services.dictation)
        self.splitter = create_splitter(self.table, self.card)
        self.splitter.setSizes([640, 560])
        margins = (SPACE_4, SPACE_1, SPACE_4, 0)
        self.body.addLayout(build_row(self.tabs, 1, self.advanced_chip, self.search, spacing=SPACE_2, margins=margins))
        for part in (self.splitter, self.download_sheet, self.speech_sheet):
            self.body.addWidget(part, 1)
        self.add_button(self.tr("Open file…"), lambda: self._spawn(self._pick_file(), "pick"), "model")
        self.add_button(self.tr("Add folder…"), lambda: self._spawn(self._pick_folder(), "pick"), "folder")
        self._unsubscribers += [
            *self.card.unsubscribers,
            services.downloads.changed.add(self._on_download_progress),
            services.preferences.changed.add(lambda _settings: self._on_settings_changed()),
            services.models.changed.add(self._on_model_changed),
        ]
        self._measure_timer = QTimer(self, interval=MEASURE_INTERVAL_MS)
        self._measure_timer.timeout.connect(self._update_fits)
        self._measure_timer.start()
        self._show_tab(0)
        self.subtitle.set_full_text(self.tr("searching for models…"))
        self.reload()
        self._spawn(self._load_offers())
        self._spawn(self._load_hardware())

    def _build_table(self) -> None:
        tr, size, length, colour = self.tr, attrgetter("model.size"), attrgetter("model.context_length"), self._fit_level_colour

        def memory(one: ModelEntry) -> str:
            return "" if one.model.is_embedding else format_fit_level(one.fit.level)

        columns: list[Column[ModelEntry]] = [
            Column(tr("Model"), self._name_text, lambda one: one.model.name.casefold(), width=0, min_width=200),
            Column(tr("Size"), lambda one: format_size(size(one)), size, 76, hides_at=4, is_right_aligned=True),
            Column(tr("Speed"), lambda one: format_short_speed(one.speed), attrgetter("speed"), 118, hides_at=5),
            Column(tr("Quantisation"), attrgetter("model.quantization"), width=104, hides_at=2),
            Column(tr("Context"), lambda one: abbreviate_tokens(length(one)), length, 80, hides_at=1, is_right_aligned=True),
            Column(tr("Memory"), memory, attrgetter("fit.needed"), 104, hides_at=6, colour=colour),
            Column(tr("Source"), attrgetter("model.source"), width=116, hides_at=3),
        ]
        self.rows: FilteredTableModel[ModelEntry] = FilteredTableModel(
            columns,
            key=lambda one: one.model.path,
            search_text=lambda one: f"{one.model.name} {one.model.source} {one.model.quantization} {one.model.architecture}",
        )
        empty = self.tr("No models found. Open a file, add a folder or download one.")
        self.table: Table[ModelEntry] = Table(self.rows, self.theme, self.tr("Models"), empty)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.current_changed.connect(lambda one: self.card.show_model(one) if one is not None else None)
        self.table.opened.connect(lambda one: self.card.load_model(one.model))

    def first_focus_widget(self) -> QWidget:
        return self.table

    def show_route(self, route: Route) -> None:
        if isinstance(route, ModelsRoute) and route.shows_speech:
            self.tabs.setCurrentIndex(SPEECH_TAB)

    def close_page(self) -> None:
        self._measure_timer.stop()
        super().close_page()

    # Local models.

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        """Store settings of the model in the file with the name `key`; without any, it follows the general ones."""
        stored = self._services.preferences.current.model_choices
        choices = ModelChoices.model_validate({**dict(stored.get(str(key), ModelChoices())), **values})
        kept = {file: one for file, one in {**stored, str(key): choices}.items() if one != ModelChoices()}
        await self._services.preferences.set(model_choices=kept)

    def show_field(self, key: Hashable, name: str, value: object) -> None:
        self.card.show_setting(key, name, value)

    async def load(self) -> None:
        self._models = await self._services.models.list_all_models()
        self._update_fits()
        if self.table.current_row is not None:
            return
        state = self._services.models.state
        loaded_path = state.model.file.path if isinstance(state, ModelReady) else None
        if not self.table.select_row(loaded_path) and self.rows.visible_rows:
            self.table.select_row(self.rows.visible_rows[0].model.path)

    async def _load_hardware(self) -> None:
        """Measure the memory bandwidth, from which the speed of each model is estimated."""
        self._hardware = await self._services.downloads.hardware.current()
        self._update_fits()

    async def _load_offers(self) -> None:
        downloads = self._services.downloads
        chat_models, speech_models = await downloads.assess_offers(), await downloads.assess_speech_offers()
        text = self.tr(
            "Models are downloaded from Hugging Face, or from the mirror in the settings, only when you start a download."
        )
        for sheet, assessments, use_model in (
            (self.download_sheet, chat_models, self._use_download),
            (self.speech_sheet, speech_models, self.speech_sheet.use_model),
        ):
            offers = [DownloadOffer(self._context, downloads, assessment, use_model) for assessment in assessments]
            for offer in offers:
                sheet.add_widget(offer)
                offer.show_progress()
            self._offers += offers
            sheet.add_widget(build_small_label(text))
        self.speech_sheet.refresh()

    def _on_settings_changed(self) -> None:
        self._update_fits()
        self.speech_sheet.refresh()

    def _on_model_changed(self, state: ModelState) -> None:
        if not isinstance(state, ModelLoading):  # whose progress the card shows
            self._update_fits()

    def _name_text(self, entry: ModelEntry) -> str:
        state = self._services.models.state
        is_loaded = isinstance(state, ModelReady) and state.model.file.path == entry.model.path
        if is_loaded or (entry.model.is_embedding and self._embedder_use.is_used(entry.model)):
            return f"✓ {entry.model.name}"  # as in the menu of models
        return entry.model.name

    def _update_fits(self) -> None:
        """Update the memory estimates with the memory that is free now."""
        free = available_memory()
        state = self._services.models.state
        if isinstance(state, ModelReady):  # what the loaded one takes would be given back first
            free += self._compute_fit(state.model.file, 0).needed
        self.rows.set_rows(
            [ModelEntry(model, self._compute_fit(model, free), self._estimate_speed(model)) for model in self._models]
        )
        self.subtitle.set_full_text(self.tr("{free} of memory free").format(free=format_size(free)))

    def _compute_fit(self, model: ModelFile, free: int) -> MemoryEstimate:
        settings = self._services.preferences.current.for_model(model.path.name)
        return estimate_fit(model, settings.context, KvType(settings.kv_type), free)

    def _estimate_speed(self, model: ModelFile) -> float:
        """Return tokens per second on the processor; 0 if it is not known or layers run on the graphics card."""
        settings = self._services.preferences.current.for_model(model.path.name)
        if self._hardware is None or settings.gpu_layers or model.is_embedding:
            return 0.0
        return estimate_speed(model.size, self._hardware)

    def _fit_level_colour(self, entry: ModelEntry) -> str:
        palette = self.theme.palette
        colours = {FitLevel.FITS: palette.good, FitLevel.TIGHT: palette.text, FitLevel.TOO_LARGE: palette.danger}
        return colours[entry.fit.level]

    # Downloads.

    def _show_tab(self, tab: int) -> None:
        parts = (self.splitter, self.search, self.download_sheet, self.speech_sheet)
        focus = QApplication.focusWidget()
        if focus is not None and any(part is focus or part.isAncestorOf(focus) for part in parts):
            self.tabs.setFocus()  # or Qt would move the focus to the next button, which has nothing to do with it
        self.splitter.setVisible(tab == 0)
        self.search.setVisible(tab == 0)
        self.advanced_chip.setVisible(tab == 0)
        self.download_sheet.setVisible(tab == DOWNLOAD_TAB)
        self.speech_sheet.setVisible(tab == SPEECH_TAB)

    def _on_download_progress(self, progress: DownloadProgress) -> None:
        for offer in self._offers:
            offer.show_progress()
        if progress.path is not None:
            self.reload()
            self.speech_sheet.refresh()

    def _use_download(self, path: Path) -> None:
        self.tabs.setCurrentIndex(0)
        self.table.select_row(path)  # its card shows the progress
        self._spawn(self.card.load_file(path), "load")

    async def _pick_file(self) -> None:
        path = await ask_for_model_file(self._context.dialog_parent)
        if path is not None:
            await self.card.load_file(path)
            await self.load()
            self.table.select_row(path)

    async def _pick_folder(self) -> None:
        folder = await ask_for_model_folder(self._context.dialog_parent)
        if folder is not None:
            await self._services.models.add_folder(folder)
            await self.load()


def create_page(environment: PageEnvironment) -> ModelPage:
    """Create the page with the services that it calls."""
    services, embedder_use = environment.create(ModelPageServices), environment.create(EmbedderUse)
    return ModelPage(environment.context, services, embedder_use)
