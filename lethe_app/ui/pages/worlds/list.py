"""List of worlds at the left of the page, the user's and those shipped with Lethe."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from lethe_app.services.worlds.service import OpenWorld
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.theme import Theme, interface_font_size
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel


class WorldList(QWidget):
    """List in which the selection shows a world; its actions are in a menu and on keys."""

    chosen = Signal(str)
    create_requested = Signal()
    rename_requested = Signal()
    duplicate_requested = Signal()
    export_requested = Signal()
    delete_requested = Signal()
    entries_requested = Signal()
    """The focus is to move to the entries."""

    def __init__(self, theme: Theme, is_in_use: Callable[[str], bool], parent: QWidget | None = None) -> None:
        """Create the list; `is_in_use` returns whether a world is used in the conversation that is open."""
        super().__init__(parent)
        self._theme, self._is_in_use = theme, is_in_use
        scale = interface_font_size(theme.prose_size) / 13
        columns = [
            Column[OpenWorld](self.tr("World"), lambda open_world: open_world.world.name, width=0, icon=self._use_icon),
            Column[OpenWorld](
                self.tr("Entries"),
                lambda open_world: str(_entry_count(open_world)),
                _entry_count,
                round(46 * scale),
                is_right_aligned=True,
            ),
        ]
        self.rows: FilteredTableModel[OpenWorld] = FilteredTableModel(
            columns, lambda open_world: open_world.world.unique_name, lambda open_world: open_world.world.name
        )
        self.table = Table(self.rows, theme, self.tr("Worlds"), self.tr("No worlds yet. Create one below."))
        self.table.horizontalHeader().hide()  # a name and a number say what they are
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.current_changed.connect(self._emit_chosen)
        self.table.opened.connect(lambda _held: self.entries_requested.emit())
        self.table.delete_requested.connect(lambda _rows: self.delete_requested.emit())
        self.table.menu_requested.connect(self._show_menu)
        self.new_button = QPushButton(self.tr("New world"))
        self.new_button.setProperty("row", True)
        self.new_button.setIconSize(BUTTON_ICON_SIZE)
        self.new_button.clicked.connect(self.create_requested)
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
        self.table.blockSignals(True)
        self.rows.set_rows(open_worlds)
        self.table.select_row(selected_stem)
        self.table.blockSignals(False)

    def select_world(self, stem: str) -> None:
        """Select a world without emitting signals."""
        self.table.blockSignals(True)
        self.table.select_row(stem)
        self.table.blockSignals(False)

    def _emit_chosen(self, open_world: OpenWorld | None) -> None:
        if open_world is not None:
            self.chosen.emit(open_world.world.unique_name)

    def _use_icon(self, open_world: OpenWorld) -> object:
        """Return a globe, coloured if the world is used in the conversation that is open."""
        palette = self._theme.palette
        return load_icon("globe", palette.water if self._is_in_use(open_world.world.unique_name) else palette.muted, 16)

    def _show_menu(self, position: QPoint) -> None:
        open_world = self.table.current_row
        if open_world is None:
            return
        menu = QMenu(self)
        muted = self._theme.palette.muted
        menu.addAction(load_icon("edit", muted), self.tr("Rename\tF2"), self.rename_requested.emit)
        menu.addAction(load_icon("copy", muted), self.tr("Duplicate"), self.duplicate_requested.emit)
        menu.addAction(load_icon("export", muted), self.tr("Export…"), self.export_requested.emit)
        text = self.tr("Reset to default…\tDel") if open_world.is_shipped else self.tr("Delete…\tDel")
        delete = menu.addAction(load_icon("trash", muted), text, self.delete_requested.emit)
        delete.setEnabled(open_world.is_own)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(position)

    def _apply_theme(self) -> None:
        self.new_button.setIcon(load_button_icon("plus", self._theme.palette.muted))


def _entry_count(open_world: OpenWorld) -> int:
    return len(open_world.world.entries)
