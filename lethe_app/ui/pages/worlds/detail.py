"""Right pane of the page: a single entry, several entries, or the settings of the world."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPushButton, QSpinBox, QStackedWidget, QWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.preferences import Preferences
from lethe_app.services.token_counts import TokenCountService
from lethe_app.services.worlds.key_checks import WorldKeyIndex, check_entry
from lethe_app.services.worlds.service import WorldOwner, WorldService
from lethe_app.ui.core.formatting import format_count, format_token_count
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.palette import SPACE_1, SPACE_2
from lethe_app.ui.core.theme import Theme, interface_font_size
from lethe_app.ui.pages.advanced_chip import remember_advanced
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.entry_form import EntryForm, build_sheet
from lethe_app.ui.pages.worlds.entry_order import find_entry
from lethe_app.ui.pages.worlds.labels import tr
from lethe_app.ui.widgets.buttons import build_button, build_chip
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_heading, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

MIN_WIDTH, WIDTH = 330, 372
"""Minimum and initial width in pixels, at the default text size."""
TEXT_FIELDS = frozenset({"name", "description"})
ADVANCED_FIELDS = ("scan_depth", "min_activations", "max_depth", "group_scoring", "recursive", "token_budget")
"""Fields that are shown on request only."""
SHARED_FIELDS = ("position_index", "priority", "trigger_chance", "duration", "cooldown", "scan_depth")
ADD_TO_GROUP, REMOVE_FROM_GROUP = "group", "out"


def changed_fields(entry: WorldEntry, name: str, value: Any) -> Mapping[str, object]:  # noqa: ANN401 - as the field's kind says
    """Return the fields of an entry that the value of a field of the panel changes."""
    if name == ADD_TO_GROUP:
        return {"groups": list(filter(None, dict.fromkeys([*entry.groups, value.strip()])))}
    if name == REMOVE_FROM_GROUP:
        return {"groups": [group for group in entry.groups if group != value.strip()]}
    return {name: value}


class BulkEditPanel(QWidget):
    """Panel shown while several entries are selected."""

    def __init__(self, theme: Theme, book: WorldEditorState) -> None:
        super().__init__()
        self._book = book
        self._entries: Sequence[WorldEntry] = ()
        self.buttons: dict[str, QPushButton] = {}
        self.title_label = build_heading("")
        groups = {ADD_TO_GROUP: tr("Add to group"), REMOVE_FROM_GROUP: tr("Remove from group")}
        specs = [build_field_spec(WorldEntry, name) for name in SHARED_FIELDS]
        specs += [FieldSpec(name, title, placeholder=tr("group name")) for name, title in groups.items()]
        self.form = Form(specs, theme)
        for spec in specs:
            self._add_button(spec)
        switches = build_row(spacing=SPACE_2)
        for title, is_on in ((self.tr("Enable"), True), (self.tr("Disable"), False)):
            switches.addWidget(build_button(title, partial(self._set_on_entries, title, "enabled", is_on)))
        switches.addStretch()
        self.delete_button = build_button(slot=lambda: book.delete_entries(self._entries))
        hint = build_small_label(self.tr("Changes apply to all selected entries and can be undone in one step."))
        foot = build_row(self.delete_button, 1)
        build_sheet(self, self.title_label, hint, switches, self.form, foot)

    def _add_button(self, spec: FieldSpec) -> None:
        """Add the button that sets a field on all entries."""
        field = self.form.field_widget(spec.name)
        if isinstance(field, QSpinBox):
            field.setKeyboardTracking(True)  # the button must find what was typed
        button = build_button(
            self.tr("Set"), lambda: self._set_on_entries(spec.title.lower(), spec.name, self.form.value_of(spec.name))
        )
        button.setAccessibleName(self.tr("Set for all: {field}").format(field=spec.title))
        self.form.add_field_button(spec.name, button)
        self.buttons[spec.name] = button

    def show_entries(self, entries: Sequence[WorldEntry]) -> None:
        """Show the values that all entries share; fields with different values are marked."""
        self._entries = entries
        text = format_count(len(entries), self.tr("{n} entry"), self.tr("{n} entries"))
        self.title_label.setText(text)
        self.delete_button.setText(self.tr("Delete {count}").format(count=text))
        for name in SHARED_FIELDS:
            first, *others = [getattr(entry, name) for entry in self._entries]
            is_mixed = any(other != first for other in others)
            self.form.show_note(name, self.tr("Mixed values.") if is_mixed else "")
            if not is_mixed:
                self.form.set_field(name, first)

    def _set_on_entries(self, title: str, name: str, value: object) -> None:
        """Set a field of all entries, in one step of undo."""
        text = self.tr("{field} of {count}").format(field=title, count=self.title_label.text())
        changed = [entry.model_copy(update=dict(changed_fields(entry, name, value))) for entry in self._entries]
        self._book.edit_entries(text, changed)


class WorldSettingsForm(QWidget):
    """Form of a world, shown while no entry is selected."""

    def __init__(self, theme: Theme, book: WorldEditorState) -> None:
        super().__init__()
        self._book = book
        options: dict[str, dict[str, Any]] = {
            "description": {"kind": FieldKind.TEXT_AREA, "lines": 2, "max_lines": 8},
            "token_budget": {"step": 50},
        }
        names = [name for name in World.model_fields if name not in {"unique_name", "entries", "original"}]
        self.form = Form([replace(build_field_spec(World, name), **options.get(name, {})) for name in names], theme)
        self.form.changed.connect(self._change_field)
        self.owner_checks = {owner: QCheckBox() for owner in WorldOwner}
        for owner, tick in self.owner_checks.items():
            tick.clicked.connect(lambda on, owner=owner: book.set_binding(self.owner_checks[owner].text(), owner, is_bound=on))
        self._other_users: Mapping[str, Sequence[str]] = {}
        self.others_label, self.origin_label = build_small_label(""), build_small_label("")
        self.advanced_chip = build_chip(self.tr("Advanced"), self.tr("Show how the conversation is scanned for keys"))
        self.advanced_chip.toggled.connect(self._show_advanced)
        self._show_advanced(is_on=False)
        head = build_row(build_heading(self.tr("World settings")), 1, self.advanced_chip)
        build_sheet(self, head, self._build_owners(), self.form, self.origin_label)

    def _show_advanced(self, is_on: bool) -> None:
        for name in ADVANCED_FIELDS:
            self.form.set_row_visible(name, is_on)

    def _build_owners(self) -> QWidget:
        owners, title = QWidget(), create_text_label(self.tr("Used by"), "field")
        hint = build_small_label(self.tr("Active in the conversations of the personas selected here."))
        checks = [(tick, 0, Qt.AlignmentFlag.AlignLeft) for tick in self.owner_checks.values()]
        build_column(title, hint, *checks, self.others_label, spacing=SPACE_1, margins=(0, 0, 0, SPACE_2), parent=owners)
        return owners

    def show_world(self, world: World) -> None:
        """Show a version of a world without emitting signals."""
        self.form.show_values(dict(world))
        open_world = self._book.open_worlds.get(world.unique_name)
        if open_world is None or not open_world.is_shipped:
            text = self.tr("Saved as {file} in the “worldinfo” folder of your data.")
        elif open_world.is_own:
            text = self.tr("Built-in world with your changes. Delete {file} to restore the original.")
        else:
            text = self.tr("Built-in world. Your changes are saved in a separate file, {file}.")
        self.origin_label.setText(text.format(file=f"{world.unique_name}.json"))
        self.show_bindings()

    def show_owners(self, names: Mapping[WorldOwner, str], other_users: Mapping[str, Sequence[str]]) -> None:
        """Show the owners to which the world can be assigned; `other_users` are names of personas by world."""
        self._other_users = other_users
        titles = {
            WorldOwner.PERSONA: self.tr("{name}, in every conversation"),
            WorldOwner.USER: self.tr("{name} (all conversations)"),
            WorldOwner.SESSION: self.tr("This conversation only"),
            WorldOwner.EVERYBODY: self.tr("Everyone"),
        }
        for owner, tick in self.owner_checks.items():
            tick.setVisible(owner in names)
            tick.setText(titles[owner].format(name=names.get(owner, "").replace("&", "&&")))

    def show_bindings(self) -> None:
        """Check the owners to which the world is assigned."""
        stem = self._book.stem
        for owner, tick in self.owner_checks.items():
            with QSignalBlocker(tick):
                tick.setChecked(stem in self._book.bindings.get(owner, ()))
        others = ", ".join(self._other_users.get(stem, ()))
        self.others_label.setText(self.tr("Also used by {names}").format(names=others))
        self.others_label.setVisible(bool(others))

    def _change_field(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        world = self._book.world
        is_nameless = name == "name" and not str(value).strip()
        self.form.show_error("name", self.tr("Name is required.") if is_nameless else "")
        if world is None or is_nameless:
            return
        title = self.tr("{field} of “{world}”").format(field=field_title(World, name).lower(), world=world.name)
        if name in TEXT_FIELDS:
            self._book.change_text(title, name, value)
        else:
            self._book.edit_worlds(title, world.model_copy(update={name: value}))


class WorldEntryDetail(QStackedWidget):
    """Pane for the selection; the token count and key checks of an entry run in the background."""

    def __init__(
        self,
        context: PageContext,
        worlds: WorldService,
        token_counts: TokenCountService,
        preferences: Preferences,
        book: WorldEditorState,
    ) -> None:
        super().__init__()
        self._context, self._book, self._worlds, self._token_counts = context, book, worlds, token_counts
        self._preferences = preferences
        self._user_messages: list[str] = []
        self._key_index: tuple[World | None, WorldKeyIndex] = (None, WorldKeyIndex())
        self.world_form = WorldSettingsForm(context.theme, book)
        scale = interface_font_size(context.theme.prose_size) / 13
        self.setMinimumWidth(round(MIN_WIDTH * scale))
        self._width = round(WIDTH * scale)
        self.addWidget(QWidget())  # in place of the placeholder of other pages: there is always something to show
        self.addWidget(self.world_form)
        remember_advanced(self.world_form.advanced_chip, "world settings", preferences, context.tasks)
        self._check_timer = QTimer(self, singleShot=True, interval=120)
        self._check_timer.timeout.connect(lambda: context.tasks.start_task(self._check_keys(), key="world-checks"))

    def sizeHint(self) -> QSize:
        return QSize(self._width, 600)

    @cached_property
    def entry(self) -> EntryForm:
        """Form of an entry, created when one is first shown: it is the largest part of the page."""
        form = EntryForm(self._context.theme, self._book)
        remember_advanced(form.more_button, "worlds", self._preferences, self._context.tasks)
        self.addWidget(form)
        return form

    @property
    def _shown_entry(self) -> WorldEntry | None:
        # A cached_property is in the instance's dictionary once it was created; reading it here would create the form.
        return self.entry.entry if "entry" in vars(self) else None

    @cached_property
    def bulk(self) -> BulkEditPanel:
        """Panel for several entries, created when several are first selected."""
        panel = BulkEditPanel(self._context.theme, self._book)
        self.addWidget(panel)
        return panel

    def show_world(self, world: World | None) -> None:
        """Show another world or a new version of it."""
        self.setEnabled(world is not None)
        if world is None:
            return
        self.world_form.show_world(world)
        old_entry = self._shown_entry
        new_entry = find_entry(world, old_entry.guid) if old_entry is not None else None
        if new_entry is not None and new_entry is not old_entry:
            self._show_entry(new_entry)

    def _show_entry(self, entry: WorldEntry) -> None:
        """Show an entry, and count its tokens if its content is another."""
        old = self.entry.entry
        self.entry.show_entry(entry)
        if old is None or (old.guid, old.content) != (entry.guid, entry.content):
            self._context.tasks.start_task(self._count_tokens(entry.content), key="world-tokens")

    def show_selection(self, entries: Sequence[WorldEntry]) -> None:
        """Show the selected entries, or the settings of the world if there are none."""
        if len(entries) == 1:
            if self.entry.entry is not entries[0]:
                self._show_entry(entries[0])
            self._check_timer.start()
            self.setCurrentWidget(self.entry)
        elif entries:
            self.bulk.show_entries(entries)
            self.setCurrentWidget(self.bulk)
        else:
            self.setCurrentWidget(self.world_form)

    def set_user_messages(self, messages: list[str]) -> None:
        """Set the user's messages on which the frequency of keys is measured."""
        self._user_messages = messages
        self._check_timer.start()

    def focus_name(self) -> None:
        """Focus the name of the entry or world on display and select its text."""
        shown = self.currentWidget()
        name = shown.form.field_widget("name") if isinstance(shown, EntryForm | WorldSettingsForm) else None
        if isinstance(name, QLineEdit):
            name.setFocus()
            name.selectAll()

    async def show_owners(self) -> None:
        """Load and show the owners to which the world can be assigned, and who else uses it."""
        session = self._context.current_session()
        self.world_form.show_owners(await self._worlds.list_owners(session), await self._worlds.list_other_users(session))

    async def _count_tokens(self, text: str) -> None:
        (tokens,) = await self._token_counts.count([text])
        if self._shown_entry is not None and self._shown_entry.content == text:
            self.entry.form.show_note("content", format_token_count(tokens))

    async def _check_keys(self) -> None:
        """Check the keys of the entry on display in a thread, because a world may be large."""
        world, entry, messages = self._book.world, self._shown_entry, self._user_messages
        if world is None or entry is None:
            return
        if self._key_index[0] is not world:
            self._key_index = (world, await asyncio.to_thread(WorldKeyIndex.build, world))
        findings = await asyncio.to_thread(check_entry, entry, self._key_index[1], messages)
        # Another entry may have been selected while the keys were being checked.
        if self._shown_entry is entry:
            self.entry.show_findings(findings)
