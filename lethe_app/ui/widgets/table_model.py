"""Table model for lists of any length: cells are computed when they are painted, and filtering is one pass over prepared
texts.

Rows can be added in pieces (`append_rows`, then `sort_appended_rows`). Search texts and sort keys are computed at most once
per filling or sorting, so that a key press in the filter only compares strings. A long list is filtered and sorted in steps,
between which the window answers; the rows before are shown until the last one.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QColor

from lethe_app.searchable_text import fold

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex

DEFAULT_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
CHECKABLE_FLAGS = DEFAULT_FLAGS | Qt.ItemFlag.ItemIsUserCheckable
"""Item flags, built once: they are queried for every painted cell, and combining Qt enums in Python is slow."""
TEXT_ROLE, TOOLTIP_ROLE, ALIGNMENT_ROLE = (
    int(Qt.ItemDataRole.DisplayRole),
    int(Qt.ItemDataRole.ToolTipRole),
    int(Qt.ItemDataRole.TextAlignmentRole),
)
COLOUR_ROLE, ICON_ROLE, CHECK_ROLE = (
    int(Qt.ItemDataRole.ForegroundRole),
    int(Qt.ItemDataRole.DecorationRole),
    int(Qt.ItemDataRole.CheckStateRole),
)
SUPPORTED_ROLES = frozenset({TEXT_ROLE, TOOLTIP_ROLE, ALIGNMENT_ROLE, COLOUR_ROLE, ICON_ROLE, CHECK_ROLE})
"""Roles with a value. Qt queries seven roles for every painted cell; for the others `data` returns None at once."""

STEP_SIZE = 4_000
"""Rows that are filtered or sorted in one step, which takes a few milliseconds; shorter lists are changed at once."""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """Column of a table: title, cell text and sort key."""

    title: str
    text: Callable[[Row], str]
    sort_key: Callable[[Row], Any] | None = None
    """Sort key of a row; by default the casefolded text."""
    width: int = 120
    """Width in pixels for a text size of 13 pixels; 0 stretches the column."""
    hides_at: int = 0
    """Place in the order in which columns are hidden where the table is narrow, from 1; 0 keeps the column."""
    is_optional: bool = False
    """Hides the column while it is empty in all visible rows; it needs `hides_at` as well."""
    min_width: int = 0
    """Width of a stretching column, in pixels, to which the columns with `hides_at` give way."""
    is_right_aligned: bool = False
    colour: Callable[[Row], str] | None = None
    """Text colour of a row as `#rrggbb`, or an empty string for the default."""
    icon: Callable[[Row], Any] | None = None
    is_checked: Callable[[Row], bool] | None = None
    """Makes it a column of check boxes; `FilteredTableModel.row_checked` is emitted when one is clicked."""


class FilteredTableModel(QAbstractTableModel, Generic[Row]):
    """Table model with filter and sorting; `visible_rows` are the rows that pass the filter, in sort order."""

    row_checked = Signal(object, bool)
    """The user clicked the check box of a row; nothing is checked before the row is replaced."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        search_text: Callable[[Row], str],
        parent: QObject | None = None,
        *,
        is_folded: bool = False,
    ) -> None:
        """Set up the model. `key` identifies a row when the list is filled again; `search_text` returns the text that is
        searched.

        `is_folded` states that this text is folded already, which for long lists is done when they are read.
        """
        super().__init__(parent)
        self.columns = columns
        self._key, self._search_text, self._is_folded = key, search_text, is_folded
        self._all_rows: list[Row] = []
        self._sorted_rows: list[Row] | None = None
        """All rows in sort order; None until they are needed."""
        self._search_texts: list[str] | None = None
        """Search texts of the rows in `_sorted_rows`, by the same index; None until they are needed."""
        right, left = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
        horizontal = (right if column.is_right_aligned else left for column in columns)
        self._alignments = [int(Qt.AlignmentFlag.AlignVCenter | one) for one in horizontal]
        self._sorted_by: tuple[int, bool] | None = None
        self._filter_words: tuple[str, ...] = ()
        self._row_filter: Callable[[Row], bool] | None = None
        self.visible_rows: list[Row] = []
        self._steps: Generator[None, None, list[Row]] | None = None
        """What is left of filtering and sorting; None if nothing is."""
        self._step_timer = QTimer(self, interval=0)
        self._step_timer.timeout.connect(self._take_step)

    # Rows and filter

    def set_rows(self, rows: Iterable[Row]) -> list[Row]:
        """Replace all rows and return the previous ones; filter and sort order stay."""
        previous_rows, self._all_rows, self._sorted_rows = self._all_rows, list(rows), None
        self._apply_filter()
        return previous_rows

    def append_rows(self, rows: Sequence[Row]) -> None:
        """Append rows at the bottom; a sorted list is sorted again by `sort_appended_rows`."""
        if not rows:
            return
        self.finish()
        if self._sorted_rows is None:
            self._apply_filter()  # nothing yet, but from now on it grows
        assert self._sorted_rows is not None
        # Without sorting, `_sorted_rows` is `_all_rows` itself, which is extended below.
        if self._sorted_rows is not self._all_rows:
            self._sorted_rows.extend(rows)
        self._all_rows.extend(rows)
        texts = self._folded_texts(rows) if self._search_texts is not None else []
        if self._search_texts is not None:
            self._search_texts.extend(texts)
        passing = self._select(rows, texts)
        if passing:
            self.beginInsertRows(QModelIndex(), len(self.visible_rows), len(self.visible_rows) + len(passing) - 1)
            self.visible_rows.extend(passing)
            self.endInsertRows()

    def sort_appended_rows(self) -> None:
        """Sort the rows after the last call of `append_rows`."""
        if self._sorted_by is not None:
            self._sorted_rows = None
            self._apply_filter()

    @property
    def filter_text(self) -> str:
        """Return the words that rows have to contain."""
        return " ".join(self._filter_words)

    def set_filter(self, words: str = "", row_filter: Callable[[Row], bool] | None = None) -> None:
        """Show only rows that contain every one of `words`, ignoring case, and for which `row_filter` returns True."""
        self._filter_words, self._row_filter = tuple(fold(words).split()), row_filter
        self._apply_filter()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        sorting = (column, order == Qt.SortOrder.DescendingOrder) if column >= 0 else None
        if sorting != self._sorted_by:
            self._sorted_by, self._sorted_rows = sorting, None
            self._apply_filter()

    def replace_row(self, row: Row) -> None:
        """Replace the row that has the same key, without sorting or filtering again."""
        self.finish()
        key = self._key(row)
        position = _find_row(self._all_rows, self._key, key)
        if position is None:
            return
        self._all_rows[position] = row
        if self._sorted_rows is not None and (position := _find_row(self._sorted_rows, self._key, key)) is not None:
            self._sorted_rows[position] = row
            if self._search_texts is not None:
                self._search_texts[position] = self._folded_texts([row])[0]
        if (visible_position := self.find_visible_row(key)) is not None:
            self.visible_rows[visible_position] = row
            self.dataChanged.emit(self.index(visible_position, 0), self.index(visible_position, len(self.columns) - 1))

    def find_visible_row(self, key: Hashable) -> int | None:
        """Return the index in `visible_rows` of the row with this key, after all steps; None if it is not shown."""
        self.finish()
        return _find_row(self.visible_rows, self._key, key)

    def key_of(self, row: Row) -> Hashable:
        return self._key(row)

    @property
    def all_rows(self) -> list[Row]:
        """Return all rows, shown or not, in the order in which they were added; do not modify the list."""
        return self._all_rows

    @property
    def row_total(self) -> int:
        """Return the number of all rows, shown or not."""
        return len(self._all_rows)

    # Filtering and sorting

    @property
    def is_busy(self) -> bool:
        """Return whether steps of filtering and sorting are left, so that `visible_rows` are still those before."""
        return self._steps is not None

    def finish(self) -> None:
        """Take all steps of filtering and sorting that are left, at once."""
        while self._steps is not None:
            self._take_step()

    def _take_step(self) -> None:
        try:
            if self._steps is not None:
                next(self._steps)
        except StopIteration as end:
            self._steps = None
            self._step_timer.stop()
            self.beginResetModel()
            self.visible_rows = end.value
            self.endResetModel()

    def _apply_filter(self) -> None:
        self._steps = self._filter_in_steps()
        if len(self._all_rows) > STEP_SIZE:
            self._step_timer.start()
        else:
            self.finish()

    def _filter_in_steps(self) -> Generator[None, None, list[Row]]:
        """Return the rows to show. The next call may come before the last step, so nothing incomplete is kept."""
        if self._sorted_rows is None:
            sorted_rows = yield from self._sort_in_steps()
            self._sorted_rows, self._search_texts = sorted_rows, None
        rows, passing = self._sorted_rows, list[Row]()
        if not self._filter_words and self._row_filter is None:
            return list(rows)
        if self._filter_words and self._search_texts is None:
            texts = list[str]()
            for start in range(0, len(rows), STEP_SIZE):
                texts += self._folded_texts(rows[start : start + STEP_SIZE])
                yield
            self._search_texts = texts
        for start in range(0, len(rows), STEP_SIZE):
            end = start + STEP_SIZE
            passing += self._select(rows[start:end], (self._search_texts or [])[start:end])
            yield
        return passing

    def _select(self, rows: Sequence[Row], texts: Sequence[str]) -> Sequence[Row]:
        """Return the rows that pass the filters; `texts` are what is searched for words, which only those need."""
        if self._filter_words:
            found = list(zip(rows, texts, strict=True))
            for word in sorted(self._filter_words, key=len, reverse=True):  # the longest is the rarest
                found = [pair for pair in found if word in pair[1]]
            rows = [row for row, _text in found]
        return rows if self._row_filter is None else list(filter(self._row_filter, rows))

    def _sort_in_steps(self) -> Generator[None, None, list[Row]]:
        if self._sorted_by is None:
            return self._all_rows
        column, is_descending = self._sorted_by
        sort_column, rows = self.columns[column], self._all_rows
        keys, runs, sorted_rows = list[Any](), list[list[int]](), list[Row]()
        key_of = sort_column.sort_key or (lambda row: sort_column.text(row).casefold())
        for start in range(0, len(rows), STEP_SIZE):
            keys += map(key_of, rows[start : start + STEP_SIZE])
            runs.append(sorted(range(start, len(keys)), key=keys.__getitem__, reverse=is_descending))
            yield
        merged = heapq.merge(*runs, key=keys.__getitem__, reverse=is_descending)
        while indices := list(itertools.islice(merged, STEP_SIZE)):
            sorted_rows += [rows[index] for index in indices]
            yield
        return sorted_rows

    def _folded_texts(self, rows: Sequence[Row]) -> list[str]:
        texts = map(self._search_text, rows)
        return list(texts) if self._is_folded else [fold(text) for text in texts]

    # Model interface

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.visible_rows)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignments[section] if orientation == Qt.Orientation.Horizontal else None
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if role not in SUPPORTED_ROLES or not index.isValid() or index.row() >= len(self.visible_rows):
            return None
        row, column = self.visible_rows[index.row()], self.columns[index.column()]
        value: Any = None
        if role in (TEXT_ROLE, TOOLTIP_ROLE):
            value = column.text(row)
        elif role == ALIGNMENT_ROLE:
            value = self._alignments[index.column()]
        elif role == COLOUR_ROLE and column.colour is not None:
            value = QColor(colour_name) if (colour_name := column.colour(row)) else None
        elif role == ICON_ROLE and column.icon is not None:
            value = column.icon(row)
        elif role == CHECK_ROLE and column.is_checked is not None:
            value = Qt.CheckState.Checked if column.is_checked(row) else Qt.CheckState.Unchecked
        return value

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: ANN401 - Qt's own type
        column = self.columns[index.column()] if index.isValid() else None
        if column is None or column.is_checked is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        self.row_checked.emit(self.visible_rows[index.row()], Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        has_tick = index.isValid() and self.columns[index.column()].is_checked is not None
        return CHECKABLE_FLAGS if has_tick else DEFAULT_FLAGS


def _find_row(rows: Sequence[Row], key: Callable[[Row], Hashable], wanted_key: Hashable) -> int | None:
    try:
        return list(map(key, rows)).index(wanted_key)  # much faster than a loop over tens of thousands of rows
    except ValueError:
        return None
