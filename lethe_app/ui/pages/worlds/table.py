"""Table of a world's entries with search, check boxes, ordering and a context menu."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from uuid import UUID

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.icons import BEFORE_WORDS, icon, icon_before_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.editor_state import WorldBook
from lethe_app.ui.pages.worlds.table_model import FIRED, KEYS, ORDER, PLACE, PRIORITY, TOKENS, EntryRows
from lethe_app.ui.widgets.table import SearchField, Table

SPARE = (ORDER, FIRED, PRIORITY, PLACE, TOKENS, KEYS)
"""Columns that a narrow table hides, the first one first."""
LEAST_NAME = 200


class Entries(Table[WorldEntry]):
    """Table that keeps a selection of several rows when the model is reset; Alt+Up and Alt+Down move rows."""

    chosen = Signal()
    """The selection has changed."""
    step_wanted = Signal(bool)
    new_wanted = Signal()

    def __init__(self, rows: EntryRows, theme: Theme, name: str, empty: str) -> None:
        self._chosen: set[Hashable] = set()
        super().__init__(rows, theme, name, empty)
        self.setDragDropMode(Table.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.horizontalHeader().setSortIndicatorClearable(True)  # the third click leads back to their own order
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.chosen)
        self.selectionModel().selectionChanged.connect(lambda _new, _old: self._soon.start())

    def _remember(self) -> None:
        super()._remember()
        chosen = self.selected
        self._chosen = {entry.guid for entry in chosen} if len(chosen) > 1 else set()

    def _return(self) -> None:
        super()._return()
        if self._chosen:
            self.choose(self._chosen)
        self._soon.start()

    def choose(self, guids: set[Hashable]) -> None:
        """Select the rows of these entries, as far as they are shown."""
        chosen, last = QItemSelection(), self.rows.columnCount() - 1
        places = [place for place, entry in enumerate(self.rows.shown) if entry.guid in guids]
        for first, final in _runs(places):
            chosen.select(self.rows.index(first, 0), self.rows.index(final, last))
        if not chosen.isEmpty():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.selectionModel().select(chosen, flags)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if is_alt and event.key() in {Qt.Key.Key_Up, Qt.Key.Key_Down}:
            self.step_wanted.emit(event.key() == Qt.Key.Key_Down)
        elif event.key() == Qt.Key.Key_Insert:
            self.new_wanted.emit()
        elif event.key() == Qt.Key.Key_Space and self.selected:
            ticks = self.rows.columns[0].checked
            first = self.selected[0]
            self.rows.ticked(first, not (ticks is not None and ticks(first)))
        else:
            super().keyPressEvent(event)


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last index of each run of consecutive indices."""
    start = 0
    for place in range(1, len(places) + 1):
        if place == len(places) or places[place] != places[place - 1] + 1:
            yield places[start], places[place - 1]
            start = place


class EntryTable(QWidget):
    """Search field, table of entries, and the context menu for the selected ones."""

    chosen = Signal()
    opened = Signal(object)
    about_wanted = Signal()
    new_wanted = Signal()
    remember_wanted = Signal(object)

    def __init__(self, theme: Theme, book: WorldBook, rows: EntryRows, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._book, self.rows = theme, book, rows
        self.search = SearchField(theme, self.tr("Search entries"))
        self.table = Entries(rows, theme, self.tr("Entries"), self.tr("No entries yet. Create one with “New entry”."))
        self.search.below = self.table
        self.search.textChanged.connect(self._filter)
        self.count = QLabel()
        self.count.setProperty("small", True)
        self.ordered = QPushButton(self.tr("Prompt order"))
        self.ordered.setToolTip(self.tr("Sort entries as they appear in the prompt; required to drag them to another place"))
        self.ordered.setProperty("filled", True)
        self.ordered.clicked.connect(lambda: self.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder))
        self.ordered.hide()
        self.about = QPushButton(self.tr("World settings"))
        self.about.setIconSize(BEFORE_WORDS)
        self.about.clicked.connect(self.about_wanted)
        self.edit = QPushButton(self.tr("Edit"))
        self.edit.setProperty("filled", True)
        self.edit.setToolTip(self.tr("Edit the selected entries  Enter"))
        self.edit.clicked.connect(lambda: self.opened.emit(self.table.current))
        self.new = QPushButton(self.tr("New entry"))
        self.new.setProperty("filled", True)
        self.new.setIconSize(BEFORE_WORDS)
        self.new.clicked.connect(self.new_wanted)
        self._head = (self.ordered, self.edit, self.new)
        head = QHBoxLayout()
        head.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addWidget(self.search, 1)
        head.addWidget(self.count)
        head.addWidget(self.ordered)
        head.addWidget(self.about)
        head.addWidget(self.edit)
        head.addWidget(self.new)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.table, 1)
        self._connect()
        theme.changed.connect(self._dress)
        self._dress()

    def _connect(self) -> None:
        table, book = self.table, self._book
        table.chosen.connect(self.chosen)
        table.opened.connect(self.opened)
        table.new_wanted.connect(self.new_wanted)
        table.delete_wanted.connect(book.delete_entries)
        table.menu_wanted.connect(self._show_menu)
        table.step_wanted.connect(lambda down: self.step(downwards=down))
        self.rows.modelReset.connect(self._tell_order)
        self.rows.moved.connect(book.reorder)
        self.rows.ticked = self._tick

    def show_world(self, world: World | None, *, anew: bool) -> None:
        self.rows.show_world(world, anew=anew)
        self._tell_count()

    def go_to(self, guid: UUID) -> None:
        """Select an entry; the search is cleared if it hides the entry."""
        if self.rows.place_of(guid) is None:
            self.search.clear()
        self.table.go_to(guid)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]  # Qt's own
        self._fit()

    def _fit(self) -> None:
        """Hide columns in the order of `SPARE` until the name column has its minimum width."""
        header, rows = self.table.horizontalHeader(), self.rows
        left = self.table.width() - LEAST_NAME
        for column in (0, *reversed(SPARE)):
            left -= rows.columns[column].width
            self.table.setColumnHidden(column, left < 0 and column != 0)
        header.setMinimumSectionSize(24)
        self._fit_head()

    def _fit_head(self) -> None:
        """Hide the settings button and the count where there is no room, because both are available elsewhere."""
        margins = 2 * SPACE_3 + self.search.minimumWidth()
        room = self.width() - margins - sum(one.sizeHint().width() + SPACE_2 for one in self._head if not one.isHidden())
        for spare in (self.about, self.count):
            width = spare.sizeHint().width() + SPACE_2
            spare.setVisible(room >= width)
            room -= width if room >= width else 0

    def _filter(self, words: str) -> None:
        self.rows.filter(words)
        self._tell_count()

    def _tell_count(self) -> None:
        shown, total = len(self.rows.shown), self.rows.total
        every = counted(total, self.tr("{n} entry"), self.tr("{n} entries"))
        self.count.setText(every if shown == total else self.tr("{shown} of {all}").format(shown=shown, all=every))

    def _tell_order(self) -> None:
        self.ordered.setVisible(not self.rows.is_in_order)
        self._fit_head()

    def step(self, *, downwards: bool) -> None:
        """Move the selected entries by one visible row."""
        moved = {entry.guid for entry in self.table.selected}
        can, before = self.rows.step_target(moved, downwards=downwards)
        if can:
            self._book.reorder(moved, before)

    def _tick(self, entry: WorldEntry, on: bool) -> None:
        """Enable or disable an entry; if it is selected, all selected entries."""
        chosen = self.table.selected
        entries = chosen if entry.guid in {one.guid for one in chosen} else [entry]
        self._book.set_fields(self.tr("enabling") if on else self.tr("disabling"), entries, {"enabled": on})

    # Context menu.

    def _show_menu(self, place: QPoint) -> None:
        entries = self.table.selected
        if not entries:
            return
        menu = self.menu_for(entries)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)

    def menu_for(self, entries: Sequence[WorldEntry]) -> QMenu:
        """Return the context menu for these entries."""
        menu, muted, book = QMenu(self), self._theme.palette.muted, self._book
        if len(entries) == 1:
            menu.addAction(icon("edit", muted), self.tr("Edit\tEnter"), lambda: self.opened.emit(entries[0]))
        menu.addAction(icon("copy", muted), self.tr("Duplicate"), lambda: book.duplicate_entries(entries))
        for title, away in ((self.tr("Copy to"), False), (self.tr("Move to"), True)):
            others = menu.addMenu(title)
            others.setEnabled(bool(book.others))
            for world in book.others:
                action = QAction(world.name, others)
                action.triggered.connect(
                    lambda _on=False, stem=world.unique_name, away=away: book.carry(entries, stem, away=away)
                )
                others.addAction(action)
        if len(entries) == 1:
            remember = self.tr("Copy to memories…")
            menu.addAction(icon("memory", self._theme.palette.amber), remember, lambda: self.remember_wanted.emit(entries[0]))
        menu.addSeparator()
        menu.addAction(icon("trash", muted), self.tr("Delete\tDel"), lambda: book.delete_entries(entries))
        return menu

    def _dress(self) -> None:
        palette = self._theme.palette
        self.about.setIcon(icon_before_words("info", palette.muted))
        self.new.setIcon(icon_before_words("plus", palette.text))
