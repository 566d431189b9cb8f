"""Form for the settings of a world: name, scanning, token budget and owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

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
from lethe_app.ui.widgets.labels import build_heading, build_small_label

TEXT_FIELDS = frozenset({"name", "description"})
ADVANCED_FIELDS = ("scan_depth", "min_activations", "max_depth", "group_scoring", "recursive", "token_budget")
"""Fields that are shown on request only."""


def world_specs() -> list[FieldSpec]:
    """Return the fields of a world."""
    name, description, *others, budget = (
        build_field_spec(World, name) for name in World.model_fields if name not in {"unique_name", "entries", "original"}
    )
    return [
        name,
        replace(description, kind=FieldKind.TEXT_AREA, lines=2, max_lines=8),
        *others,
        replace(budget, step=50),
    ]


class WorldSettingsForm(QWidget):
    """Form of a world, shown while no entry is selected."""

    def __init__(self, theme: Theme, book: WorldEditorState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._book = book
        self.form = Form(world_specs(), theme)
        self.form.changed.connect(self._change_field)
        self.owner_checks = {owner: QCheckBox() for owner in WorldOwner}
        for owner, tick in self.owner_checks.items():
            tick.clicked.connect(lambda on, owner=owner: self._set_binding(owner, on))
        self._other_users: Mapping[str, Sequence[str]] = {}
        self.others_label, self.origin_label = build_small_label(""), build_small_label("")
        sheet = CardColumn()
        sheet.column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_3)
        sheet.add_widget(self._build_owners())
        sheet.add_widget(self.form)
        sheet.add_widget(self.origin_label)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._build_head())
        column.addWidget(sheet, 1)

    def _build_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_1)
        row.addWidget(build_heading(self.tr("World settings")))
        row.addStretch(1)
        self.advanced_chip = build_chip(self.tr("Advanced"), self.tr("Show how the conversation is scanned for keys"))
        self.advanced_chip.toggled.connect(self._show_advanced)
        self._show_advanced(is_on=False)
        row.addWidget(self.advanced_chip)
        return row

    def _show_advanced(self, is_on: bool) -> None:
        for name in ADVANCED_FIELDS:
            self.form.set_row_visible(name, is_on)

    def _build_owners(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, SPACE_2)
        column.setSpacing(SPACE_1)
        title = QLabel(self.tr("Used by"))
        title.setProperty("field", True)
        column.addWidget(title)
        column.addWidget(build_small_label(self.tr("Active in the conversations of the personas selected here.")))
        for tick in self.owner_checks.values():
            column.addWidget(tick, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.others_label)
        return part

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

    def show_bindings(self, bindings: Mapping[WorldOwner, Sequence[str]], stem: str) -> None:
        """Check the owners to which the world is assigned."""
        for owner, tick in self.owner_checks.items():
            with QSignalBlocker(tick):
                tick.setChecked(stem in bindings.get(owner, ()))
        others = ", ".join(self._other_users.get(stem, ()))
        self.others_label.setText(self.tr("Also used by {names}").format(names=others))
        self.others_label.setVisible(bool(others))

    def focus_first_field(self) -> None:
        """Focus the name and select its text."""
        field = self.form.field_widget("name")
        field.setFocus()
        if isinstance(field, QLineEdit):
            field.selectAll()

    def _set_binding(self, owner: WorldOwner, is_bound: bool) -> None:
        self._book.set_binding(self.owner_checks[owner].text(), owner, is_bound=is_bound)

    def _change_field(self, name: str, value: Any) -> None:  # noqa: ANN401 - as the field's kind says
        world = self._book.world
        if world is None:
            return
        if name == "name" and not str(value).strip():
            self.form.show_error("name", self.tr("Name is required."))
            return
        self.form.show_error("name", "")
        new_world = world.model_copy(update={name: value})
        title = self.tr("{field} of “{world}”").format(field=field_title(World, name).lower(), world=world.name)
        self._book.edit_worlds(title, new_world, merge_key=f"{world.unique_name} {name}" if name in TEXT_FIELDS else "")
