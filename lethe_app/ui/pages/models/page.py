"""Page “Models”: the models on this computer with memory estimates, loading and downloads."""

from __future__ import annotations

import asyncio
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QTabBar, QWidget

from lethe_app.domain.model import DownloadProgress, KvType, ModelFile, RemoteModel
from lethe_app.services.events import Ready
from lethe_app.services.models.memory_fit import Fit, FitLevel, fit, free_memory
from lethe_app.ui.core.formatting import rounded, size_in_words
from lethe_app.ui.core.palette import SPACE_1, SPACE_4
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.models.card import ModelCard, Shown
from lethe_app.ui.pages.models.downloads import DownloadOffer
from lethe_app.ui.pages.models.labels import verdict_in_words
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.shell.gear_menu import add_model_folder, asked_for_file, asked_for_folder
from lethe_app.ui.widgets.card_column import Sheet
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

LOOK_AGAIN_MS = 3000
"""Interval in milliseconds at which the free memory is measured."""


class ModelPage(Page):
    """Page with two tabs, local models and downloads. No network connection is made before the user starts a download."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, self.tr("Models"))
        self._place, self._services = place, place.services
        self._models: list[ModelFile] = []
        self._offers: dict[str, DownloadOffer] = {}
        self.tabs = QTabBar()
        self.tabs.addTab(self.tr("On this computer"))
        self.tabs.addTab(self.tr("Download"))
        self.tabs.setAccessibleName(self.tr("Models"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.currentChanged.connect(self._turn)
        self.search = SearchField(self.theme, self.tr("Search models"))
        self._build_table()
        self.search.textChanged.connect(self.rows.filter)
        self.card = ModelCard(place, self.undo)
        self.offers = Sheet()
        self.split = QSplitter()
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.table)
        self.split.addWidget(self.card)
        self.split.setSizes([640, 560])
        row = QHBoxLayout()
        row.setContentsMargins(SPACE_4, SPACE_1, SPACE_4, 0)
        row.addWidget(self.tabs)
        row.addStretch(1)
        row.addWidget(self.search)
        self.body.addLayout(row)
        self.body.addWidget(self.split, 1)
        self.body.addWidget(self.offers, 1)
        self.add_button(self.tr("Open file…"), lambda: self._spawn(self._pick_file(), "pick"), "model")
        self.add_button(self.tr("Add folder…"), lambda: self._spawn(self._pick_folder(), "pick"), "folder")
        self._forget = [
            self._services.downloads.changed.add(self._came),
            self._services.preferences.changed.add(lambda _settings: self._measure()),
        ]
        self._clock = QTimer(self, interval=LOOK_AGAIN_MS)
        self._clock.timeout.connect(self._measure)
        self._clock.start()
        self._turn(0)
        self._spawn(self._fill(), "models page")

    def _build_table(self) -> None:
        columns = [
            Column[Shown](self.tr("Model"), lambda one: one.model.name, width=0),
            Column[Shown](self.tr("Size"), lambda one: size_in_words(one.model.size), _size, 76, right=True),
            Column[Shown](self.tr("Quant"), lambda one: one.model.quantization, width=84, is_extra=True),
            Column[Shown](self.tr("Context"), lambda one: rounded(_context(one)), _context, 80, right=True, is_extra=True),
            Column[Shown](self.tr("Memory"), self._memory_words, lambda one: one.fit.needed, 108, colour=self._memory_colour),
            Column[Shown](self.tr("Source"), lambda one: one.model.source, width=116, is_extra=True),
        ]
        self.rows: FilteredTableModel[Shown] = FilteredTableModel(
            columns,
            key=lambda one: one.model.path,
            searched=lambda one: f"{one.model.name} {one.model.source} {one.model.quantization} {one.model.architecture}",
        )
        empty = self.tr("No models found. Open a file, add a folder or download one.")
        self.table: Table[Shown] = Table(self.rows, self.theme, self.tr("Models"), empty)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.current_changed.connect(self._show)
        self.table.opened.connect(lambda one: self.card.load_model(one.model))

    def first_focus(self) -> QWidget:
        return self.table

    def close_page(self) -> None:
        self._clock.stop()
        self.card.close_card()
        for forget in self._forget:
            forget()

    # Local models.

    async def _fill(self) -> None:
        self.subtitle.set_full(self.tr("searching for models…"))
        self._models = await self._services.models.all_found()
        self._measure()
        state = self._services.models.state
        present = state.model.file.path if isinstance(state, Ready) else None
        if not self.table.go_to(present) and self.rows.shown:
            self.table.go_to(self.rows.shown[0].model.path)
        free = await asyncio.to_thread(free_memory)
        for model in await self._services.downloads.recommended():
            offer = DownloadOffer(model, free)
            offer.wanted.connect(self._services.downloads.start_download)
            offer.stopped.connect(lambda one: self._spawn(self._services.downloads.stop(one.file)))
            offer.use_wanted.connect(self._use)
            offer.unwanted.connect(lambda one: self._spawn(self.throw_away(one), "discard"))
            self._offers[model.file] = offer
            self.offers.add(offer)
        words = self.tr(
            "Models are downloaded from Hugging Face, or from the mirror in the settings, only when you start a download."
        )
        self.offers.add(explanation(words))
        self._show_offers()

    def _measure(self) -> None:
        """Update the memory estimates with the memory that is free now."""
        free = free_memory()
        held = self._services.models.state
        if isinstance(held, Ready):  # what the loaded one takes would be given back first
            free += self._fit_of(held.model.file, 0).needed
        self.rows.fill([Shown(model, self._fit_of(model, free)) for model in self._models])
        self.subtitle.set_full(self.tr("{free} of memory free").format(free=size_in_words(free)))

    def _fit_of(self, model: ModelFile, free: int) -> Fit:
        settings = self._services.preferences.current.for_model(model.path.name)
        return fit(model, settings.context, KvType(settings.kv_type), free)

    def _memory_words(self, one: Shown) -> str:
        return "" if one.model.is_embedding else verdict_in_words(one.fit.verdict)

    def _memory_colour(self, one: Shown) -> str:
        palette = self.theme.palette
        colours = {FitLevel.FITS: palette.good, FitLevel.TIGHT: palette.text, FitLevel.TOO_LARGE: palette.danger}
        return colours[one.fit.verdict]

    def _show(self, one: Shown | None) -> None:
        if one is not None:
            self.card.show_model(one)

    # Downloads.

    def _turn(self, tab: int) -> None:
        self.split.setVisible(tab == 0)
        self.search.setVisible(tab == 0)
        self.offers.setVisible(tab == 1)

    def _came(self, news: DownloadProgress) -> None:
        self._show_offers()
        if news.path is not None:
            self._spawn(self._look_again(), "models page")

    async def _look_again(self) -> None:
        self._models = await self._services.models.all_found()
        self._measure()

    def _show_offers(self) -> None:
        downloads = self._services.downloads
        for file, offer in self._offers.items():
            here = downloads.has(offer.model) is not None
            offer.show_news(downloads.progress.get(file), is_here=here, kept=downloads.kept(offer.model))

    async def throw_away(self, model: RemoteModel) -> None:
        """Discard a partial download after confirmation."""
        kept = size_in_words(self._services.downloads.kept(model))
        question = ConfirmDialog(
            self._place.window,
            self.tr("Discard partial download?"),
            self.tr("{kept} have been downloaded. A later download will start from the beginning.").format(kept=kept),
            self.tr("Discard {kept} of “{name}”").format(kept=kept, name=model.name),
        )
        if await answered(question):
            await self._services.downloads.discard(model.file)
            self._show_offers()

    def _use(self, model: RemoteModel) -> None:
        path = self._services.downloads.has(model)
        if path is not None:
            self._spawn(self._services.models.load(path), "load")

    async def _pick_file(self) -> None:
        path = await asked_for_file(self._place.window)
        if path is not None:
            await self._services.models.load(path)
            await self._look_again()
            self.table.go_to(path)

    async def _pick_folder(self) -> None:
        folder = await asked_for_folder(self._place.window)
        if folder is not None:
            await add_model_folder(self._services, folder)
            await self._look_again()

    def _spawn(self, work: Any, lane: str = "") -> None:  # noqa: ANN401 - a coroutine of any result
        self._place.bridge.spawn(work, lane=lane)


def _size(one: Shown) -> int:
    return one.model.size


def _context(one: Shown) -> int:
    return one.model.context_length
