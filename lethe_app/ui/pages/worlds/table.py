"""Table of a world's entries with search, check boxes, ordering and a context menu."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from uuid import UUID

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QWidget

from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.table_model import EntryRows
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table import SearchField, Table

MIN_SEARCH_WIDTH = 122
"""Minimum width of the search field in pixels: in a small window, the list of worlds beside the table needs the rest."""


class EntryTableView(Table[WorldEntry]):
    """Table that keeps a selection of several rows when the model is reset; Alt+Up and Alt+Down move rows."""

    entries_selected = Signal()
    """The selection has changed."""
    move_requested = Signal(bool)
    new_requested = Signal()

    def __init__(self, rows: EntryRows, theme: Theme, name: str, empty: str) -> None:
        self._selected_guids: set[Hashable] = set()
        super().__init__(rows, theme, name, empty)
        self.setDragDropMode(Table.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.horizontalHeader().setMinimumSectionSize(24)
        self.horizontalHeader().setSortIndicatorClearable(True)  # the third click leads back to their own order
        self._selection_timer = QTimer(self, singleShot=True, interval=0)
        self._selection_timer.timeout.connect(self.entries_selected)
        self.selectionModel().selectionChanged.connect(lambda _new, _old: self._selection_timer.start())

    def _remember_current(self) -> None:
        super()._remember_current()
        entries = self.selected_rows
        self._selected_guids = {entry.guid for entry in entries} if len(entries) > 1 else set()

    def _restore_current(self) -> None:
        super()._restore_current()
        if self._selected_guids:
            self.select_entries(self._selected_guids)
        self._selection_timer.start()

    def select_entries(self, guids: set[Hashable]) -> None:
        """Select the rows of these entries, as far as they are shown."""
        selection, last = QItemSelection(), self.table_model.columnCount() - 1
        rows = [row for row, entry in enumerate(self.table_model.visible_rows) if entry.guid in guids]
        for first, final in _consecutive_runs(rows):
            selection.select(self.table_model.index(first, 0), self.table_model.index(final, last))
        if not selection.isEmpty():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.selectionModel().select(selection, flags)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if is_alt and event.key() in {Qt.Key.Key_Up, Qt.Key.Key_Down}:
            self.move_requested.emit(event.key() == Qt.Key.Key_Down)
        elif event.key() == Qt.Key.Key_Insert:
            self.new_requested.emit()
        elif event.key() == Qt.Key.Key_Space and self.selected_rows:
            is_checked = self.table_model.columns[0].is_checked
            first = self.selected_rows[0]
            self.table_model.row_checked.emit(first, not (is_checked is not None and is_checked(first)))
        else:
            super().keyPressEvent(event)


def _consecutive_runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last index of each run of consecutive indices."""
    start = 0
    for position in range(1, len(rows) + 1):
        if position == len(rows) or rows[position] != rows[position - 1] + 1:
            yield rows[start], rows[position - 1]
            start = position


class EntryTable(QWidget):
    """Search field, table of entries, and the context menu for the selected ones."""

    def __init__(
        self, theme: Theme, book: WorldEditorState, rows: EntryRows, copy_to_memories: Callable[[WorldEntry], None]
    ) -> None:
        super().__init__()
        self._theme, self._book, self.rows, self._copy_to_memories = theme, book, rows, copy_to_memories
        self.search = SearchField(theme, self.tr("Search entries"))
        self.table = EntryTableView(rows, theme, self.tr("Entries"), self.tr("No entries yet. Create one with “New entry”."))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setMinimumWidth(MIN_SEARCH_WIDTH)
        self.search.down_pressed.connect(self.table.setFocus)
        self.search.textChanged.connect(rows.set_filter)
        self.count_label = QLabel()
        self.count_label.setProperty("small", True)
        tip = self.tr("Sort entries as they appear in the prompt; required to drag them to another place")
        self.order_button = build_button(self.tr("Prompt order"), tooltip=tip)
        self.order_button.clicked.connect(lambda: self.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder))
        self.order_button.hide()
        self.settings_button = QPushButton(self.tr("World settings"))
        self.settings_button.setIconSize(BUTTON_ICON_SIZE)
        self.new_button = build_button(self.tr("New entry"))
        self.new_button.setIconSize(BUTTON_ICON_SIZE)
        items = ((self.search, 1), self.count_label, self.order_button, self.settings_button, self.new_button)
        head = build_row(*items, spacing=SPACE_2)
        head.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        hint = build_small_label(
            self.tr("The content of an entry is added to the prompt when the conversation mentions one of its keys.")
        )
        hint.setContentsMargins(SPACE_3, 0, SPACE_3, SPACE_2)
        build_column(head, hint, (self.table, 1), parent=self)
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _connect(self) -> None:
        table, book = self.table, self._book
        table.delete_requested.connect(book.delete_entries)
        table.menu_requested.connect(self._show_menu)
        table.move_requested.connect(self._move_selected)
        self.rows.modelReset.connect(self._update_head)
        self.rows.moved.connect(book.reorder)
        self.rows.row_checked.connect(self._set_enabled)

    def select_entry(self, guid: UUID) -> None:
        """Select an entry; the search is cleared if it hides the entry."""
        if self.rows.find_visible_row(guid) is None:
            self.search.clear()
        self.table.select_row(guid)

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]  # Qt's own
        self._fit_head()

    def _fit_head(self) -> None:
        """Hide the settings button and the count where there is no room, because both are available elsewhere."""
        margins = 2 * SPACE_3 + self.search.minimumWidth()
        buttons = [button for button in (self.order_button, self.new_button) if not button.isHidden()]
        free_width = self.width() - margins - sum(button.sizeHint().width() + SPACE_2 for button in buttons)
        for widget in (self.settings_button, self.count_label):
            width = widget.sizeHint().width() + SPACE_2
            widget.setVisible(free_width >= width)
            free_width -= width if free_width >= width else 0

    def _update_head(self) -> None:
        """Show how many entries are listed, and the button that sorts them in prompt order if they are not."""
        shown, total = len(self.rows.visible_rows), self.rows.row_total
        total_text = format_count(total, self.tr("{n} entry"), self.tr("{n} entries"))
        text = self.tr("{shown} of {all}").format(shown=shown, all=total_text)
        self.count_label.setText(total_text if shown == total else text)
        self.order_button.setVisible(not self.rows.is_in_order)
        self._fit_head()

    def _move_selected(self, downwards: bool) -> None:
        """Move the selected entries by one visible row."""
        moved = {entry.guid for entry in self.table.selected_rows}
        can_move, before = self.rows.find_step_target(moved, downwards=downwards)
        if can_move:
            self._book.reorder(moved, before)

    def _set_enabled(self, entry: WorldEntry, is_enabled: bool) -> None:
        """Enable or disable an entry; if it is selected, all selected entries."""
        selected = self.table.selected_rows
        self._book.set_enabled(selected if entry in selected else [entry], is_enabled=is_enabled)

    # Context menu.

    def _show_menu(self, position: QPoint) -> None:
        entries = self.table.selected_rows
        if not entries:
            return
        menu = self.build_menu(entries)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)

    def build_menu(self, entries: Sequence[WorldEntry]) -> QMenu:
        """Return the context menu for these entries."""
        menu, muted, book = QMenu(self), self._theme.palette.muted, self._book
        if len(entries) == 1:
            menu.addAction(load_icon("edit", muted), self.tr("Edit\tEnter"), lambda: self.table.opened.emit(entries[0]))
        menu.addAction(load_icon("copy", muted), self.tr("Duplicate"), lambda: book.duplicate_entries(entries))
        for title, is_move in ((self.tr("Copy to"), False), (self.tr("Move to"), True)):
            submenu = menu.addMenu(title)
            submenu.setEnabled(bool(book.other_worlds))
            for world in book.other_worlds:
                transfer = partial(book.transfer_entries, entries, world.unique_name, is_move=is_move)
                submenu.addAction(world.name, transfer)
        if len(entries) == 1:
            icon, remember = load_icon("memory", self._theme.palette.amber), self.tr("Copy to memories…")
            menu.addAction(icon, remember, lambda: self._copy_to_memories(entries[0]))
        menu.addSeparator()
        menu.addAction(load_icon("trash", muted), self.tr("Delete\tDel"), lambda: book.delete_entries(entries))
        return menu

    def _apply_theme(self) -> None:
        palette = self._theme.palette
        self.settings_button.setIcon(load_button_icon("info", palette.muted))
        self.new_button.setIcon(load_button_icon("plus", palette.text))
