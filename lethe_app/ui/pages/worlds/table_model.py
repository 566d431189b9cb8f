"""Table model of world entries: tokens are counted for visible rows only, and rows can be dragged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtCore import QByteArray, QMimeData, QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.worlds.entry_order import MAX_SINGLE_REPLACEMENTS, order_key, sort_entries
from lethe_app.ui.pages.worlds.labels import format_keys, format_position
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

MIME = "application/x-lethe-entries"
COUNT_BATCH_SIZE = 200
"""Texts whose tokens are counted in one request."""
PREPARE_INTERVAL_MS, PREPARE_BATCH_SIZE = 5, 250
"""Interval in milliseconds and number of entries per step with which search texts are prepared in advance."""
ENABLED, NAME, KEYS, POSITION, TOKENS, PRIORITY, ORDER, USES = range(8)
Index = QModelIndex | QPersistentModelIndex
_BASE_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
FLAGS = {
    (False, False): _BASE_FLAGS,
    (False, True): _BASE_FLAGS | Qt.ItemFlag.ItemIsDragEnabled,
    (True, False): _BASE_FLAGS | Qt.ItemFlag.ItemIsUserCheckable,
    (True, True): _BASE_FLAGS | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsDragEnabled,
}
"""Item flags by (is checkable, is draggable), precomputed because Qt queries every cell when many are selected."""


class EntryRows(FilteredTableModel[WorldEntry]):
    """Table model of entries, in prompt order unless sorted by another column."""

    moved = Signal(object, object)
    """GUIDs of the dragged entries, and that of the entry they were dropped before; None is the end."""

    def __init__(self, theme: Theme, request_counts: Callable[[Sequence[str]], object]) -> None:
        """Create the model; `request_counts` is called with texts whose tokens are then passed to `set_tokens`."""
        self._theme, self._request_counts = theme, request_counts
        self._tokens: dict[str, int] = {}
        self._texts_to_count: dict[str, None] = {}
        self._use_counts: Mapping[UUID, int] = {}
        self._entries: list[WorldEntry] = []
        self._search_text_cache: dict[int, tuple[WorldEntry, str]] = {}
        """Entry and its case-folded search text by object id; each version of an entry is another object. Holding the entry
        keeps the id unique.
        """
        super().__init__(self._build_columns(), attrgetter("guid"), self._cached_search_text, is_casefolded=True)
        self._entries_to_prepare: Iterator[WorldEntry] = iter(())
        self._prepare_timer = QTimer(self, interval=PREPARE_INTERVAL_MS)
        self._prepare_timer.timeout.connect(self._prepare_search_texts)
        self._count_timer = QTimer(self, singleShot=True, interval=30)
        self._count_timer.timeout.connect(self._request_pending_counts)

    def _build_columns(self) -> list[Column[WorldEntry]]:
        def count_uses(entry: WorldEntry) -> int:
            return self._use_counts.get(entry.guid, 0)

        tr, by, entry = self.tr, attrgetter, Column[WorldEntry]
        return [
            entry("", lambda _one: "", lambda one: not one.enabled, 36, is_checked=by("enabled")),
            entry(tr("Name"), lambda one: one.name or one.content[:80], width=0, min_width=200, colour=self._text_colour),
            entry(tr("Keys"), format_keys, width=220, hides_at=6, colour=lambda _one: self._theme.palette.muted),
            entry(tr("Position"), format_position, by("position_index"), 128, hides_at=5),
            entry(tr("Tokens"), self._format_tokens, self._token_sort_key, 66, hides_at=4, is_right_aligned=True),
            entry(tr("Priority"), lambda one: str(one.priority), by("priority"), 68, hides_at=3, is_right_aligned=True),
            entry(tr("Order"), lambda one: str(one.order), by("order"), 58, hides_at=1, is_right_aligned=True),
            entry(tr("Uses"), self._format_uses, count_uses, 64, hides_at=2, is_right_aligned=True),
        ]

    # filling

    def show_world(self, world: World | None, *, is_new_world: bool) -> None:
        """Show the entries of a world; entries that are the same objects as before are not updated."""
        entries = list(world.entries) if world is not None else []
        old, self._entries = self._entries, entries
        if is_new_world or len(self._search_text_cache) > 2 * len(entries):  # every version that was has left its text
            self._search_text_cache.clear()
        self._entries_to_prepare = iter(entries)
        self._prepare_timer.start()
        if not is_new_world and len(old) == len(entries):
            changed = [(was, now) for was, now in zip(old, entries, strict=True) if was is not now]
            if len(changed) <= MAX_SINGLE_REPLACEMENTS and all(self._keeps_row(was, now) for was, now in changed):
                for _was, now in changed:
                    self.replace_row(now)
                return
        self.set_rows(sort_entries(entries))

    def _keeps_row(self, old_entry: WorldEntry, new_entry: WorldEntry) -> bool:
        """Return whether the new version is the same entry and keeps its place among its neighbours."""
        if old_entry.guid != new_entry.guid or order_key(old_entry) == order_key(new_entry) or self._sorted_by is not None:
            return old_entry.guid == new_entry.guid and order_key(old_entry) == order_key(new_entry)
        index = next((index for index, entry in enumerate(self.all_rows) if entry is old_entry), -1)
        neighbours = [*self.all_rows[max(0, index - 1) : index], new_entry, *self.all_rows[index + 1 : index + 2]]
        return index >= 0 and neighbours == sort_entries(neighbours)

    def _cached_search_text(self, entry: WorldEntry) -> str:
        cached = self._search_text_cache.get(id(entry))
        if cached is None:
            cached = self._search_text_cache[id(entry)] = (entry, search_text(entry).casefold())
        return cached[1]

    def _prepare_search_texts(self) -> None:
        """Prepare some search texts, so that all are ready when the user begins to search."""
        batch = list(islice(self._entries_to_prepare, PREPARE_BATCH_SIZE))
        for entry in batch:
            self._cached_search_text(entry)
        if not batch:
            self._prepare_timer.stop()

    def set_use_counts(self, counts: Mapping[UUID, int]) -> None:
        """Set the number of turns in which each entry was active."""
        self._use_counts = counts
        self._emit_column_changed(USES)

    def set_tokens(self, counts: Mapping[str, int]) -> None:
        self._tokens.update(counts)
        self._emit_column_changed(TOKENS)

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

    def _token_sort_key(self, entry: WorldEntry) -> int:
        """Return the sort value of the token count, estimated from the length of the text until it is counted."""
        return self._tokens.get(entry.content, len(entry.content) // 4)

    def _format_uses(self, entry: WorldEntry) -> str:
        count = self._use_counts.get(entry.guid, 0)
        return str(count) if count else ""

    def _request_pending_counts(self) -> None:
        texts = list(self._texts_to_count)[-COUNT_BATCH_SIZE:]  # what was asked for last is what one looks at
        self._texts_to_count.clear()
        if texts:
            self._request_counts(texts)

    def _text_colour(self, entry: WorldEntry) -> str:
        return "" if entry.enabled else self._theme.palette.muted

    # dragging

    @property
    def is_in_order(self) -> bool:
        """True if rows can be dragged, which requires prompt order."""
        return self._sorted_by is None or self._sorted_by == (ORDER, False)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled if self.is_in_order else Qt.ItemFlag.NoItemFlags
        return FLAGS[index.column() == ENABLED, self.is_in_order]

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
