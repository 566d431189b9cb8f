"""Page “Presets”: lists and forms of sampler, instruct and system prompt presets, with a preview."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QSplitter, QTabBar, QWidget

from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.models.service import ModelService
from lethe_app.services.models.trial import ModelTrial
from lethe_app.services.personas.presets import PresetService, StoredPreset
from lethe_app.services.preferences import Preferences
from lethe_app.ui.core.formatting import format_token_count
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.dialogs.files import ask_for_file, ask_where_to_save
from lethe_app.ui.pages.advanced_chip import build_advanced_chip
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.field_saver import FieldSaver
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.presets.fields import FIELDS_BY_CARD, preset_groups, suited_preset_key
from lethe_app.ui.pages.presets.sampler_preview import SamplerPreview
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_heading, build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

MIN_WIDTH_WITH_PREVIEW = 1000


class PresetPanes(QSplitter):
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
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        for widget in (table, fields, *previews):
            self.addWidget(widget)
        self.setStretchFactor(1, 1)
        self.setSizes([220, 560, *(400 for _preview in previews)])
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
        self._context, self._spawn = context, context.tasks.start_task
        self._presets, self._preferences = presets, preferences
        self._models, self._prompt_inspector = models, prompt_inspector
        self._kind: type[Any] = SamplerPreset
        self._entry: AnyPreset | None = None
        self._changed_presets: dict[Hashable, Any] = {}
        """Presets with unsaved changes, as they are to be saved, by record of the saver."""
        self.saver = FieldSaver(
            self.undo_stack, context.tasks, context.notifier.report_error, self._store_preset, self._show_field
        )
        self.tabs = QTabBar()
        for title in (self.tr("Samplers"), self.tr("Instruct formats"), self.tr("System prompts")):
            self.tabs.addTab(title)
        self.tabs.setAccessibleName(self.tr("Preset type"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.currentChanged.connect(lambda index: self._spawn(self._show_kind(KINDS[index])))
        self._build_list()
        self.sheet = CardColumn()
        self._build_form()
        self.advanced_chip = build_advanced_chip("presets", preferences, context.tasks)
        self.advanced_chip.toggled.connect(lambda _is_on: self._show_cards())
        self._build_preview()
        self.sampler_preview = SamplerPreview(context, model_trial, models)
        self.guard_undo(self.sheet)
        self.panes = PresetPanes(self.table, self.sheet, [self.sampler_preview, self._prompt_preview])
        tabs = (self.tabs, 1, Qt.AlignmentFlag.AlignLeft)
        margins = (SPACE_4, 0, SPACE_4, 0)
        self.body.addLayout(build_row(tabs, self.advanced_chip, self.panes.toggle_button, spacing=SPACE_2, margins=margins))
        self.body.addWidget(self.panes, 1)
        self.use_button = self.add_button(self.tr("Use preset"), self._use_preset, "check", primary=True)
        self.add_button(self.tr("Duplicate"), context.tasks.create_callback(self._duplicate_preset), "copy")
        self.delete_button = self.add_button(self.tr("Delete"), context.tasks.create_callback(self._delete_preset), "trash")
        self.add_button(self.tr("Import…"), context.tasks.create_callback(self._ask_and_import), "download")
        self.add_button(self.tr("Export…"), context.tasks.create_callback(self._ask_and_export), "export")
        self._unsubscribe = preferences.changed.add(lambda _settings: self._update_use_state())
        self._spawn(self._show_kind(SamplerPreset))

    def _build_list(self) -> None:
        def colour(entry: AnyPreset) -> str:
            return self.theme.palette.water if entry.is_own else ""

        columns = [Column[AnyPreset](self.tr("Preset"), lambda entry: entry.value.name, width=0, colour=colour)]
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
        self.cost_label = build_small_label("")
        self.prompt_view = QPlainTextEdit()
        self.prompt_view.setReadOnly(True)
        self.prompt_view.setAccessibleName(self.tr("Prompt preview"))
        items = (build_heading(self.tr("Prompt preview")), self.cost_label, (self.prompt_view, 1))
        build_column(*items, spacing=SPACE_2, margins=SPACE_4, parent=self._prompt_preview)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.panes.is_preview_only:
            self.panes.toggle_button.setChecked(False)
        else:
            super().keyPressEvent(event)

    def first_focus_widget(self) -> QWidget:
        return self.table

    async def confirm_leave(self) -> bool:
        await self.saver.save()
        return True

    def close_page(self) -> None:
        super().close_page()
        self.saver.close()
        self._unsubscribe()
        self.sampler_preview.close_preview()

    # showing

    async def _show_kind(self, kind: type[Any], key: str = "") -> None:
        if kind is not self._kind:
            self._kind = kind
            self._build_form()
        self._entry = None
        self.undo_stack.clear()
        self.panes.show_preview(self.sampler_preview if kind is SamplerPreset else self._prompt_preview)
        if kind is SamplerPreset:
            self.sampler_preview.start_preview()
        else:
            self.sampler_preview.stop_preview()
        await self.saver.save()
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
        self._spawn(self.saver.save())
        self._entry = entry
        self.undo_stack.clear()
        self._form.show_values(entry.value.model_dump())
        for name in self._form.field_names:
            self._form.show_error(name, "")  # which was about the values before
        self._show_cards()
        self._update_use_state()
        self._update_preview()

    def _build_form(self) -> None:
        self.sheet.clear_cards()
        self._form = Form([], self.theme)
        self._form.changed.connect(self._change_field)
        self._cards = [self._form.add_card(title, specs) for title, specs in preset_groups(self._kind)]
        self.sheet.add_widget(self._form)

    def _show_cards(self) -> None:
        """Show the first card, and the others if advanced fields are shown or one of their fields was changed."""
        if self._entry is None:
            return
        defaults = self._kind.model_fields
        for index, (card, names) in enumerate(zip(self._cards, FIELDS_BY_CARD[self._kind].values(), strict=True)):
            is_changed = any(
                getattr(self._entry.value, name) != defaults[name].get_default(call_default_factory=True)
                for name in names.split()
            )
            card.setVisible(index == 0 or self.advanced_chip.isChecked() or is_changed)

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

    # changing

    def _change_field(self, name: str, value: object) -> None:
        if self._entry is not None:
            record, current = (self._kind, self._entry.key), getattr(self._entry.value, name)
            self.saver.change_field(field_title(self._kind, name), record, name, current, value)

    def _show_field(self, record: Hashable, name: str, value: object) -> None:
        """Show a value; one that is not valid is marked below its field and not saved."""
        entry, form = self._entry, self._form
        if entry is None or record != (self._kind, entry.key):
            return
        form.set_field(name, value)
        try:
            preset = self._kind.model_validate({**entry.value.model_dump(), name: value})
        except ValidationError as error:
            form.show_error(name, error.errors()[0]["msg"])
            return
        form.show_error(name, "")
        self._entry, self._changed_presets[record] = entry.change(preset), preset
        self.rows.replace_row(self._entry)
        self._update_use_state()
        self._update_preview()

    async def _store_preset(self, record: Hashable, _values: Mapping[str, object]) -> None:
        preset = self._changed_presets.get(record)
        if preset is not None and isinstance(record, tuple):  # else none of its values is valid
            await self._presets.save(preset, record[1])
            if self._changed_presets[record] is preset:  # else it was changed again meanwhile
                del self._changed_presets[record]

    def _use_preset(self) -> None:
        if self._entry is not None:
            self._spawn(self._preferences.set(**{SETTING_NAMES[self._kind]: setting_value(self._entry)}))

    async def _duplicate_preset(self) -> None:
        if self._entry is not None:
            name = self.tr("{name} (copy)").format(name=self._entry.value.name)
            await self._add_preset(self._entry.value.model_copy(update={"name": name}))

    async def _add_preset(self, preset: InstructPreset | SamplerPreset | SystemPreset) -> None:
        """Store and show a new preset, and offer to undo that."""
        kind, key = type(preset), await self._presets.save(preset)
        await self._show_kind(kind, key)
        notice = self.tr("“{name}” was added to the presets.").format(name=preset.name)
        self._context.notifier.notify_undoable(notice, self._context.tasks.create_callback(self._remove_preset, kind, key))

    async def _remove_preset(self, kind: type[Any], key: str) -> None:
        await self.saver.save()
        await self._presets.delete(kind, key)
        if kind is self._kind:
            await self._show_kind(kind)

    async def _delete_preset(self) -> None:
        entry, kind = self._entry, self._kind
        if entry is None or not entry.is_own:
            return
        await self.saver.save()
        trashed = await self._presets.delete(kind, entry.key)
        if kind is self._kind:
            await self._show_kind(kind, entry.key)
        self._context.notifier.notify_undoable(
            self.tr("“{name}” was moved to the Trash.").format(name=entry.value.name),
            self._context.tasks.create_callback(self._restore_preset, kind, trashed),
        )

    async def _restore_preset(self, kind: type[Any], trashed: Path) -> None:
        key = await self._presets.restore(trashed)
        if kind is self._kind:
            await self._show_kind(kind, key)

    # Import and export.

    async def _ask_and_import(self) -> None:
        path = await ask_for_file(self, self.tr("Import preset"), self.tr("Presets (*.json)"))
        if path is not None:
            await self.import_preset(path)

    async def import_preset(self, path: Path) -> None:
        """Import the preset in a file as the kind on display; raise FileError if it cannot be read."""
        await self._add_preset(await self._presets.read_file(self._kind, path))

    async def _ask_and_export(self) -> None:
        if self._entry is None:
            return
        filters = (self.tr("Lethe preset (*.json)"), self.tr("SillyTavern preset (*.json)"))
        chosen = await ask_where_to_save(self, self.tr("Export preset"), f"{self._entry.key}.json", *filters)
        if chosen is not None:
            path, name_filter = chosen
            write = self._presets.write_external_file if name_filter == filters[1] else self._presets.write_file
            await write(self._entry.value, path)


def setting_value(entry: AnyPreset) -> str:
    """Return the value of the setting that selects a preset: the name of a format, the key of any other."""
    return entry.value.name if isinstance(entry.value, InstructPreset) else entry.key
