"""List of worlds at the left of the page, the user's and those shipped with Lethe."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QPoint, QSignalBlocker
from PySide6.QtWidgets import QPushButton, QWidget

from lethe_app.services.worlds.service import OpenWorld
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.context_menu import MenuEntry, popup_menu
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel


class WorldList(QWidget):
    """List in which the selection shows a world; its actions are in a menu and on keys."""

    def __init__(self, theme: Theme, book: WorldEditorState, list_actions: Callable[[OpenWorld], list[MenuEntry]]) -> None:
        """Create the list; `list_actions` returns the entries of the menu of a world."""
        super().__init__()
        self._theme, self._book, self._list_actions = theme, book, list_actions
        name = attrgetter("world.name")
        columns: list[Column[OpenWorld]] = [
            Column(self.tr("World"), name, width=0, min_width=80, icon=self._use_icon),
            Column(self.tr("Entries"), lambda one: str(count_entries(one)), count_entries, 46, is_right_aligned=True),
        ]
        self.rows: FilteredTableModel[OpenWorld] = FilteredTableModel(columns, attrgetter("world.unique_name"), name)
        self.table = Table(self.rows, theme, self.tr("Worlds"), self.tr("No worlds yet. Create one below."))
        self.table.horizontalHeader().hide()  # a name and a number say what they are
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.current_changed.connect(self._show_chosen)
        self.table.menu_requested.connect(self._show_menu)
        self.new_button = QPushButton(self.tr("New world"))
        self.new_button.setProperty("row", True)
        self.new_button.setIconSize(BUTTON_ICON_SIZE)
        text = self.tr("Rename, duplicate, export, delete")
        menu_button = IconButton(theme, "dots", text, accessible_name=self.tr("World actions"))
        menu_button.clicked.connect(lambda: self._show_menu(menu_button.mapToGlobal(QPoint(0, menu_button.height()))))
        foot = build_row((self.new_button, 1), menu_button, spacing=SPACE_2)
        foot.setContentsMargins(SPACE_2, SPACE_2, SPACE_2, SPACE_2)
        build_column((self.table, 1), foot, parent=self)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def fill_list(self) -> None:
        """Show the worlds and select that on display without emitting signals."""
        with QSignalBlocker(self.table):
            self.rows.set_rows(self._book.open_worlds.values())
        self.select_world()

    def select_world(self) -> None:
        """Select the world on display without emitting signals."""
        with QSignalBlocker(self.table):
            self.table.select_row(self._book.stem)

    def _show_chosen(self, open_world: OpenWorld | None) -> None:
        if open_world is not None and open_world.world.unique_name != self._book.stem:
            self._book.switch_world(open_world.world.unique_name)

    def _use_icon(self, open_world: OpenWorld) -> object:
        """Return a globe, coloured if the world is used in the conversation that is open."""
        palette = self._theme.palette
        is_in_use = any(open_world.world.unique_name in stems for stems in self._book.bindings.values())
        return load_icon("globe", palette.water if is_in_use else palette.muted, 16)

    def _show_menu(self, position: QPoint) -> None:
        if self.table.current_row is not None:
            popup_menu(self, position, self._list_actions(self.table.current_row))

    def _apply_theme(self) -> None:
        self.new_button.setIcon(load_button_icon("plus", self._theme.palette.muted))


def count_entries(open_world: OpenWorld) -> int:
    """Return the number of entries of a world."""
    return len(open_world.world.entries)
