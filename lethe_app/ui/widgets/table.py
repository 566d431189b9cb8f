"""Table used by all list pages, with keyboard operation and a text for an empty list, and its search field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QCoreApplication, QEvent, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QLineEdit, QTableView, QWidget

from lethe_app.ui.core.accessibility import announce, name_field_buttons
from lethe_app.ui.core.actions import is_idle_undo
from lethe_app.ui.core.formatting import format_count
from lethe_app.ui.core.icons import load_icon
from lethe_app.ui.core.palette import SPACE_3
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.line_list import paint_empty_text
from lethe_app.ui.widgets.table_model import STEP_SIZE, FilteredTableModel

Row = TypeVar("Row")


class Table(QTableView, Generic[Row]):
    """Table view: Enter or a double click opens a row, Del requests deletion of the selected rows, the menu key opens a
    context menu.
    """

    opened = Signal(object)
    """Row that was opened."""
    current_changed = Signal(object)
    """New current row, or None."""
    delete_requested = Signal(list)
    rename_requested = Signal()
    """F2 was pressed on the current row."""
    menu_requested = Signal(object)
    """Position of the context menu, in global coordinates."""

    def __init__(self, table_model: FilteredTableModel[Row], theme: Theme, accessible_name: str, empty_text: str) -> None:
        """Set up the view. `empty_text` is the text shown if the list has no rows at all."""
        super().__init__()
        self.table_model, self._theme, self._empty_text = table_model, theme, empty_text
        self._remembered_key: Any = None
        columns = list(enumerate(table_model.columns))
        self._min_stretch_width = max((column.min_width for _index, column in columns), default=0)
        hiding = sorted((column.hides_at, index) for index, column in columns if column.hides_at)
        self._hideable = [index for _order, index in reversed(hiding)]
        """Columns that are hidden where the table is narrow, the last one first."""
        optional = [index for index, column in columns if column.is_optional]
        self._empty_columns = frozenset(optional)
        self.is_loading = False
        """True until the rows are known; an empty list then says so."""
        self.no_match_text = ""
        """Text shown if rows exist but a filter other than the search words hides them all."""
        self.setModel(table_model)
        self.setAccessibleName(accessible_name)
        self._set_up_view()
        self.doubleClicked.connect(self._open_row)
        self.customContextMenuRequested.connect(lambda point: self.menu_requested.emit(self.viewport().mapToGlobal(point)))
        table_model.modelAboutToBeReset.connect(self._remember_current)
        table_model.modelReset.connect(self._restore_current)
        table_model.modelReset.connect(self._announce_matches)
        if optional:
            table_model.modelReset.connect(lambda: self._find_empty_columns(optional))
            table_model.rowsInserted.connect(lambda _parent, first, last: self._reveal_filled_columns(first, last))
            table_model.dataChanged.connect(lambda first, last, _roles: self._reveal_filled_columns(first.row(), last.row()))

    def _set_up_view(self) -> None:
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setAlternatingRowColors(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 18)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        for index, column in enumerate(self.table_model.columns):
            if column.width:
                header.resizeSection(index, column.width)
            else:
                header.setSectionResizeMode(index, QHeaderView.ResizeMode.Stretch)

    # Rows

    @property
    def current_row(self) -> Row | None:
        """Return the current row, or None."""
        index = self.currentIndex()
        return (
            self.table_model.visible_rows[index.row()]
            if index.isValid() and index.row() < len(self.table_model.visible_rows)
            else None
        )

    @property
    def selected_rows(self) -> list[Row]:
        """Return all selected rows, from top to bottom."""
        ranges = self.selectionModel().selection()  # which asks the model nothing, unlike `selectedRows`
        runs = [(one.top(), one.bottom()) for one in ranges]  # type: ignore[attr-defined]  # Qt's stubs forget that it is a list
        indices = sorted({index for first, last in runs for index in range(first, last + 1)})
        return [self.table_model.visible_rows[index] for index in indices if index < len(self.table_model.visible_rows)]

    def select_row(self, key: object) -> bool:
        """Make the row with this key current and scroll to it; return False if it is not shown."""
        row = self.table_model.find_visible_row(cast("Any", key))
        if row is None:
            return False
        index = self.table_model.index(row, 0)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, flags)
        self.scrollTo(index)
        return True

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:  # type: ignore[override]  # Qt allows both
        super().currentChanged(current, previous)
        self.current_changed.emit(self.current_row)

    def _remember_current(self) -> None:
        self._remembered_key = self.table_model.key_of(self.current_row) if self.current_row is not None else None

    def _restore_current(self) -> None:
        if self._remembered_key is None or not self.select_row(self._remembered_key):
            self.current_changed.emit(None)

    def _announce_matches(self) -> None:
        """Announce how many rows match what is typed into a search field."""
        focused = QApplication.focusWidget()
        if isinstance(focused, SearchField) and focused.text() and self.isVisible():
            announce(self, format_count(len(self.table_model.visible_rows), self.tr("{n} match"), self.tr("{n} matches")))

    def _open_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self.opened.emit(self.table_model.visible_rows[index.row()])

    # Column widths

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def _reveal_filled_columns(self, first: int, last: int) -> None:
        """Show the hidden columns that these rows fill; only they are looked at, because many rows are added in pieces."""
        if self._empty_columns:
            self._find_empty_columns(self._empty_columns, first, last)

    def _find_empty_columns(self, candidates: Iterable[int], first: int = 0, last: int | None = None) -> None:
        """Hide those of the candidates that are empty in the rows from `first` to `last`."""
        rows = self.table_model.visible_rows[first : None if last is None else last + 1]
        if len(rows) > STEP_SIZE:
            rows = [*rows[: STEP_SIZE // 2], *rows[-STEP_SIZE // 2 :]]  # all would take too long
        empty = frozenset(column for column in candidates if not any(map(self.table_model.columns[column].text, rows)))
        if empty != self._empty_columns:
            self._empty_columns = empty
            self.fit_columns()

    def fit_columns(self) -> None:
        """Set the column widths for the table's font, and hide columns where the table is narrow."""
        if not self._min_stretch_width:
            return
        # A line of 13-pixel text is 17 pixels high.
        factor = max(1.0, QFontMetrics(self.font()).height() / 17)
        widths = {index: round(column.width * factor) for index, column in enumerate(self.table_model.columns) if column.width}
        fixed = [index for index in widths if index not in self._hideable and not self.isColumnHidden(index)]
        free_width = self.viewport().width() - factor * self._min_stretch_width - sum(widths[index] for index in fixed)
        for index in self._hideable:
            # Once a column does not fit, `free_width` stays negative and hides all later ones.
            is_empty = index in self._empty_columns
            free_width -= 0 if is_empty else widths[index]
            self.setColumnHidden(index, is_empty or free_width < 0)
        for index, width in widths.items():
            self.horizontalHeader().resizeSection(index, width)

    # Keys and painting

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select the current row, which Qt only makes current where there was none, so that what is shown is marked."""
        super().focusInEvent(event)
        if event.reason() is not Qt.FocusReason.MouseFocusReason and self.currentIndex().isValid() and not self.selected_rows:
            self.selectRow(self.currentIndex().row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.current_row is not None:
            self.opened.emit(self.current_row)
        elif event.key() == Qt.Key.Key_F2 and self.current_row is not None:
            self.rename_requested.emit()
        elif event.key() == Qt.Key.Key_Delete and self.selected_rows:
            self.delete_requested.emit(self.selected_rows)
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page's own
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.table_model.visible_rows:
            return
        text = self.no_match_text or format_no_match(self.table_model.filter_text)
        if not self.table_model.row_total:
            text = self.tr("Loading…") if self.is_loading else self._empty_text
        paint_empty_text(self, self._theme, text)


class SearchField(QLineEdit):
    """Search field above a list, which takes the focus on `down_pressed`; Esc clears the text first."""

    down_pressed = Signal()

    def __init__(self, theme: Theme, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(180 + SPACE_3)
        self._search_icon_action = self.addAction(
            load_icon("search", theme.palette.muted), QLineEdit.ActionPosition.LeadingPosition
        )
        name_field_buttons(self)
        theme.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        self._search_icon_action.setIcon(load_icon("search", self._theme.palette.muted))

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the page while there is nothing to undo or redo here."""
        if is_idle_undo(event, has_undo=self.isUndoAvailable(), has_redo=self.isRedoAvailable()):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        elif event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        else:
            super().keyPressEvent(event)


def format_no_match(text: str) -> str:
    """Return what a list says in which nothing matches a text."""
    tr = QCoreApplication.translate
    if len(text.split()) > 1:
        return tr("Table", "No matches. Try fewer words.")
    return tr("Table", "No matches. Try another word.") if text.strip() else tr("Table", "No matches.")
