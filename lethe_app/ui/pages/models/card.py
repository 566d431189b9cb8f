"""Card of a model: file metadata, memory estimate, loading, format test, qualification and settings for this model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLabel, QProgressBar

from lethe_app.config.options import ModelChoices
from lethe_app.domain.model import ModelFile
from lethe_app.errors import LetheError
from lethe_app.services.events import Listeners, ModelLoading, ModelReady
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
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.field_saver import FieldSaver
from lethe_app.ui.pages.models.embedder_use import EmbedderUse
from lethe_app.ui.pages.models.labels import format_fit, format_prompt_format, format_qualification, list_metadata
from lethe_app.ui.pages.undo_commands import Step
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
        self,
        context: PageContext,
        services: ModelPageServices,
        embedder_use: EmbedderUse,
        saver: FieldSaver,
        run_undoable: Callable[[str, Step, Step], None],
    ) -> None:
        """Create the card; `saver` stores settings of models by the name of their file, and `run_undoable` runs a step that the
        other one takes back.
        """
        super().__init__()
        self._context, self._services, self._saver, self._run_undoable = context, services, saver, run_undoable
        self._embedder_use, self._spawn = embedder_use, context.tasks.start_task
        self._form: Form | None = None
        self._entry: ModelEntry | None = None
        self._is_advanced = False
        self._overrides = ModelChoices()
        """Settings of the model on display as in the form; they may not be stored yet."""
        followed: list[Listeners[Any]] = [services.models.changed, services.qualification.changed, *embedder_use.listeners]
        self.unsubscribers = [listeners.add(lambda _change: self.refresh()) for listeners in followed]
        """Functions that end the following of services; the page calls them."""

    def _is_shown(self, model: ModelFile) -> bool:
        return self._entry is not None and self._entry.model.path == model.path

    def show_model(self, entry: ModelEntry) -> None:
        """Show a model; if it is on display already, only its memory estimate is updated."""
        is_same, self._entry = self._is_shown(entry.model), entry
        if is_same:
            self._show_fit()
            return
        file = entry.model.path.name
        stored = self._services.preferences.current.model_choices.get(file, ModelChoices())
        self._overrides = stored.model_copy(update=self._saver.unsaved_values(file))
        self._form = None
        self.clear_cards()
        self._build_card(entry.model)
        self._spawn(self._build_overrides_form(entry.model), "model choices")

    def _build_card(self, model: ModelFile) -> None:
        card, column = create_card(model.name)
        self.fit_label = create_text_label("")
        self.memory_label, self.format_label = build_small_label(""), build_small_label("")
        self.progress_bar = QProgressBar(maximum=1000)
        self.progress_bar.setTextVisible(False)
        self.progress_bar.setAccessibleName(self.tr("Loading"))
        self.trust_check = QCheckBox(self.tr("Trust this model anyway"))
        self.trust_check.setToolTip(self.tr("Let the model write facts and summaries although it failed the quality test."))
        self.trust_check.clicked.connect(self._change_trust)
        for widget in (self.fit_label, self.progress_bar, self.memory_label, self.format_label, self.trust_check):
            column.addWidget(widget)
        buttons = FlowLayout(spacing=SPACE_2)
        self.load_button = build_button(slot=lambda: self.load_model(model), primary=True)
        self.unload_button = build_button(self.tr("Unload model"), lambda: self._spawn(self._services.models.unload()))
        self.test_button = build_button(self.tr("Test format"), lambda: self._spawn(self._test_format(), "try"))
        for button in (self.load_button, self.unload_button, self.test_button):
            buttons.addWidget(button)
        column.addLayout(buttons)
        self.metadata = QFormLayout(horizontalSpacing=SPACE_4, verticalSpacing=SPACE_2)
        self._metadata_rows = list_metadata(model)
        for title, text, _is_technical in self._metadata_rows:
            name, value = QLabel(title), QLabel(text)
            name.setProperty("quiet", True)
            value.setWordWrap(True)
            self.metadata.addRow(name, value)
        column.addLayout(self.metadata)
        self.add_widget(card)
        self.refresh()

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
        self._show_advanced_rows()

    def show_advanced(self, *, is_on: bool) -> None:
        """Show or hide what few people need: technical metadata, the format test and most settings."""
        self._is_advanced = is_on
        self.refresh()

    def _show_advanced_rows(self) -> None:
        if self._form is None:
            return
        for name in self._form.field_names:
            is_changed = getattr(self._overrides, name) is not None
            self._form.set_row_visible(name, self._is_advanced or is_changed or name in BASIC_SETTINGS)

    def _show_fit(self) -> None:
        if self._entry is not None:
            self.fit_label.setText(format_fit(self._entry.fit, self._entry.speed, is_detailed=self._is_advanced))

    # Settings for this model.

    def _change_setting(self, model: ModelFile, name: str, value: object) -> None:
        before = getattr(self._overrides, name)
        self._saver.change_field(field_title(ModelChoices, name), model.path.name, name, before, value)

    def show_setting(self, file: object, name: str, value: object) -> None:
        """Show a setting of the model in a file of this name, if it is on display."""
        if self._form is not None and self._entry is not None and self._entry.model.path.name == file:
            self._overrides = self._overrides.model_copy(update={name: value})
            self._form.set_field(name, value)

    # loading

    def load_model(self, model: ModelFile) -> None:
        """Load a chat model, or use an embedding model for memory search, which can be undone."""
        if not model.is_embedding:
            self._spawn(self.load_file(model.path), "load")
        elif not self._embedder_use.is_used(model):
            use_model, before = self._embedder_use.use_model, self._embedder_use.chosen_path
            self._run_undoable(
                self.tr("using {name} for memory search").format(name=model.name),
                partial(use_model, str(model.path)),
                partial(use_model, before),
            )

    async def load_file(self, path: Path) -> None:
        """Load the chat model of a file, with settings that were typed just before."""
        await self._saver.save()
        await self._services.models.load(path)

    def refresh(self) -> None:
        """Show what can be done with the model now: an embedding model is only used for memory search or not, a chat model is
        loaded and unloaded, and tested for what it may write once it is loaded.
        """
        if self._entry is None:
            return
        model, state, verdict = self._entry.model, self._services.models.state, self._services.qualification.verdict
        is_chat = not model.is_embedding
        is_loaded = is_chat and isinstance(state, ModelReady) and self._is_shown(state.model.file)
        is_loading = is_chat and isinstance(state, ModelLoading)
        needs_trust = verdict is not None and (verdict.trusted_anyway or not verdict.is_passed)
        for widget, is_visible in (
            (self.fit_label, is_chat),
            (self.progress_bar, is_loading),
            (self.memory_label, is_loaded or not is_chat),
            (self.format_label, is_loaded and self._is_advanced),
            (self.trust_check, is_loaded and needs_trust),
            (self.unload_button, is_loaded),
            (self.test_button, is_loaded and self._is_advanced),
        ):
            widget.setVisible(is_visible)
        for row, (_title, _text, is_technical) in enumerate(self._metadata_rows):
            self.metadata.setRowVisible(row, self._is_advanced or not is_technical)
        self._show_fit()
        self._show_advanced_rows()
        load_title = self.tr("Reload model") if is_loaded else self.tr("Load model")
        self.load_button.setText(load_title if is_chat else self.tr("Use for memory search"))
        self.load_button.setEnabled(not is_loading if is_chat else not self._embedder_use.is_used(model))
        if isinstance(state, ModelLoading):
            self.progress_bar.setValue(round(state.fraction * 1000))
        self.trust_check.setChecked(verdict is not None and verdict.trusted_anyway)
        if is_loaded:
            self.memory_label.setText(format_qualification(verdict))
        elif not is_chat:
            self._spawn(self._show_embedder_use(model), "meaning")
        if not is_loaded:
            self.format_label.clear()
        elif not self.format_label.text():  # it may say how a test went
            self._spawn(self._show_format(), "format")

    def _change_trust(self, trusted: bool) -> None:
        shown = self._entry

        async def trust(*, value: bool) -> None:
            state = self._services.models.state
            if shown is None or not isinstance(state, ModelReady) or state.model.file.path != shown.model.path:
                raise LetheError(self.tr("The model that was trusted is not loaded any more."))
            await self._services.qualification.trust_anyway(trusted=value)
            if value:
                self._services.archive_queue.background.wake()

        self._run_undoable(self.trust_check.text(), partial(trust, value=trusted), partial(trust, value=not trusted))

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
