"""Page “Presets”: lists and forms of sampler, instruct and system prompt presets, with a preview."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.personas.presets import PresetService, StoredPreset
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.formatting import format_token_count
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.dialogs.dialogs import run_dialog
from lethe_app.ui.pages.advanced_chip import build_advanced_chip
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.environment import PageEnvironment
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.presets.fields import preset_groups, suited_preset_key
from lethe_app.ui.pages.presets.sampler_preview import SamplerPreview
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import CardColumn, create_card, create_splitter
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_heading, build_small_label
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

MIN_WIDTH_WITH_PREVIEW = 1000


class PresetPanes(QWidget):
    """List, fields and preview side by side. In a narrow window, `button` in the page's header switches between the latter
    two.
    """

    def __init__(self, table: QWidget, fields: QWidget, previews: list[QWidget]) -> None:
        super().__init__()
        self._fields, self._previews = fields, previews
        self._current_preview = previews[0]
        self.toggle_button = QPushButton(self.tr("Show preview"), self)  # of its own, it would be shown as a window
        self.toggle_button.setToolTip(self.tr("Show the preview instead of the fields; press Esc to go back"))
        self.toggle_button.setCheckable(True)
        self.toggle_button.setProperty("filled", True)
        self.toggle_button.toggled.connect(lambda _checked: self._update_layout())
        self._splitter: QSplitter = create_splitter(table, fields, stretch_index=1)
        for preview in previews:
            self._splitter.addWidget(preview)
        self._splitter.setSizes([220, 560, *(400 for _preview in previews)])
        self._splitter.setParent(self)
        self._update_layout()

    def show_preview(self, preview: QWidget) -> None:
        """Choose which of the previews is shown."""
        self._current_preview = preview
        self._update_layout()

    @property
    def is_preview_only(self) -> bool:
        """True if the preview is shown in place of the fields."""
        return self.width() < MIN_WIDTH_WITH_PREVIEW and self.toggle_button.isChecked()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._splitter.setGeometry(self.rect())
        self._update_layout()

    def _update_layout(self) -> None:
        is_wide = self.width() >= MIN_WIDTH_WITH_PREVIEW
        self.toggle_button.setVisible(not is_wide)
        self._fields.setVisible(is_wide or not self.toggle_button.isChecked())
        for preview in self._previews:
            preview.setVisible(preview is self._current_preview and (is_wide or self.toggle_button.isChecked()))


AnyPreset = StoredPreset[Any]
KINDS: list[type[Any]] = [SamplerPreset, InstructPreset, SystemPreset]
SETTING_NAMES: dict[type[Any], str] = {SamplerPreset: "sampler", InstructPreset: "instruct", SystemPreset: "system_preset"}
"""Setting that selects the preset in use, by kind."""
SAVE_DELAY_MS = 500
"""Delay in milliseconds after the last change until it is saved."""


class PresetPage(Page):
    """Page that saves changes automatically; presets shipped with Lethe can always be reset."""

    def __init__(
        self,
        context: PageContext,
        presets: PresetService,
        preferences: Preferences,
        models: ModelService,
        model_trial: ModelTrial,
        prompt_inspector: PromptInspector,
    ) -> None:
        super().__init__(context.theme, self.tr("Presets"))
        self._context, self._presets, self._preferences = context, presets, preferences
        self._models, self._prompt_inspector = models, prompt_inspector
        self._kind: type[Any] = SamplerPreset
        self._entry: AnyPreset | None = None
        self._forms: list[Form] = []
        self._cards: list[QFrame] = []
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_DELAY_MS)
        self._save_timer.timeout.connect(lambda: context.tasks.start_task(self._save_entry(self._entry)))
        self.tabs = QTabBar()
        for title in (self.tr("Samplers"), self.tr("Instruct formats"), self.tr("System prompts")):
            self.tabs.addTab(title)
        self.tabs.setAccessibleName(self.tr("Preset type"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.currentChanged.connect(lambda index: self._spawn(self._show_kind(KINDS[index])))
        self._build_list()
        self.sheet = CardColumn()
        self.advanced_chip = build_advanced_chip("presets", preferences, context.tasks)
        self.advanced_chip.toggled.connect(lambda _is_on: self._show_cards())
        self._build_preview()
        self.sampler_preview = SamplerPreview(context, model_trial, models)
        self.guard_undo(self.sheet)
        self.panes = PresetPanes(self.table, self.sheet, [self.sampler_preview, self._prompt_preview])
        row = QHBoxLayout()
        row.setContentsMargins(SPACE_4, 0, SPACE_4, 0)
        row.addWidget(self.tabs, 1, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(self.advanced_chip)
        row.addWidget(self.panes.toggle_button)
        self.body.addLayout(row)
        self.body.addWidget(self.panes, 1)
        self.use_button = self.add_button(self.tr("Use preset"), self._use_preset, "check", primary=True)
        self.add_button(self.tr("Duplicate"), lambda: self._spawn(self._duplicate_preset()), "copy")
        self.delete_button = self.add_button(self.tr("Delete"), lambda: self._spawn(self._delete_preset()), "trash")
        self.add_button(self.tr("Import…"), lambda: self._spawn(self._ask_and_import()), "download")
        self.add_button(self.tr("Export…"), lambda: self._spawn(self._ask_and_export()), "export")
        self._unsubscribe = preferences.changed.add(lambda _settings: self._update_use_state())
        self._spawn(self._show_kind(SamplerPreset))

    def _build_list(self) -> None:
        columns = [Column[AnyPreset](self.tr("Preset"), lambda entry: entry.value.name, width=0, colour=self._entry_colour)]
        self.rows: FilteredTableModel[AnyPreset] = FilteredTableModel(
            columns, key=lambda entry: entry.key, search_text=lambda entry: entry.value.name
        )
        self.table: Table[AnyPreset] = Table(self.rows, self.theme, self.tr("Presets"), self.tr("No presets yet."))
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.horizontalHeader().hide()
        self.table.setMinimumWidth(180)
        self.table.current_changed.connect(self._show_entry)

    def _build_preview(self) -> None:
        self._prompt_preview = QWidget()
        self._prompt_preview.setMinimumWidth(240)
        column = QVBoxLayout(self._prompt_preview)
        column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        column.addWidget(build_heading(self.tr("Prompt preview")))
        self.cost_label = build_small_label("")
        column.addWidget(self.cost_label)
        self.prompt_view = QPlainTextEdit()
        self.prompt_view.setReadOnly(True)
        self.prompt_view.setAccessibleName(self.tr("Prompt preview"))
        column.addWidget(self.prompt_view, 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.panes.is_preview_only:
            self.panes.toggle_button.setChecked(False)
        else:
            super().keyPressEvent(event)

    def first_focus_widget(self) -> QWidget:
        return self.table

    async def confirm_leave(self) -> bool:
        await self._save_entry(self._take_unsaved_entry())
        return True

    def close_page(self) -> None:
        super().close_page()
        self._unsubscribe()
        self.sampler_preview.close_preview()

    # showing

    async def _show_kind(self, kind: type[Any], key: str = "") -> None:
        unsaved_entry = self._take_unsaved_entry()
        self._kind, self._entry = kind, None
        self.undo_stack.clear()
        self.panes.show_preview(self.sampler_preview if kind is SamplerPreset else self._prompt_preview)
        if kind is SamplerPreset:
            self.sampler_preview.start_preview()
        else:
            self.sampler_preview.stop_preview()
        await self._save_entry(unsaved_entry)
        presets = await self._presets.list_presets(kind)
        if kind is not self._kind:  # another tab was chosen meanwhile
            return
        self.rows.set_rows(presets)
        setting = getattr(self._preferences.current, SETTING_NAMES[kind])
        used_key = next(
            (entry.key for entry in self.rows.visible_rows if setting_value(entry) == setting),
            suited_preset_key(self._models, kind),
        )
        if not self.table.select_row(key or used_key) and self.rows.visible_rows:
            self.table.select_row(self.rows.visible_rows[0].key)

    def _show_entry(self, entry: AnyPreset | None) -> None:
        # Until their list is loaded, the rows of the tab before are still shown.
        if entry is None or not isinstance(entry.value, self._kind):
            return
        if self._entry is not None and entry.key == self._entry.key:
            return
        self._spawn(self._save_entry(self._take_unsaved_entry()))
        if self._entry is None:
            self._build_forms()
        self._entry = entry
        self.undo_stack.clear()
        self._fill_forms()

    def _build_forms(self) -> None:
        # The last item of a sheet's layout is its stretch.
        while self.sheet.column.count() > 1:
            item = self.sheet.column.takeAt(0)
            if item is not None and (old_widget := item.widget()) is not None:
                old_widget.hide()
                old_widget.deleteLater()
        self._forms, self._cards = [], []
        for title, specs in preset_groups(self._kind):
            card, column = create_card(title)
            form = Form(specs, self.theme)
            form.changed.connect(self._change_field)
            column.addWidget(form)
            self.sheet.add_widget(card)
            self._forms.append(form)
            self._cards.append(card)

    def _show_cards(self) -> None:
        """Show the first card, and the others if advanced fields are shown or one of their fields was changed."""
        if self._entry is None:
            return
        defaults = self._kind.model_fields
        for index, (card, form) in enumerate(zip(self._cards, self._forms, strict=True)):
            is_changed = any(
                getattr(self._entry.value, name) != defaults[name].get_default(call_default_factory=True)
                for name in form.field_names
            )
            card.setVisible(index == 0 or self.advanced_chip.isChecked() or is_changed)

    def _fill_forms(self) -> None:
        if self._entry is None:
            return
        for form in self._forms:
            form.show_values(self._entry.value.model_dump())
        self._show_cards()
        self._update_use_state()
        self._update_preview()

    def _update_use_state(self) -> None:
        entry = self._entry
        if entry is None:
            return
        setting = getattr(self._preferences.current, SETTING_NAMES[self._kind])
        is_automatic = not setting and suited_preset_key(self._models, self._kind) == entry.key
        is_used = is_automatic or setting == setting_value(entry)
        self.use_button.setEnabled(not is_used)
        self.use_button.setText(self.tr("In use") if is_used else self.tr("Use preset"))
        self.delete_button.setEnabled(entry.is_own)
        self.delete_button.setText(self.tr("Reset to default") if entry.is_own and entry.is_shipped else self.tr("Delete"))
        shipped_state = self.tr("modified") if entry.is_own else self.tr("built-in")
        origin = shipped_state if entry.is_shipped else self.tr("custom")
        reason = self.tr(" · selected automatically for the model") if is_automatic else ""
        self.subtitle.set_full_text(f"{entry.value.name} · {origin}{reason}")

    def _update_preview(self) -> None:
        if self._entry is not None and isinstance(self._entry.value, SamplerPreset):
            self.sampler_preview.show_preset(self._entry.value)
        else:
            self._spawn(self._render_prompt(), key="preset preview")

    async def _render_prompt(self) -> None:
        if self._entry is None or isinstance(self._entry.value, SamplerPreset):
            return
        rendered = await self._prompt_inspector.render(self._entry.value)
        self.prompt_view.setPlainText(rendered.text)
        self.cost_label.setText(self.tr("Example, {tokens}").format(tokens=format_token_count(rendered.tokens)))

    def _entry_colour(self, entry: AnyPreset) -> str:
        return self.theme.palette.water if entry.is_own else ""

    # changing

    def _change_field(self, name: str, value: object) -> None:
        if self._entry is not None and value != (current := getattr(self._entry.value, name)):
            self.undo_stack.push(FieldChange(field_title(self._kind, name), name, current, value, self._apply_value))

    def _apply_value(self, name: str, value: object) -> None:
        """Show and save a value; an invalid value is marked below its field and not saved."""
        form = next(form for form in self._forms if name in form.field_names)
        form.set_field(name, value)
        entry = self._entry
        if entry is None:
            return
        try:
            new_preset = type(entry.value).model_validate({**entry.value.model_dump(), name: value})
        except ValidationError as error:
            form.show_error(name, error.errors()[0]["msg"])
            return
        form.show_error(name, "")
        self._entry = entry.change(new_preset)
        self.rows.replace_row(self._entry)
        self._save_timer.start()
        self._update_use_state()
        self._update_preview()

    def _take_unsaved_entry(self) -> AnyPreset | None:
        """Return the preset with changes that the caller is to save, instead of the timer; None if all are saved."""
        entry = self._entry if self._save_timer.isActive() else None
        self._save_timer.stop()
        return entry

    async def _save_entry(self, entry: AnyPreset | None) -> None:
        if entry is not None:
            await self._presets.save(entry.value, entry.key)

    def _use_preset(self) -> None:
        if self._entry is not None:
            self._spawn(self._preferences.set(**{SETTING_NAMES[self._kind]: setting_value(self._entry)}))

    async def _duplicate_preset(self) -> None:
        if self._entry is not None:
            name = self.tr("{name} (copy)").format(name=self._entry.value.name)
            key = await self._presets.save(self._entry.value.model_copy(update={"name": name}))
            await self._show_kind(self._kind, key)

    async def _delete_preset(self) -> None:
        entry, kind = self._entry, self._kind
        if entry is None or not entry.is_own:
            return
        self._save_timer.stop()
        trashed = await self._presets.delete(kind, entry.key)
        if kind is self._kind:
            await self._show_kind(kind, entry.key)
        self._context.notifier.notify_undoable(
            self.tr("“{name}” was moved to the Trash.").format(name=entry.value.name),
            partial(self._undo_deletion, kind, trashed),
        )

    def _undo_deletion(self, kind: type[Any], trashed: Path) -> None:
        self._spawn(self._restore_preset(kind, trashed))

    async def _restore_preset(self, kind: type[Any], trashed: Path) -> None:
        key = await self._presets.restore(kind, trashed)
        if kind is self._kind:
            await self._show_kind(kind, key)

    # Import and export.

    async def _ask_and_import(self) -> None:
        dialog = QFileDialog(self, self.tr("Import preset"), str(Path.home()), self.tr("Presets (*.json)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        if await run_dialog(dialog):
            await self.import_preset(Path(dialog.selectedFiles()[0]))

    async def import_preset(self, path: Path) -> None:
        """Import the preset in a file as the kind on display; raise FileError if it cannot be read."""
        key = await self._presets.save(await self._presets.read_file(self._kind, path))
        await self._show_kind(self._kind, key)

    async def _ask_and_export(self) -> None:
        if self._entry is None:
            return
        dialog = QFileDialog(self, self.tr("Export preset"), str(Path.home()))
        for_others = self.tr("SillyTavern preset (*.json)")
        dialog.setNameFilters([self.tr("Lethe preset (*.json)"), for_others])
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.selectFile(f"{self._entry.key}.json")
        if await run_dialog(dialog):
            is_for_others = dialog.selectedNameFilter() == for_others
            write = self._presets.write_external_file if is_for_others else self._presets.write_file
            await write(self._entry.value, Path(dialog.selectedFiles()[0]))

    def _spawn(self, work: Any, key: str = "") -> None:  # noqa: ANN401 - a coroutine of any result
        self._context.tasks.start_task(work, key=key)


def setting_value(entry: AnyPreset) -> str:
    """Return the value of the setting that selects a preset: the name of a format, the key of any other."""
    return entry.value.name if isinstance(entry.value, InstructPreset) else entry.key


def create_page(environment: PageEnvironment, _route: object) -> PresetPage:
    """Create the page with the services that it calls."""
    services = environment.services
    return PresetPage(
        environment.context,
        services.presets,
        services.preferences,
        services.models,
        services.model_trial,
        services.prompt_inspector,
    )
