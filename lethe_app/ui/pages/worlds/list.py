"""List of worlds at the left of the page, the user's and those shipped with Lethe."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QPoint, QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lethe_app.services.worlds.service import OpenWorld
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel


class WorldList(QWidget):
    """List in which the selection shows a world; its actions are in a menu and on keys."""

    chosen = Signal(str)

    def __init__(
        self, theme: Theme, is_in_use: Callable[[str], bool], list_actions: Callable[[OpenWorld], list[MenuEntry]]
    ) -> None:
        """Create the list; `is_in_use` returns whether a world is used in the conversation that is open, `list_actions` the
        entries of its menu.
        """
        super().__init__()
        self._theme, self._is_in_use, self._list_actions = theme, is_in_use, list_actions
        name = attrgetter("world.name")
        columns = [
            Column[OpenWorld](self.tr("World"), name, width=0, min_width=80, icon=self._use_icon),
            Column[OpenWorld](self.tr("Entries"), _format_entry_count, _entry_count, 46, is_right_aligned=True),
        ]
        self.rows: FilteredTableModel[OpenWorld] = FilteredTableModel(columns, attrgetter("world.unique_name"), name)
        self.table = Table(self.rows, theme, self.tr("Worlds"), self.tr("No worlds yet. Create one below."))
        self.table.horizontalHeader().hide()  # a name and a number say what they are
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.current_changed.connect(self._emit_chosen)
        self.table.menu_requested.connect(self._show_menu)
        self.new_button = QPushButton(self.tr("New world"))
        self.new_button.setProperty("row", True)
        self.new_button.setIconSize(BUTTON_ICON_SIZE)
        text = self.tr("Rename, duplicate, export, delete")
        self.menu_button = IconButton(theme, "dots", text, accessible_name=self.tr("World actions"))
        self.menu_button.clicked.connect(
            lambda: self._show_menu(self.menu_button.mapToGlobal(QPoint(0, self.menu_button.height())))
        )
        foot = QHBoxLayout()
        foot.setContentsMargins(SPACE_2, SPACE_2, SPACE_2, SPACE_2)
        foot.addWidget(self.new_button, 1)
        foot.addWidget(self.menu_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.table, 1)
        column.addLayout(foot)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def fill_list(self, open_worlds: list[OpenWorld], selected_stem: str) -> None:
        """Show worlds and select that of `selected_stem` without emitting signals."""
        with QSignalBlocker(self.table):
            self.rows.set_rows(open_worlds)
            self.table.select_row(selected_stem)

    def select_world(self, stem: str) -> None:
        """Select a world without emitting signals."""
        with QSignalBlocker(self.table):
            self.table.select_row(stem)

    def _emit_chosen(self, open_world: OpenWorld | None) -> None:
        if open_world is not None:
            self.chosen.emit(open_world.world.unique_name)

    def _use_icon(self, open_world: OpenWorld) -> object:
        """Return a globe, coloured if the world is used in the conversation that is open."""
        palette = self._theme.palette
        return load_icon("globe", palette.water if self._is_in_use(open_world.world.unique_name) else palette.muted, 16)

    def _show_menu(self, position: QPoint) -> None:
        if self.table.current_row is not None:
            popup_menu(self, position, self._list_actions(self.table.current_row))

    def _apply_theme(self) -> None:
        self.new_button.setIcon(load_button_icon("plus", self._theme.palette.muted))


def _format_entry_count(open_world: OpenWorld) -> str:
    return str(_entry_count(open_world))


def _entry_count(open_world: OpenWorld) -> int:
    return len(open_world.world.entries)
