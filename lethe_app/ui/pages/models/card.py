"""Card of a model: file metadata, memory estimate, loading, format test, qualification and settings for this model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QCheckBox, QFormLayout, QHBoxLayout, QLabel, QProgressBar, QPushButton

from lethe_app.config.options import ModelChoices
from lethe_app.domain.model import ModelFile
from lethe_app.services.events import Loading, ModelState, Ready
from lethe_app.services.models.memory_fit import Fit
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.models.labels import facts_of, fit_in_words
from lethe_app.ui.pages.models.memory_labels import is_in_use, meaning_in_words, trial_in_words
from lethe_app.ui.pages.models.overrides import choice_specs, chosen, shown
from lethe_app.ui.pages.page import explanation
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import Sheet, made_card
from lethe_app.ui.widgets.form import Form


@dataclass(frozen=True)
class Shown:
    """Model file with its memory estimate."""

    model: ModelFile
    fit: Fit


class ModelCard(Sheet):
    """Card of the model selected in the table; it follows the state of the loaded model."""

    def __init__(self, place: PageContext, undo: QUndoStack) -> None:
        super().__init__()
        self._place, self._services, self._undo = place, place.services, undo
        self._form: Form | None = None
        self._titles: dict[str, str] = {}
        self._shown: Path | None = None
        self._model: ModelFile | None = None
        self._own = ModelChoices()
        """Settings of the model on display as in the form; they may not be stored yet."""
        services = self._services
        self._forget = [
            services.models.changed.add(self._follow),
            services.trust.changed.add(lambda _verdict: self._tell_memory()),
            services.embedding.changed.add(lambda _embedder: self._tell_memory()),
            services.calibration.changed.add(lambda _limits: self._tell_memory()),
        ]

    def close_card(self) -> None:
        for forget in self._forget:
            forget()

    def show_model(self, one: Shown) -> None:
        """Show a model; if it is on display already, only its memory estimate is updated."""
        if one.model.path == self._shown:
            self._tell_fit(one)
            return
        self._shown, self._model = one.model.path, one.model
        self._own = self._services.preferences.current.model_choices.get(one.model.path.name, ModelChoices())
        self._form = None
        # The commands refer to the form of the model shown before.
        self._undo.clear()
        # The last item of a sheet's layout is its stretch.
        while self.column.count() > 1:
            item = self.column.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self._build_card(one)
        self._spawn(self._build_choices(one.model), "model choices")

    def _build_card(self, one: Shown) -> None:
        card, column = made_card(one.model.name)
        table = QFormLayout()
        table.setHorizontalSpacing(SPACE_4)
        table.setVerticalSpacing(SPACE_2)
        for title, words in facts_of(one.model):
            name, value = QLabel(title), QLabel(words)
            name.setProperty("quiet", True)
            value.setWordWrap(True)
            table.addRow(name, value)
        column.addLayout(table)
        self.fit = explanation("")
        column.addWidget(self.fit)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Loading"))
        column.addWidget(self.bar)
        self.verdict = explanation("")
        column.addWidget(self.verdict)
        self.memory = explanation("")
        column.addWidget(self.memory)
        self.trusted = QCheckBox(self.tr("Trust this model anyway"))
        self.trusted.setToolTip(self.tr("Let the model write facts and summaries although it failed the quality test."))
        self.trusted.clicked.connect(self._change_trust)
        column.addWidget(self.trusted)
        buttons = QHBoxLayout()
        self.load = self._button(self.tr("Load model"), lambda: self.load_model(one.model), primary=True)
        self.unload = self._button(self.tr("Unload model"), lambda: self._spawn(self._services.models.unload()))
        self.try_it = self._button(self.tr("Test format"), lambda: self._spawn(self._try(), "try"))
        for button in (self.load, self.unload, self.try_it):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        self.add(card)
        self._tell_fit(one)
        self._follow(self._services.models.state)

    def _button(self, words: str, slot: Callable[[], object], *, primary: bool = False) -> QPushButton:
        button = QPushButton(words)
        button.setProperty("primary" if primary else "filled", True)
        button.clicked.connect(slot)
        return button

    async def _build_choices(self, model: ModelFile) -> None:
        if model.is_embedding:
            return
        formats = [preset.name for preset in (await self._services.library.instruct_presets()).values()]
        if model.path != self._shown:
            return
        card, column = made_card(
            self.tr("Settings for this model"), self.tr("Changes take effect the next time the model is loaded.")
        )
        specs = choice_specs(formats)
        self._titles = {spec.name: spec.title for spec in specs}
        self._form = Form(specs, self._place.theme)
        self._form.show_values(shown(self._own))
        self._form.changed.connect(lambda name, value: self._change(model, name, value))
        column.addWidget(self._form)
        self.add(card)

    def _tell_fit(self, one: Shown) -> None:
        if self._shown == one.model.path:
            self.fit.setText(fit_in_words(one.fit) if not one.model.is_embedding else "")

    # Settings for this model.

    def _change(self, model: ModelFile, name: str, value: object) -> None:
        before = shown(self._own)[name]
        if value != before and self._form is not None:
            put = partial(self._put, model)
            self._undo.push(FieldChange(self._titles[name], name, before, value, put))

    def _put(self, model: ModelFile, name: str, value: object) -> None:
        if self._form is None or self._shown != model.path:
            return  # the way back is cleared when another one is shown
        self._form.set_field(name, value)
        self._own = chosen(self._own, name, value)
        self._spawn(self._keep(model.path.name, self._own))

    async def _keep(self, name: str, choices: ModelChoices) -> None:
        kept = {**self._services.preferences.current.model_choices, name: choices}
        if choices == ModelChoices():
            del kept[name]
        await self._services.preferences.set(model_choices=kept)

    # loading

    def load_model(self, model: ModelFile) -> None:
        """Load a chat model, or use an embedding model for memory search, which can be undone."""
        if not model.is_embedding:
            self._spawn(self._services.models.load(model.path), "load")
        elif not is_in_use(self._services, model):
            before = self._services.preferences.current.embedder_path
            title = self.tr("using {name} for memory search").format(name=model.name)
            self._undo.push(FieldChange(title, f"embedder {model.path}", before, str(model.path), self._find_with))

    def _find_with(self, _name: str, path: object) -> None:
        self._spawn(self._take_embedder(str(path)), "embedder")

    async def _take_embedder(self, path: str) -> None:
        await self._services.preferences.set(embedder_path=path)
        self._tell_memory()
        await self._services.embedding.ready()
        self._services.indexing.wake()

    def _follow(self, state: ModelState) -> None:
        """Show the loading progress, and the actions for the loaded model."""
        if self._shown is None:
            return
        is_this = isinstance(state, Ready) and state.model.file.path == self._shown
        if self._model is not None and self._model.is_embedding:
            self._follow_embedder()
            return
        self.bar.setVisible(isinstance(state, Loading))
        if isinstance(state, Loading):
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(state.fraction * 1000))
        self.load.setText(self.tr("Reload model") if is_this else self.tr("Load model"))
        self.load.setEnabled(not isinstance(state, Loading))
        self.unload.setVisible(is_this)
        self.try_it.setVisible(is_this)
        self.verdict.setVisible(is_this)
        self.memory.setVisible(is_this)
        self.trusted.hide()
        if is_this:
            self._spawn(self._tell_format(), "format")
            self._tell_memory()

    def _follow_embedder(self) -> None:
        """Show the state of an embedding model, which can be neither chatted with nor unloaded."""
        for widget in (self.bar, self.unload, self.try_it, self.verdict, self.fit, self.trusted):
            widget.hide()
        self.load.setText(self.tr("Use for memory search"))
        self._tell_memory()

    def _tell_memory(self) -> None:
        """Show the qualification of a chat model, or how an embedding model is used for memory search."""
        model = self._model
        if model is None:
            return
        if model.is_embedding:
            self.load.setEnabled(not is_in_use(self._services, model))
            self._spawn(self._tell_meaning(model), "meaning")
        else:
            verdict = self._services.trust.verdict
            self.memory.setText(trial_in_words(verdict))
            is_loaded = not self.memory.isHidden()
            self.trusted.setVisible(is_loaded and verdict is not None and (verdict.trusted_anyway or not verdict.is_passed))
            self.trusted.setChecked(verdict is not None and verdict.trusted_anyway)

    def _change_trust(self, trusted: bool) -> None:
        self._undo.push(FieldChange(self.trusted.text(), "trusted", not trusted, trusted, self._put_trust))

    def _put_trust(self, _name: str, trusted: object) -> None:
        self._spawn(self._keep_trust(trusted=bool(trusted)), "trust")

    async def _keep_trust(self, *, trusted: bool) -> None:
        await self._services.trust.trust_anyway(trusted=trusted)
        if trusted:
            self._services.archiving.model_changed()

    async def _tell_meaning(self, model: ModelFile) -> None:
        words = await meaning_in_words(self._services, model)
        if self._model is model:
            self.memory.setText(words)

    async def _tell_format(self) -> None:
        self.verdict.setText(self.tr("Format: {source}.").format(source=await self._services.trying.source()))

    async def _try(self) -> None:
        self.verdict.setText(self.tr("Testing the format…"))
        heard = await self._services.trying.greet()
        good, bad = (
            self.tr("The model replied and stopped correctly"),
            self.tr("The model did not stop, or wrote template tokens"),
        )
        verdict = good if heard.is_good else bad
        self.verdict.setText(
            self.tr("Format: {source}. {verdict}: “{words}”").format(source=heard.source, verdict=verdict, words=heard.words)
        )

    def _spawn(self, work: Any, lane: str = "") -> None:  # noqa: ANN401 - a coroutine of any result
        self._place.bridge.spawn(work, lane=lane)
