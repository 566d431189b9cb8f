"""Card of a model: file metadata, memory estimate, loading, format test, qualification and settings for this model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLabel, QProgressBar, QWidget

from lethe_app.config.options import ModelChoices
from lethe_app.domain.model import ModelFile
from lethe_app.services.events import ModelLoading, ModelReady, ModelState
from lethe_app.services.extraction.qualification import Qualification
from lethe_app.services.library import Library
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.models.recommendation import MemoryEstimate
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.archive_queue import ArchiveQueue
from lethe_app.services.speech.dictation import Dictation
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.core.tasks import Work
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.models.embedder_use import EmbedderUse
from lethe_app.ui.pages.models.labels import (
    format_fit,
    format_prompt_format,
    format_qualification,
    model_metadata,
    technical_metadata,
)
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import CardColumn, create_card
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec
from lethe_app.ui.widgets.flow_layout import FlowLayout
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_small_label, create_text_label

BASIC_SETTINGS = frozenset({"context"})
"""Settings for a model that are shown without “Advanced”, as are those that were changed."""


@dataclass(frozen=True)
class ModelEntry:
    """Model file with its memory estimate and its estimated speed."""

    model: ModelFile
    fit: MemoryEstimate
    speed: float = 0.0
    """Estimated tokens per second; 0 if it is not known."""


@dataclass(frozen=True)
class ModelPageServices:
    """Services that the models page calls."""

    models: ModelService
    downloads: Downloads
    qualification: Qualification
    model_trial: ModelTrial
    archive_queue: ArchiveQueue
    library: Library
    preferences: Preferences
    dictation: Dictation


class ModelCard(CardColumn):
    """Card of the model selected in the table; it follows the state of the loaded model."""

    def __init__(
        self, context: PageContext, services: ModelPageServices, embedder_use: EmbedderUse, undo_stack: QUndoStack
    ) -> None:
        super().__init__()
        self._context, self._services, self._undo_stack = context, services, undo_stack
        self._embedder_use, self._spawn = embedder_use, context.tasks.start_task
        self._form: Form | None = None
        self._entry: ModelEntry | None = None
        self._is_advanced = False
        self._overrides = ModelChoices()
        """Settings of the model on display as in the form; they may not be stored yet."""
        self._unsubscribers = [
            services.models.changed.add(self._show_state),
            services.qualification.changed.add(lambda _verdict: self._update_memory_label()),
            *embedder_use.follow(self._update_memory_label),
        ]

    def close_card(self) -> None:
        for unsubscribe in self._unsubscribers:
            unsubscribe()

    def _is_shown(self, model: ModelFile) -> bool:
        return self._entry is not None and self._entry.model.path == model.path

    def show_model(self, entry: ModelEntry) -> None:
        """Show a model; if it is on display already, only its memory estimate is updated."""
        if self._is_shown(entry.model):
            self._show_fit(entry)
            return
        self._overrides = self._services.preferences.current.model_choices.get(entry.model.path.name, ModelChoices())
        self._form = None
        # The commands refer to the form of the model shown before.
        self._undo_stack.clear()
        self.clear_cards()
        self._build_card(entry)
        self._spawn(self._build_overrides_form(entry.model), "model choices")

    def _build_card(self, entry: ModelEntry) -> None:
        card, column = create_card(entry.model.name)
        self.fit_label = create_text_label("")
        self.memory_label, self.format_label = build_small_label(""), build_small_label("")
        self.progress_bar = QProgressBar()
        self.progress_bar.setTextVisible(False)
        self.progress_bar.setAccessibleName(self.tr("Loading"))
        self.trust_check = QCheckBox(self.tr("Trust this model anyway"))
        self.trust_check.setToolTip(self.tr("Let the model write facts and summaries although it failed the quality test."))
        self.trust_check.clicked.connect(self._change_trust)
        for widget in (self.fit_label, self.progress_bar, self.memory_label, self.format_label, self.trust_check):
            column.addWidget(widget)
        buttons = FlowLayout(spacing=SPACE_2)
        self.load_button = build_button(self.tr("Load model"), lambda: self.load_model(entry.model), primary=True)
        self.unload_button = build_button(self.tr("Unload model"), lambda: self._spawn(self._services.models.unload()))
        self.test_button = build_button(self.tr("Test format"), lambda: self._spawn(self._test_format(), "try"))
        for button in (self.load_button, self.unload_button, self.test_button):
            buttons.addWidget(button)
        column.addLayout(buttons)
        column.addWidget(_create_metadata_table(model_metadata(entry.model)))
        self.technical_table = _create_metadata_table(technical_metadata(entry.model))
        column.addWidget(self.technical_table)
        self.add_widget(card)
        self._show_fit(entry)
        self._update_advanced()
        self._show_state(self._services.models.state)

    async def _build_overrides_form(self, model: ModelFile) -> None:
        if model.is_embedding:
            return
        formats = [preset.name for preset in (await self._services.library.instruct_presets()).values()]
        if not self._is_shown(model):
            return
        self._form = Form([], self._context.theme)
        self._form.add_card(
            self.tr("Settings for this model"),
            override_specs(formats),
            self.tr("Changes take effect the next time the model is loaded."),
        )
        self._form.show_values(dict(self._overrides))
        self._form.changed.connect(lambda name, value: self._change_setting(model, name, value))
        self.add_widget(self._form)
        self._update_advanced()

    def show_advanced(self, *, is_on: bool) -> None:
        """Show or hide what few people need: technical metadata, the format test and most settings."""
        self._is_advanced = is_on
        self._update_advanced()

    def _update_advanced(self) -> None:
        if self._entry is None:
            return
        self.technical_table.setVisible(self._is_advanced)
        self._show_fit(self._entry)
        self._update_format_test()
        if self._form is not None:
            for name in self._form.field_names:
                is_changed = getattr(self._overrides, name) is not None
                self._form.set_row_visible(name, self._is_advanced or is_changed or name in BASIC_SETTINGS)

    def _update_format_test(self) -> None:
        """Show the format and its test of the loaded model."""
        is_shown = self._is_advanced and not self.unload_button.isHidden()
        self.format_label.setVisible(is_shown)
        self.test_button.setVisible(is_shown)

    def _show_fit(self, entry: ModelEntry) -> None:
        self._entry = entry
        if not entry.model.is_embedding:
            self.fit_label.setText(format_fit(entry.fit, entry.speed, is_detailed=self._is_advanced))

    # Settings for this model.

    def _change_setting(self, model: ModelFile, name: str, value: object) -> None:
        before = getattr(self._overrides, name)
        if value != before and self._form is not None:
            apply_setting = partial(self._apply_setting, model)
            self._undo_stack.push(FieldChange(field_title(ModelChoices, name), name, before, value, apply_setting))

    def _apply_setting(self, model: ModelFile, name: str, value: object) -> None:
        if self._form is None or not self._is_shown(model):
            return  # the way back is cleared when another one is shown
        self._form.set_field(name, value)
        self._overrides = ModelChoices.model_validate({**dict(self._overrides), name: value})
        self._spawn(self._save_overrides(model.path.name, self._overrides))

    async def _save_overrides(self, name: str, choices: ModelChoices) -> None:
        overrides = {**self._services.preferences.current.model_choices, name: choices}
        if choices == ModelChoices():
            del overrides[name]
        await self._services.preferences.set(model_choices=overrides)

    # loading

    def load_model(self, model: ModelFile) -> None:
        """Load a chat model, or use an embedding model for memory search, which can be undone."""
        if not model.is_embedding:
            self._spawn(self._services.models.load(model.path), "load")
        elif not self._embedder_use.is_used(model):
            before = self._embedder_use.chosen_path
            title = self.tr("using {name} for memory search").format(name=model.name)
            self._push(title, "embedder", before, str(model.path), lambda path: self._use_embedder(str(path)))

    def _push(self, title: str, key: str, before: object, after: object, apply_value: Callable[[object], Work]) -> None:
        """Run what `apply_value` returns for a value now, as an undoable command; a task of the same key is cancelled."""

        def run(_name: str, value: object) -> None:
            self._spawn(apply_value(value), key)

        name = f"{key} {after}"  # of its own for each value, so that two choices are not merged like typing
        self._undo_stack.push(FieldChange(title, name, before, after, run))

    async def _use_embedder(self, path: str) -> None:
        await self._embedder_use.use_model(path)
        self._update_memory_label()

    def _show_state(self, state: ModelState) -> None:
        """Show the loading progress, and the actions for the loaded model."""
        if self._entry is None:
            return
        if self._entry.model.is_embedding:
            self._show_embedder_state()
            return
        is_loaded = isinstance(state, ModelReady) and self._is_shown(state.model.file)
        self.progress_bar.setVisible(isinstance(state, ModelLoading))
        if isinstance(state, ModelLoading):
            self.progress_bar.setRange(0, 1000)
            self.progress_bar.setValue(round(state.fraction * 1000))
        self.load_button.setText(self.tr("Reload model") if is_loaded else self.tr("Load model"))
        self.load_button.setEnabled(not isinstance(state, ModelLoading))
        self.unload_button.setVisible(is_loaded)
        self._update_format_test()
        self.memory_label.setVisible(is_loaded)
        self.trust_check.hide()
        if is_loaded:
            self._spawn(self._show_format(), "format")
            self._update_memory_label()

    def _show_embedder_state(self) -> None:
        """Show the state of an embedding model, which can be neither chatted with nor unloaded."""
        labels = (self.progress_bar, self.format_label, self.fit_label)
        for widget in (*labels, self.unload_button, self.test_button, self.trust_check):
            widget.hide()
        self.load_button.setText(self.tr("Use for memory search"))
        self._update_memory_label()

    def _update_memory_label(self) -> None:
        """Show the qualification of a chat model, or how an embedding model is used for memory search."""
        model = self._entry.model if self._entry is not None else None
        if model is None:
            return
        if model.is_embedding:
            self.load_button.setEnabled(not self._embedder_use.is_used(model))
            self._spawn(self._show_embedder_use(model), "meaning")
        else:
            verdict = self._services.qualification.verdict
            self.memory_label.setText(format_qualification(verdict))
            is_loaded = not self.memory_label.isHidden()
            self.trust_check.setVisible(is_loaded and verdict is not None and (verdict.trusted_anyway or not verdict.is_passed))
            self.trust_check.setChecked(verdict is not None and verdict.trusted_anyway)

    def _change_trust(self, trusted: bool) -> None:
        self._push(self.trust_check.text(), "trusted", not trusted, trusted, self._save_trust)

    async def _save_trust(self, trusted: object) -> None:
        await self._services.qualification.trust_anyway(trusted=bool(trusted))
        if trusted:
            self._services.archive_queue.background.wake()

    async def _show_embedder_use(self, model: ModelFile) -> None:
        text = await self._embedder_use.describe_use(model)
        if self._is_shown(model):
            self.memory_label.setText(text)

    async def _show_format(self) -> None:
        self.format_label.setText(format_prompt_format(await self._services.model_trial.format_source()))

    async def _test_format(self) -> None:
        self.format_label.setText(self.tr("Testing the format…"))
        result = await self._services.model_trial.run_greeting()
        passed = self.tr("The model replied and stopped correctly")
        verdict = passed if result.is_good else self.tr("The model did not stop, or wrote template tokens")
        format_text = format_prompt_format(result.source)
        self.format_label.setText(f"{format_text} {verdict}: “{result.reply}”")


def override_specs(formats: Sequence[str]) -> list[FieldSpec]:
    """Return the fields of the settings of a model; those that are unset follow the general settings. `formats` are the names
    of the instruct formats.
    """
    tr = partial(QCoreApplication.translate, "Model")
    choices: dict[str, list[tuple[Any, str]]] = {
        "kv_type": [("f16", "f16"), ("q8_0", "q8_0"), ("q4_0", "q4_0")],
        "flash_attention": [(True, tr("on")), (False, tr("off"))],
        "instruct": [("", tr("the model's own")), *((name, name) for name in formats)],
    }
    unset_choice = (None, tr("from settings"))
    specs = [
        build_field_spec(ModelChoices, name, [unset_choice, *choices[name]] if name in choices else ())
        for name in ModelChoices.model_fields
    ]
    specs = [replace(spec, kind=FieldKind.ESCAPED_TEXT) if spec.kind is FieldKind.TEXT else spec for spec in specs]
    return [replace(spec, step=1024) if spec.name == "context" else spec for spec in specs]


def _create_metadata_table(rows: Sequence[tuple[str, str]]) -> QWidget:
    """Create a table of titles and values."""
    widget = QWidget()
    table = QFormLayout(widget)
    table.setContentsMargins(0, 0, 0, 0)
    table.setHorizontalSpacing(SPACE_4)
    table.setVerticalSpacing(SPACE_2)
    for title, value_text in rows:
        name, value = QLabel(title), QLabel(value_text)
        name.setProperty("quiet", True)
        value.setWordWrap(True)
        table.addRow(name, value)
    return widget
