"""Table of a world's entries: its rows, in prompt order unless sorted by a column, with search and a context menu."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtCore import (
    QByteArray,
    QItemSelection,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.token_counts import TokenCountService
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import BUTTON_ICON_SIZE, load_button_icon, load_icon
from lethe_app.ui.core.palette import SPACE_2, SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.worlds.editor_state import WorldEditorState
from lethe_app.ui.pages.worlds.entry_order import order_key, sort_entries
from lethe_app.ui.pages.worlds.labels import format_keys, format_position
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.labels import build_small_label
from lethe_app.ui.widgets.layouts import build_column, build_row
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import CHECKABLE_FLAGS, DEFAULT_FLAGS, Column, FilteredTableModel

MIN_SEARCH_WIDTH = 122
"""Minimum width of the search field in pixels: in a small window, the list of worlds beside the table needs the rest."""
MIME = "application/x-lethe-entries"
COUNT_BATCH_SIZE = 200
"""Texts whose tokens are counted in one request."""
ENABLED, NAME, KEYS, POSITION, TOKENS, PRIORITY, ORDER, USES = range(8)
Index = QModelIndex | QPersistentModelIndex
DRAGGABLE_FLAGS = {flags: flags | Qt.ItemFlag.ItemIsDragEnabled for flags in (DEFAULT_FLAGS, CHECKABLE_FLAGS)}
"""Flags of items that can be dragged, by their other flags; built once, because Qt queries every cell of a selection."""
MAX_REPLACED_ROWS = 20
"""Changed entries that are replaced one by one; above it the table is filled anew."""


class EntryRows(FilteredTableModel[WorldEntry]):
    """Table model of entries, in prompt order unless sorted by another column."""

    moved = Signal(object, object)
    """GUIDs of the dragged entries, and that of the entry they were dropped before; None is the end."""

    def __init__(self, context: PageContext, token_counts: TokenCountService) -> None:
        self._theme, self._token_counts = context.theme, token_counts
        self._tokens: dict[str, int] = {}
        self._texts_to_count: dict[str, None] = {}
        self._use_counts: Mapping[UUID, int] = {}
        super().__init__(self._build_columns(), attrgetter("guid"), search_text)
        self._count_timer = QTimer(self, singleShot=True, interval=30)
        self._count_timer.timeout.connect(lambda: context.tasks.start_task(self._count_tokens()))

    def _build_columns(self) -> list[Column[WorldEntry]]:
        def count_uses(entry: WorldEntry) -> int:
            return self._use_counts.get(entry.guid, 0)

        def count_roughly(entry: WorldEntry) -> int:
            """Return the tokens of an entry, estimated from the length of its text until they are counted."""
            return self._tokens.get(entry.content, len(entry.content) // 4)

        def name_colour(entry: WorldEntry) -> str:
            return "" if entry.enabled else self._theme.palette.muted

        tr, by, entry = self.tr, attrgetter, Column[WorldEntry]
        return [
            entry("", lambda _one: "", lambda one: not one.enabled, 36, is_checked=by("enabled")),
            entry(tr("Name"), lambda one: one.name or one.content[:80], width=0, min_width=200, colour=name_colour),
            entry(tr("Keys"), format_keys, width=220, hides_at=6, colour=lambda _one: self._theme.palette.muted),
            entry(tr("Position"), format_position, by("position_index"), 128, hides_at=5),
            entry(tr("Tokens"), self._format_tokens, count_roughly, 66, hides_at=4, is_right_aligned=True),
            entry(tr("Priority"), lambda one: str(one.priority), by("priority"), 68, hides_at=3, is_right_aligned=True),
            entry(tr("Order"), lambda one: str(one.order), by("order"), 58, hides_at=1, is_right_aligned=True),
            entry(tr("Uses"), lambda one: str(count_uses(one) or ""), count_uses, 64, hides_at=2, is_right_aligned=True),
        ]

    # filling

    def show_world(self, world: World | None) -> None:
        """Show the entries of a world. Where a few have changed and keep their places, only these are shown anew."""
        entries = sort_entries(world.entries if world is not None else [])
        changed = [(old, new) for old, new in zip(self.all_rows, entries, strict=False) if old is not new]
        keep_places = len(entries) == self.row_total and len(changed) <= MAX_REPLACED_ROWS
        # Sorted by a column, a row whose name or order has changed may belong elsewhere.
        if keep_places and all(
            old.guid == new.guid and (self._sorted_by is None or order_key(old) == order_key(new)) for old, new in changed
        ):
            for _old, new in changed:
                self.replace_row(new)
        else:
            self.set_rows(entries)

    def set_use_counts(self, counts: Mapping[UUID, int]) -> None:
        """Set the number of turns in which each entry was active."""
        self._use_counts = counts
        self._emit_column_changed(USES)

    def clear_tokens(self) -> None:
        """Drop all token counts, because another model was loaded."""
        self._tokens.clear()
        self._emit_column_changed(TOKENS)

    def _emit_column_changed(self, column: int) -> None:
        if self.visible_rows:
            self.dataChanged.emit(self.index(0, column), self.index(len(self.visible_rows) - 1, column))

    def _format_tokens(self, entry: WorldEntry) -> str:
        if not entry.content:
            return "0"
        count = self._tokens.get(entry.content)
        if count is None:
            self._texts_to_count[entry.content] = None
            if not self._count_timer.isActive():
                self._count_timer.start()
            return "…"
        return str(count)

    async def _count_tokens(self) -> None:
        texts = list(self._texts_to_count)[-COUNT_BATCH_SIZE:]  # what was asked for last is what one looks at
        self._texts_to_count.clear()
        self._tokens.update(zip(texts, await self._token_counts.count(texts), strict=True))
        self._emit_column_changed(TOKENS)

    # dragging

    @property
    def is_in_order(self) -> bool:
        """True if rows can be dragged, which requires prompt order."""
        return self._sorted_by is None or self._sorted_by == (ORDER, False)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled if self.is_in_order else Qt.ItemFlag.NoItemFlags
        return DRAGGABLE_FLAGS[super().flags(index)] if self.is_in_order else super().flags(index)

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        guids = dict.fromkeys(str(self.visible_rows[index.row()].guid) for index in indexes)
        data = QMimeData()
        data.setData(MIME, QByteArray(",".join(guids).encode()))
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, _column: int, parent: Index) -> bool:
        if action != Qt.DropAction.MoveAction or not data.hasFormat(MIME):
            return False
        guids = {UUID(guid) for guid in bytes(data.data(MIME).data()).decode().split(",")}
        drop_row = row if row >= 0 else parent.row() if parent.isValid() else len(self.visible_rows)
        before = next((entry.guid for entry in self.visible_rows[drop_row:] if entry.guid not in guids), None)
        above = next((entry.guid for entry in reversed(self.visible_rows[:drop_row]) if entry.guid not in guids), None)
        self.moved.emit(guids, before if before is not None or above is None else self._next_in_order(above, guids))
        return False  # the rows are filled anew from what the world is then; the view is to take nothing away

    def _next_in_order(self, guid: UUID, excluded: Collection[UUID]) -> UUID | None:
        """Return the next entry in prompt order, including hidden ones; None at the end."""
        ordered = [entry.guid for entry in sort_entries(self.all_rows)]
        return next((guid_below for guid_below in ordered[ordered.index(guid) + 1 :] if guid_below not in excluded), None)

    def find_step_target(self, moved: Collection[UUID], *, downwards: bool) -> tuple[bool, UUID | None]:
        """Return whether entries can move by one visible row, and before which entry they are then; None is the end."""
        guids = [entry.guid for entry in self.visible_rows]
        rows = [index for index, guid in enumerate(guids) if guid in moved]
        neighbour = (rows[-1] + 1 if downwards else rows[0] - 1) if rows and self.is_in_order else -1
        if not 0 <= neighbour < len(guids):
            return False, None
        return True, self._next_in_order(guids[neighbour], moved) if downwards else guids[neighbour]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if role == Qt.ItemDataRole.ToolTipRole and index.isValid() and index.column() in {NAME, KEYS}:
            entry = self.visible_rows[index.row()]
            return f"{entry.name}\n{format_keys(entry)}\n\n{entry.content[:400]}"
        if role == Qt.ItemDataRole.AccessibleTextRole and index.isValid() and index.column() == ENABLED:
            return self.tr("on") if self.visible_rows[index.row()].enabled else self.tr("off")
        return super().data(index, role)


def search_text(entry: WorldEntry) -> str:
    """Return the text that the search looks in."""
    return "\n".join((entry.name, *entry.keywords_main, *entry.keywords_secondary, *entry.groups, entry.content))


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
        selection, model, last = QItemSelection(), self.table_model, self.table_model.columnCount() - 1
        for is_selected, run in groupby(enumerate(model.visible_rows), lambda row: row[1].guid in guids):
            rows = [row for row, _entry in run]
            if is_selected:
                selection.select(model.index(rows[0], 0), model.index(rows[-1], last))
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


class EntryTable(QWidget):
    """Search field, table of entries, and the context menu for the selected ones."""

    def __init__(self, theme: Theme, book: WorldEditorState, rows: EntryRows) -> None:
        super().__init__()
        self._theme, self._book, self.rows = theme, book, rows
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
        self._update_head()

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
            menu.addAction(icon, remember, lambda: book.copy_requested.emit(entries[0]))
        menu.addSeparator()
        menu.addAction(load_icon("trash", muted), self.tr("Delete\tDel"), lambda: book.delete_entries(entries))
        return menu

    def _apply_theme(self) -> None:
        palette = self._theme.palette
        self.settings_button.setIcon(load_button_icon("info", palette.muted))
        self.new_button.setIcon(load_button_icon("plus", palette.text))
