"""Rows of a table for lists of any length: nothing is made for what is not on display, and filtering is one pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column: its title, what stands in it, and by what it is sorted."""

    title: str
    text: Callable[[Row], str]
    sort_key: Callable[[Row], Any] | None = None
    """Without one by the text."""
    width: int = 120
    """Pixels at first; 0 takes what the others leave."""
    right: bool = False
    colour: Callable[[Row], str] | None = None
    """Of the text, `#rrggbb` or empty."""
    icon: Callable[[Row], Any] | None = None
    checked: Callable[[Row], bool] | None = None
    """Makes it a column of ticks; `Rows.ticked` is called when one is clicked."""


class Rows(QAbstractTableModel, Generic[Row]):
    """A table of values; `shown` are the ones that pass the filter, in the order they are sorted in."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        searched: Callable[[Row], str],
        parent: QObject | None = None,
    ) -> None:
        """`key` identifies a row when the list is filled anew, `searched` is the text in which filter words are looked for."""
        super().__init__(parent)
        self.columns = columns
        self._key, self._searched = key, searched
        self._all: list[Row] = []
        self._texts: list[str] | None = None
        self._sorted_by: tuple[int, bool] | None = None
        self._words: tuple[str, ...] = ()
        self._keep: Callable[[Row], bool] | None = None
        self.shown: list[Row] = []
        self.ticked: Callable[[Row, bool], object] = lambda _row, _on: None

    # filling and finding

    def fill(self, rows: Iterable[Row]) -> None:
        """Show these instead of what there was; filter and order stay."""
        self._all, self._texts = list(rows), None
        self._arrange()

    def filter(self, words: str = "", keep: Callable[[Row], bool] | None = None) -> None:
        """Show only rows in which every one of `words` occurs, whatever its case, and that `keep` keeps."""
        self._words, self._keep = tuple(words.casefold().split()), keep
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted_by = (column, order == Qt.SortOrder.DescendingOrder) if column >= 0 else None
        self._arrange()

    def replace(self, row: Row) -> None:
        """Show the new value of the row with the same key, where the old one stands."""
        key = self._key(row)
        place = next((place for place, old in enumerate(self._all) if self._key(old) == key), None)
        if place is None:
            return
        self._all[place] = row
        if self._texts is not None:
            self._texts[place] = self._searched(row).casefold()
        if (shown := self.place_of(key)) is not None:
            self.shown[shown] = row
            self.dataChanged.emit(self.index(shown, 0), self.index(shown, len(self.columns) - 1))

    def place_of(self, key: Hashable) -> int | None:
        """Where the row with this key is shown."""
        return next((place for place, row in enumerate(self.shown) if self._key(row) == key), None)

    def key_of(self, row: Row) -> Hashable:
        return self._key(row)

    @property
    def total(self) -> int:
        """How many there are, shown or not."""
        return len(self._all)

    def _arrange(self) -> None:
        self.beginResetModel()
        rows = self._all
        if self._words:
            if self._texts is None:
                self._texts = [self._searched(row).casefold() for row in self._all]
            words = self._words
            rows = [row for row, text in zip(rows, self._texts, strict=True) if all(word in text for word in words)]
        if self._keep is not None:
            keep = self._keep
            rows = [row for row in rows if keep(row)]
        if self._sorted_by is not None:
            column, downwards = self._sorted_by
            wanted = self.columns[column]
            by_text: Callable[[Row], Any] = lambda row: wanted.text(row).casefold()  # noqa: E731 - the default of a key
            rows = sorted(rows, key=wanted.sort_key or by_text, reverse=downwards)
        self.shown = list(rows)
        self.endResetModel()

    # what Qt asks

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignVCenter | self._side(section))
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        row, column = self.shown[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.ToolTipRole:
                found: Any = column.text(row)
            case Qt.ItemDataRole.TextAlignmentRole:
                found = int(Qt.AlignmentFlag.AlignVCenter | self._side(index.column()))
            case Qt.ItemDataRole.ForegroundRole if column.colour is not None:
                found = QColor(named) if (named := column.colour(row)) else None
            case Qt.ItemDataRole.DecorationRole if column.icon is not None:
                found = column.icon(row)
            case Qt.ItemDataRole.CheckStateRole if column.checked is not None:
                found = Qt.CheckState.Checked if column.checked(row) else Qt.CheckState.Unchecked
            case _:
                found = None
        return found

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: ANN401 - Qt's own type
        column = self.columns[index.column()] if index.isValid() else None
        if column is None or column.checked is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        self.ticked(self.shown[index.row()], Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        has_tick = index.isValid() and self.columns[index.column()].checked is not None
        return usual | Qt.ItemFlag.ItemIsUserCheckable if has_tick else usual

    def _side(self, column: int) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignRight if self.columns[column].right else Qt.AlignmentFlag.AlignLeft
