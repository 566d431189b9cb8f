"""Table used by all list pages, with keyboard operation and a text for an empty list, and its search field."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLineEdit, QTableView, QWidget

from lethe_app.ui.core.icons import icon
from lethe_app.ui.core.palette import SPACE_3, SPACE_8
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.widgets.table_model import FilteredTableModel

Row = TypeVar("Row")
LEAST = 150
"""Minimum width in pixels that a stretching column should keep."""


class Table(QTableView, Generic[Row]):
    """Table view: Enter or a double click opens a row, Del requests deletion of the selected rows, the menu key opens a
    context menu.
    """

    opened = Signal(object)
    """Row that was opened."""
    current_changed = Signal(object)
    """New current row, or None."""
    delete_wanted = Signal(list)
    menu_wanted = Signal(object)
    """Position of the context menu, in global coordinates."""

    def __init__(
        self, rows: FilteredTableModel[Row], theme: Theme, name: str, empty: str, parent: QWidget | None = None
    ) -> None:
        """Set up the view. `name` is the accessible name; `empty` is the text shown if the list has no rows at all."""
        super().__init__(parent)
        self.rows, self._theme, self._empty = rows, theme, empty
        self._held: Any = None
        self.unmatched = ""
        """Text shown if rows exist but a filter other than the search words hides them all."""
        self.setModel(rows)
        self.setAccessibleName(name)
        self._look()
        self.doubleClicked.connect(self._open)
        self.customContextMenuRequested.connect(lambda point: self.menu_wanted.emit(self.viewport().mapToGlobal(point)))
        rows.modelAboutToBeReset.connect(self._remember)
        rows.modelReset.connect(self._return)

    def _look(self) -> None:
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
        for place, column in enumerate(self.rows.columns):
            if column.width:
                header.resizeSection(place, column.width)
            else:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)

    # Rows

    @property
    def current(self) -> Row | None:
        """Return the current row, or None."""
        index = self.currentIndex()
        return self.rows.shown[index.row()] if index.isValid() and index.row() < len(self.rows.shown) else None

    @property
    def selected(self) -> list[Row]:
        """Return all selected rows, from top to bottom."""
        ranges = self.selectionModel().selection()  # which asks the model nothing, unlike `selectedRows`
        runs = [(one.top(), one.bottom()) for one in ranges]  # type: ignore[attr-defined]  # Qt's stubs forget that it is a list
        places = sorted({place for first, last in runs for place in range(first, last + 1)})
        return [self.rows.shown[place] for place in places if place < len(self.rows.shown)]

    def go_to(self, key: object) -> bool:
        """Make the row with this key current and scroll to it; return False if it is not shown."""
        place = self.rows.place_of(cast("Any", key))
        if place is None:
            return False
        index = self.rows.index(place, 0)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, flags)
        self.scrollTo(index)
        return True

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:  # type: ignore[override]  # Qt allows both
        super().currentChanged(current, previous)
        self.current_changed.emit(self.current)

    def _remember(self) -> None:
        self._held = self.rows.key_of(self.current) if self.current is not None else None

    def _return(self) -> None:
        if self._held is None or not self.go_to(self._held):
            self.current_changed.emit(None)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.opened.emit(self.rows.shown[index.row()])

    # Column widths

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        """Hide extra columns, last ones first, until the stretching columns have their minimum width."""
        header, columns = self.horizontalHeader(), self.rows.columns
        widths = [header.sectionSize(place) or column.width if column.width else LEAST for place, column in enumerate(columns)]
        room = self.viewport().width()
        for place in reversed(range(len(columns))):
            if columns[place].is_extra:
                hidden = sum(widths) > room
                self.setColumnHidden(place, hidden)
                widths[place] = 0 if hidden else widths[place]

    # Keys and painting

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.current is not None:
            self.opened.emit(self.current)
        elif event.key() == Qt.Key.Key_Delete and self.selected:
            self.delete_wanted.emit(self.selected)
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()  # the page's own
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.rows.shown:
            return
        words = self._empty if not self.rows.total else self.unmatched or self.tr("No matches. Try fewer words.")
        painter = QPainter(self.viewport())
        painter.setPen(QColor(self._theme.palette.muted))
        place = self.viewport().rect().adjusted(SPACE_8, SPACE_8, -SPACE_8, -SPACE_8)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.TextFlag.TextWordWrap), words)
        painter.end()


class SearchField(QLineEdit):
    """Search field above a list: Down moves the focus to the list, Esc clears the text first."""

    def __init__(self, theme: Theme, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setPlaceholderText(words)
        self.setAccessibleName(words)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(180 + SPACE_3)
        self._glass = self.addAction(icon("search", theme.palette.muted), QLineEdit.ActionPosition.LeadingPosition)
        theme.changed.connect(self._dress)
        self.below: QWidget | None = None
        """Widget that gets the focus on Down."""

    def _dress(self) -> None:
        self._glass.setIcon(icon("search", self._theme.palette.muted))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        elif event.key() == Qt.Key.Key_Down and self.below is not None:
            self.below.setFocus()
        else:
            super().keyPressEvent(event)
