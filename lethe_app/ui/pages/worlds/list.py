"""List of worlds at the left of the page, the user's and those shipped with Lethe."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from lethe_app.services.worlds.service import OpenWorld
from lethe_app.ui.core.icons import BEFORE_WORDS, icon, icon_before_words
from lethe_app.ui.core.palette import ICON, SPACE_2
from lethe_app.ui.core.theme import Theme, chrome_size
from lethe_app.ui.widgets.table import Table
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel


class WorldList(QWidget):
    """List in which the selection shows a world; its actions are in a menu and on keys."""

    chosen = Signal(str)
    create_wanted = Signal()
    rename_wanted = Signal()
    duplicate_wanted = Signal()
    delete_wanted = Signal()
    entered = Signal()
    """The focus is to move to the entries."""

    def __init__(self, theme: Theme, takes_part: Callable[[str], bool], parent: QWidget | None = None) -> None:
        """Create the list; `takes_part` returns whether a world is used in the conversation that is open."""
        super().__init__(parent)
        self._theme, self._takes_part = theme, takes_part
        scale = chrome_size(theme.prose_size) / 13
        columns = [
            Column[OpenWorld](self.tr("World"), lambda held: held.world.name, width=0, icon=self._mark),
            Column[OpenWorld](self.tr("Entries"), lambda held: str(_size(held)), _size, round(46 * scale), right=True),
        ]
        self.rows: FilteredTableModel[OpenWorld] = FilteredTableModel(
            columns, lambda held: held.world.unique_name, lambda held: held.world.name
        )
        self.table = Table(self.rows, theme, self.tr("Worlds"), self.tr("No worlds yet. Create one below."))
        self.table.horizontalHeader().hide()  # a name and a number say what they are
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.current_changed.connect(self._tell)
        self.table.opened.connect(lambda _held: self.entered.emit())
        self.table.delete_wanted.connect(lambda _rows: self.delete_wanted.emit())
        self.table.menu_wanted.connect(self._show_menu)
        self.new = QPushButton(self.tr("New world"))
        self.new.setProperty("row", True)
        self.new.setIconSize(BEFORE_WORDS)
        self.new.clicked.connect(self.create_wanted)
        self.more = QToolButton()
        self.more.setIconSize(QSize(ICON, ICON))
        self.more.setAccessibleName(self.tr("World actions"))
        self.more.setToolTip(self.tr("Rename, duplicate, delete"))
        self.more.clicked.connect(lambda: self._show_menu(self.more.mapToGlobal(QPoint(0, self.more.height()))))
        foot = QHBoxLayout()
        foot.setContentsMargins(SPACE_2, SPACE_2, SPACE_2, SPACE_2)
        foot.addWidget(self.new, 1)
        foot.addWidget(self.more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.table, 1)
        column.addLayout(foot)
        theme.changed.connect(self._dress)
        self._dress()

    def fill(self, held: list[OpenWorld], chosen: str) -> None:
        """Show worlds and select `chosen` without emitting signals."""
        self.table.blockSignals(True)
        self.rows.fill(held)
        self.table.go_to(chosen)
        self.table.blockSignals(False)

    def go_to(self, stem: str) -> None:
        """Select a world without emitting signals."""
        self.table.blockSignals(True)
        self.table.go_to(stem)
        self.table.blockSignals(False)

    def _tell(self, held: OpenWorld | None) -> None:
        if held is not None:
            self.chosen.emit(held.world.unique_name)

    def _mark(self, held: OpenWorld) -> object:
        """Return a globe, coloured if the world is used in the conversation that is open."""
        palette = self._theme.palette
        return icon("globe", palette.water if self._takes_part(held.world.unique_name) else palette.muted, 16)

    def _show_menu(self, place: QPoint) -> None:
        held = self.table.current
        if held is None:
            return
        menu = QMenu(self)
        muted = self._theme.palette.muted
        menu.addAction(icon("edit", muted), self.tr("Rename\tF2"), self.rename_wanted.emit)
        menu.addAction(icon("copy", muted), self.tr("Duplicate"), self.duplicate_wanted.emit)
        words = self.tr("Reset to default…\tDel") if held.is_shipped else self.tr("Delete…\tDel")
        delete = menu.addAction(icon("trash", muted), words, self.delete_wanted.emit)
        delete.setEnabled(held.is_own)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)

    def _dress(self) -> None:
        self.new.setIcon(icon_before_words("plus", self._theme.palette.muted))
        self.more.setIcon(icon("dots", self._theme.palette.muted))


def _size(held: OpenWorld) -> int:
    return len(held.world.entries)
