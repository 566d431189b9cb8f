"""Form for the settings of a world: name, scanning, token budget and owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QWidget

from lethe_app.domain.worldinfo import World
from lethe_app.services.worlds.service import WorldOwner
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.core.palette import SPACE_1, SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.widgets.buttons import build_chip
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec
from lethe_app.ui.widgets.form import Form
from lethe_app.ui.widgets.labels import build_heading, build_small_label, create_text_label
from lethe_app.ui.widgets.layouts import build_column, build_row

TEXT_FIELDS = frozenset({"name", "description"})
ADVANCED_FIELDS = ("scan_depth", "min_activations", "max_depth", "group_scoring", "recursive", "token_budget")
"""Fields that are shown on request only."""


def world_specs() -> list[FieldSpec]:
    """Return the fields of a world."""
    options: dict[str, dict[str, Any]] = {
        "description": {"kind": FieldKind.TEXT_AREA, "lines": 2, "max_lines": 8},
        "token_budget": {"step": 50},
    }
    names = [name for name in World.model_fields if name not in {"unique_name", "entries", "original"}]
    return [replace(build_field_spec(World, name), **options.get(name, {})) for name in names]


class WorldSettingsForm(QWidget):
    """Form of a world, shown while no entry is selected."""

    def __init__(self, theme: Theme, book: WorldEditorState) -> None:
        super().__init__()
        self._book = book
        self.form = Form(world_specs(), theme)
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
        head.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_1)
        sheet = CardColumn()
        sheet.column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
        for widget in (self._build_owners(), self.form, self.origin_label):
            sheet.add_widget(widget)
        build_column(head, (sheet, 1), parent=self)

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
