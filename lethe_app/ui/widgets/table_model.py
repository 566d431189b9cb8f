"""Table model for lists of any length: cells are computed when they are painted, and filtering is one pass over prepared
texts.

Rows can be added in pieces (`extend`, then `finish`). Search texts and sort keys are computed at most once per filling or
sorting, so that a key press in the filter only compares strings.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex

USUAL = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
TICKABLE = USUAL | Qt.ItemFlag.ItemIsUserCheckable
"""Item flags, built once: they are queried for every painted cell, and combining Qt enums in Python is slow."""
TEXT, WHOLE, SIDE = int(Qt.ItemDataRole.DisplayRole), int(Qt.ItemDataRole.ToolTipRole), int(Qt.ItemDataRole.TextAlignmentRole)
COLOUR, SIGN, TICK = (
    int(Qt.ItemDataRole.ForegroundRole),
    int(Qt.ItemDataRole.DecorationRole),
    int(Qt.ItemDataRole.CheckStateRole),
)
ANSWERED = frozenset({TEXT, WHOLE, SIDE, COLOUR, SIGN, TICK})
"""Roles with a value. Qt queries seven roles for every painted cell; for the others `data` returns None at once."""

STEPS = 16
"""Number of filter states that are kept, so that deleting a character in the filter does not search all texts again."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """Column of a table: title, cell text and sort key."""

    title: str
    text: Callable[[Row], str]
    sort_key: Callable[[Row], Any] | None = None
    """Sort key of a row; by default the casefolded text."""
    width: int = 120
    """Initial width in pixels; 0 stretches the column."""
    right: bool = False
    colour: Callable[[Row], str] | None = None
    """Text colour of a row as `#rrggbb`, or an empty string for the default."""
    icon: Callable[[Row], Any] | None = None
    checked: Callable[[Row], bool] | None = None
    """Makes it a column of check boxes; `FilteredTableModel.ticked` is called when one is clicked."""
    is_extra: bool = False
    """True if the column may be hidden when the table is narrow."""


class FilteredTableModel(QAbstractTableModel, Generic[Row]):
    """Table model with filter and sorting; `shown` are the rows that pass the filter, in sort order."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        searched: Callable[[Row], str],
        parent: QObject | None = None,
        *,
        is_folded: bool = False,
    ) -> None:
        """Set up the model. `key` identifies a row when the list is filled again; `searched` returns the text that is
        searched.

        `is_folded` states that this text is casefolded already, which for long lists is done when they are read.
        """
        super().__init__(parent)
        self.columns = columns
        self._key, self._searched, self._is_folded = key, searched, is_folded
        self._all: list[Row] = []
        self._ordered: list[Row] | None = None
        """All rows in sort order; None until they are needed."""
        self._texts: list[str] | None = None
        """Search texts of the rows in `_ordered`, by the same index; None until they are needed."""
        self._steps: list[tuple[tuple[str, ...], list[int]]] = []
        """Successive filters with the indices of their matches in `_ordered`. Each narrows the one before, so it searches
        only its matches.
        """
        self._sides = [int(Qt.AlignmentFlag.AlignVCenter | _side(column)) for column in columns]
        self._sorted_by: tuple[int, bool] | None = None
        self._words: tuple[str, ...] = ()
        self._keep: Callable[[Row], bool] | None = None
        self.shown: list[Row] = []
        self.ticked: Callable[[Row, bool], object] = lambda _row, _on: None

    # Rows and filter

    def fill(self, rows: Iterable[Row]) -> list[Row]:
        """Replace all rows and return the previous ones; filter and sort order stay."""
        before, self._all, self._ordered = self._all, list(rows), None
        self._arrange()
        return before

    def extend(self, rows: Sequence[Row]) -> None:
        """Append rows at the bottom; a sorted list is sorted again by `finish`."""
        if not rows:
            return
        if self._ordered is None:
            self._arrange()  # nothing yet, but from now on it grows
        assert self._ordered is not None
        start = len(self._ordered)
        # Without sorting, `_ordered` is `_all` itself, which is extended below.
        if self._ordered is not self._all:
            self._ordered.extend(rows)
        self._all.extend(rows)
        if self._texts is not None:
            self._texts.extend(self._folded(rows))
        passing: Sequence[Row] = rows
        if self._words:
            # Only the newest filter state is updated with the new rows; older states would miss them and are dropped.
            places = self._matching(range(start, start + len(rows)))
            self._steps[:] = self._steps[-1:]
            self._steps[0][1].extend(places)
            passing = [self._ordered[place] for place in places]
        if self._keep is not None:
            passing = list(filter(self._keep, passing))
        if passing:
            self.beginInsertRows(QModelIndex(), len(self.shown), len(self.shown) + len(passing) - 1)
            self.shown.extend(passing)
            self.endInsertRows()

    def finish(self) -> None:
        """Sort the rows after the last call of `extend`."""
        if self._sorted_by is not None:
            self._ordered = None
            self._arrange()

    def filter(self, words: str = "", keep: Callable[[Row], bool] | None = None) -> None:
        """Show only rows that contain every one of `words`, ignoring case, and for which `keep` returns True."""
        self._words, self._keep = tuple(words.casefold().split()), keep
        while self._steps and not _goes_on(self._steps[-1][0], self._words):
            self._steps.pop()  # a key was taken back: what was found before it is still known
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        wanted = (column, order == Qt.SortOrder.DescendingOrder) if column >= 0 else None
        if wanted != self._sorted_by:
            self._sorted_by, self._ordered = wanted, None
            self._arrange()

    def replace(self, row: Row) -> None:
        """Replace the row that has the same key, without sorting or filtering again."""
        key = self._key(row)
        place = _place(self._all, self._key, key)
        if place is None:
            return
        self._all[place] = row
        if self._ordered is not None and (place := _place(self._ordered, self._key, key)) is not None:
            self._ordered[place] = row
            if self._texts is not None:
                self._texts[place] = self._folded([row])[0]
                self._steps[:] = self._steps[-1:]
        if (shown := self.place_of(key)) is not None:
            self.shown[shown] = row
            self.dataChanged.emit(self.index(shown, 0), self.index(shown, len(self.columns) - 1))

    def place_of(self, key: Hashable) -> int | None:
        """Return the index in `shown` of the row with this key; None if it is not shown."""
        return _place(self.shown, self._key, key)

    def key_of(self, row: Row) -> Hashable:
        return self._key(row)

    @property
    def everything(self) -> list[Row]:
        """Return all rows, shown or not, in the order in which they were added; do not modify the list."""
        return self._all

    @property
    def total(self) -> int:
        """Return the number of all rows, shown or not."""
        return len(self._all)

    def _arrange(self) -> None:
        self.beginResetModel()
        if self._ordered is None:
            self._ordered, self._texts, self._steps = self._in_order(), None, []
        rows = self._ordered
        if self._words:
            if self._texts is None:
                self._texts = self._folded(rows)
            if not self._steps or self._steps[-1][0] != self._words:
                where = self._steps[-1][1] if self._steps else range(len(rows))
                self._steps = [*self._steps[1 - STEPS :], (self._words, self._matching(where))]
            rows = [rows[place] for place in self._steps[-1][1]]
        self.shown = list(filter(self._keep, rows)) if self._keep is not None else list(rows)
        self.endResetModel()

    def _in_order(self) -> list[Row]:
        if self._sorted_by is None:
            return self._all
        column, downwards = self._sorted_by
        wanted = self.columns[column]
        by_text: Callable[[Row], Any] = lambda row: wanted.text(row).casefold()  # noqa: E731 - the default of a key
        return sorted(self._all, key=wanted.sort_key or by_text, reverse=downwards)

    def _folded(self, rows: Sequence[Row]) -> list[str]:
        texts = map(self._searched, rows)
        return list(texts) if self._is_folded else [text.casefold() for text in texts]

    def _matching(self, places: Sequence[int]) -> list[int]:
        """Return those of the indices whose text contains every word."""
        texts = self._texts or []
        first, *others = sorted(self._words, key=len, reverse=True)  # the longest is the rarest
        if len(places) == len(texts):
            found = [place for place, text in enumerate(texts) if first in text]
        else:
            found = [place for place in places if first in texts[place]]
        for word in others:
            found = [place for place in found if word in texts[place]]
        return found

    # Model interface

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._sides[section] if orientation == Qt.Orientation.Horizontal else None
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if role not in ANSWERED or not index.isValid() or index.row() >= len(self.shown):
            return None
        row, column = self.shown[index.row()], self.columns[index.column()]
        found: Any = None
        if role in (TEXT, WHOLE):
            found = column.text(row)
        elif role == SIDE:
            found = self._sides[index.column()]
        elif role == COLOUR and column.colour is not None:
            found = QColor(named) if (named := column.colour(row)) else None
        elif role == SIGN and column.icon is not None:
            found = column.icon(row)
        elif role == TICK and column.checked is not None:
            found = Qt.CheckState.Checked if column.checked(row) else Qt.CheckState.Unchecked
        return found

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: ANN401 - Qt's own type
        column = self.columns[index.column()] if index.isValid() else None
        if column is None or column.checked is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        self.ticked(self.shown[index.row()], Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        has_tick = index.isValid() and self.columns[index.column()].checked is not None
        return TICKABLE if has_tick else USUAL


def _side(column: Column[Any]) -> Qt.AlignmentFlag:
    return Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft


def _goes_on(before: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether the new words narrow the old ones, so that texts that did not match before cannot match now."""
    return all(any(old in new for new in words) for old in before)


def _place(rows: Sequence[Row], key: Callable[[Row], Hashable], wanted: Hashable) -> int | None:
    return next((place for place, row in enumerate(rows) if key(row) == wanted), None)
