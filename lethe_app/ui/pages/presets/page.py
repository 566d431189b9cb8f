"""Page “Presets”: lists and forms of sampler, instruct and system prompt presets, with a preview."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QSplitter, QTabBar, QVBoxLayout, QWidget

from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.services.personas.presets import KeptPreset
from lethe_app.ui.core.formatting import tokens_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_4
from lethe_app.ui.dialogs.dialogs import answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page, explanation, headline
from lethe_app.ui.pages.presets.fields import GROUPS, suited
from lethe_app.ui.pages.presets.sampler_preview import Taste
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.card_column import Sheet, made_card, side_by_side
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

WITH_ASIDE = 800  # pixels from which on there is room for more than the list and the fields


class PresetPanes(QWidget):
    """List, fields and preview side by side. In a narrow window, `button` in the page's header switches between the latter
    two.
    """

    def __init__(self, table: QWidget, fields: QWidget, asides: list[QWidget]) -> None:
        super().__init__()
        self._fields, self._asides = fields, asides
        self._aside = asides[0]
        self.button = QPushButton(self.tr("Show preview"), self)  # of its own, it would be shown as a window
        self.button.setToolTip(self.tr("Show the preview instead of the fields; press Esc to go back"))
        self.button.setCheckable(True)
        self.button.setProperty("filled", True)
        self.button.toggled.connect(lambda _checked: self._arrange())
        self._split: QSplitter = side_by_side(table, fields, grows=1)
        for aside in asides:
            self._split.addWidget(aside)
        self._split.setSizes([220, 560, *(400 for _aside in asides)])
        self._split.setParent(self)
        self._arrange()

    def show_aside(self, aside: QWidget) -> None:
        """Choose which of the previews is shown."""
        self._aside = aside
        self._arrange()

    @property
    def is_turned(self) -> bool:
        """True if the preview is shown in place of the fields."""
        return self.width() < WITH_ASIDE and self.button.isChecked()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._split.setGeometry(self.rect())
        self._arrange()

    def _arrange(self) -> None:
        has_room = self.width() >= WITH_ASIDE
        self.button.setVisible(not has_room)
        self._fields.setVisible(has_room or not self.button.isChecked())
        for aside in self._asides:
            aside.setVisible(aside is self._aside and (has_room or self.button.isChecked()))


Kept = KeptPreset[Any]
KINDS: list[type[Any]] = [SamplerPreset, InstructPreset, SystemPreset]
CHOICES: dict[type[Any], str] = {SamplerPreset: "sampler", InstructPreset: "instruct", SystemPreset: "system_preset"}
"""Setting that selects the preset in use, by kind."""
REST_MS = 500
"""Delay in milliseconds after the last change until it is saved."""


class PresetPage(Page):
    """Page that saves changes automatically; presets shipped with Lethe can always be reset."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, self.tr("Presets"))
        self._place, self._presets = place, place.services.presets
        self._kind: type[Any] = SamplerPreset
        self._kept: Kept | None = None
        self._forms: list[Form] = []
        self._titles: dict[str, str] = {}
        self._unsaved = QTimer(self, singleShot=True, interval=REST_MS)
        self._unsaved.timeout.connect(lambda: place.bridge.spawn(self._save()))
        self.tabs = QTabBar()
        for title in (self.tr("Samplers"), self.tr("Instruct formats"), self.tr("System prompts")):
            self.tabs.addTab(title)
        self.tabs.setAccessibleName(self.tr("Preset type"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.currentChanged.connect(lambda place_: self._bridge(self._show_kind(KINDS[place_])))
        self._build_list()
        self.sheet = Sheet()
        self._build_preview()
        self.taste = Taste(place)
        self.panes = PresetPanes(self.table, self.sheet, [self.taste, self._aside])
        row = QHBoxLayout()
        row.setContentsMargins(SPACE_4, 0, SPACE_4, 0)
        row.addWidget(self.tabs, 1, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(self.panes.button)
        self.body.addLayout(row)
        self.body.addWidget(self.panes, 1)
        self.use = self.add_button(self.tr("Use preset"), self._use, "check", primary=True)
        self.add_button(self.tr("Duplicate"), lambda: self._bridge(self._duplicate()), "copy")
        self.drop = self.add_button(self.tr("Delete"), lambda: self._bridge(self._delete()), "trash")
        self.add_button(self.tr("Import…"), lambda: self._bridge(self._import()), "download")
        self.add_button(self.tr("Export…"), lambda: self._bridge(self._export()), "export")
        self._forget = place.services.preferences.changed.add(lambda _settings: self._tell_use())
        self._bridge(self._show_kind(SamplerPreset))

    def _build_list(self) -> None:
        columns = [Column[Kept](self.tr("Preset"), lambda kept: kept.value.name, width=0, colour=self._mark)]
        self.rows: FilteredTableModel[Kept] = FilteredTableModel(
            columns, key=lambda kept: kept.key, searched=lambda kept: kept.value.name
        )
        self.table: Table[Kept] = Table(self.rows, self.theme, self.tr("Presets"), self.tr("No presets yet."))
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.horizontalHeader().hide()
        self.table.setMinimumWidth(180)
        self.table.current_changed.connect(self._show)

    def _build_preview(self) -> None:
        self._aside = QWidget()
        self._aside.setMinimumWidth(240)
        column = QVBoxLayout(self._aside)
        column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        column.setSpacing(SPACE_2)
        column.addWidget(headline(self.tr("Prompt preview")))
        self.cost = explanation("")
        column.addWidget(self.cost)
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.preview.setAccessibleName(self.tr("Prompt preview"))
        column.addWidget(self.preview, 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.panes.is_turned:
            self.panes.button.setChecked(False)
        else:
            super().keyPressEvent(event)

    def first_focus(self) -> QWidget:
        return self.table

    async def may_leave(self) -> bool:
        if self._unsaved.isActive():
            self._unsaved.stop()
            await self._save()
        return True

    def close_page(self) -> None:
        self._forget()
        self.taste.close_taste()

    # showing

    async def _show_kind(self, kind: type[Any], key: str = "") -> None:
        await self.may_leave()
        self._kind, self._kept = kind, None
        self.undo.clear()
        self.panes.show_aside(self.taste if kind is SamplerPreset else self._aside)
        if kind is SamplerPreset:
            self.taste.start_preview()
        else:
            self.taste.rest()
        self.rows.fill(await self._presets.all(kind))
        chosen = getattr(self._place.services.preferences.current, CHOICES[kind])
        used = next((kept.key for kept in self.rows.shown if chosen_as(kept) == chosen), suited(self._place.services, kind))
        if not self.table.go_to(key or used) and self.rows.shown:
            self.table.go_to(self.rows.shown[0].key)

    def _show(self, kept: Kept | None) -> None:
        if kept is None or (self._kept is not None and kept.key == self._kept.key):
            return
        if self._unsaved.isActive():  # of the one before
            self._unsaved.stop()
            self._bridge(self._save())
        if self._kept is None or type(self._kept.value) is not type(kept.value):
            self._build_forms()
        self._kept = kept
        self.undo.clear()
        self._fill()

    def _build_forms(self) -> None:
        # The last item of a sheet's layout is its stretch.
        while self.sheet.column.count() > 1:
            item = self.sheet.column.takeAt(0)
            if item is not None and (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self._forms, self._titles = [], {}
        for title, specs in GROUPS[self._kind]():
            self._titles |= {spec.name: spec.title for spec in specs}
            card, column = made_card(title)
            form = Form(specs, self.theme)
            form.changed.connect(self._change)
            column.addWidget(form)
            self.sheet.add(card)
            self._forms.append(form)

    def _fill(self) -> None:
        if self._kept is None:
            return
        for form in self._forms:
            form.show_values(self._kept.value.model_dump())
        self._tell_use()
        self._preview()

    def _tell_use(self) -> None:
        kept = self._kept
        if kept is None:
            return
        chosen = getattr(self._place.services.preferences.current, CHOICES[self._kind])
        suits = not chosen and suited(self._place.services, self._kind) == kept.key
        used = suits or chosen == chosen_as(kept)
        self.use.setEnabled(not used)
        self.use.setText(self.tr("In use") if used else self.tr("Use preset"))
        self.drop.setEnabled(kept.is_own)
        self.drop.setText(self.tr("Reset to default") if kept.is_own and kept.is_shipped else self.tr("Delete"))
        theirs = self.tr("modified") if kept.is_own else self.tr("built-in")
        whose = theirs if kept.is_shipped else self.tr("custom")
        why = self.tr(" · selected automatically for the model") if suits else ""
        self.subtitle.set_full(f"{kept.value.name} · {whose}{why}")

    def _preview(self) -> None:
        if self._kept is not None and isinstance(self._kept.value, SamplerPreset):
            self.taste.show_preset(self._kept.value)
        else:
            self._bridge(self._render(), lane="preset preview")

    async def _render(self) -> None:
        if self._kept is None or isinstance(self._kept.value, SamplerPreset):
            return
        shown = await self._place.services.inspecting.render(self._kept.value)
        self.preview.setPlainText(shown.text)
        self.cost.setText(self.tr("Example, {tokens}").format(tokens=tokens_in_words(shown.tokens)))

    def _mark(self, kept: Kept) -> str:
        return self.theme.palette.water if kept.is_own else ""

    # changing

    def _change(self, name: str, value: object) -> None:
        if self._kept is not None and value != (present := getattr(self._kept.value, name)):
            self.undo.push(FieldChange(self._titles[name], name, present, value, self._put))

    def _put(self, name: str, value: object) -> None:
        """Show and save a value; an invalid value is marked below its field and not saved."""
        form = next(form for form in self._forms if name in form.names)
        form.set_field(name, value)
        kept = self._kept
        if kept is None:
            return
        try:
            changed = type(kept.value).model_validate({**kept.value.model_dump(), name: value})
        except ValidationError as error:
            form.complain(name, error.errors()[0]["msg"])
            return
        form.complain(name, "")
        self._kept = replace(kept, value=changed, is_own=True)
        self.rows.replace(self._kept)
        self._unsaved.start()
        self._tell_use()
        self._preview()

    async def _save(self) -> None:
        if self._kept is not None:
            await self._presets.save(self._kept.value, self._kept.key)

    def _use(self) -> None:
        if self._kept is not None:
            self._bridge(self._place.services.preferences.set(**{CHOICES[self._kind]: chosen_as(self._kept)}))

    async def _duplicate(self) -> None:
        if self._kept is not None:
            name = self.tr("{name} (copy)").format(name=self._kept.value.name)
            key = await self._presets.save(self._kept.value.model_copy(update={"name": name}))
            await self._show_kind(self._kind, key)

    async def _delete(self) -> None:
        kept = self._kept
        if kept is None or not kept.is_own:
            return
        self._unsaved.stop()
        trashed = await self._presets.delete(self._kind, kept.key)
        await self._show_kind(self._kind, kept.key)
        self._place.window.notifier.tell(
            self.tr("“{name}” was moved to the Trash.").format(name=kept.value.name),
            button=self.tr("Undo"),
            action=partial(self._take_back, self._kind, trashed),
        )

    def _take_back(self, kind: type[Any], trashed: Path) -> None:
        self._bridge(self._restore(kind, trashed))

    async def _restore(self, kind: type[Any], trashed: Path) -> None:
        key = await self._presets.restore(kind, trashed)
        if kind is self._kind:
            await self._show_kind(kind, key)

    # Import and export.

    async def _import(self) -> None:
        dialog = QFileDialog(self, self.tr("Import preset"), str(Path.home()), self.tr("Presets (*.json)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        if await answered(dialog):
            await self.take_in(Path(dialog.selectedFiles()[0]))

    async def take_in(self, path: Path) -> None:
        """Import the preset in a file as the kind on display; raise FileError if it cannot be read."""
        key = await self._presets.save(await self._presets.read(self._kind, path))
        await self._show_kind(self._kind, key)

    async def _export(self) -> None:
        if self._kept is None:
            return
        dialog = QFileDialog(self, self.tr("Export preset"), str(Path.home()), self.tr("Presets (*.json)"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.selectFile(f"{self._kept.key}.json")
        if await answered(dialog):
            await self._presets.write(self._kept.value, Path(dialog.selectedFiles()[0]))

    def _bridge(self, work: Any, lane: str = "") -> None:  # noqa: ANN401 - a coroutine of any result
        self._place.bridge.spawn(work, lane=lane)


def chosen_as(kept: Kept) -> str:
    """Return the value of the setting that selects a preset: the name of a format, the key of any other."""
    return kept.value.name if isinstance(kept.value, InstructPreset) else kept.key
