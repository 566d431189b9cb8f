"""Table model of world entries: tokens are counted for visible rows only, and rows can be dragged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any
from uuid import UUID

from PySide6.QtCore import QByteArray, QMimeData, QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.ui.core.theme import Theme, chrome_size
from lethe_app.ui.pages.worlds.commands import FEW, in_order, standing
from lethe_app.ui.pages.worlds.labels import keys_in_words, place_in_words
from lethe_app.ui.widgets.table_model import Column, FilteredTableModel

MIME = "application/x-lethe-entries"
AT_ONCE = 200
"""Texts whose tokens are counted in one request."""
AHEAD_MS, FOLDED_AT_ONCE = 5, 250
"""Interval in milliseconds and number of entries per step with which search texts are prepared in advance."""
ON, NAME, KEYS, PLACE, TOKENS, PRIORITY, ORDER, FIRED = range(8)
Index = QModelIndex | QPersistentModelIndex
_USUAL = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
FLAGS = {
    (False, False): _USUAL,
    (False, True): _USUAL | Qt.ItemFlag.ItemIsDragEnabled,
    (True, False): _USUAL | Qt.ItemFlag.ItemIsUserCheckable,
    (True, True): _USUAL | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsDragEnabled,
}
"""Item flags by (is checkable, is draggable), precomputed because Qt queries every cell when many are selected."""


class EntryRows(FilteredTableModel[WorldEntry]):
    """Table model of entries, in prompt order unless sorted by another column."""

    moved = Signal(object, object)
    """GUIDs of the dragged entries, and that of the entry they were dropped before; None is the end."""

    def __init__(self, theme: Theme, count_wanted: Callable[[Sequence[str]], object]) -> None:
        """Create the model; `count_wanted` is called with texts whose tokens are then passed to `set_tokens`."""
        self._theme, self._count_wanted = theme, count_wanted
        self._tokens: dict[str, int] = {}
        self._wanted: dict[str, None] = {}
        self._fired: Mapping[UUID, int] = {}
        self._entries: list[WorldEntry] = []
        self._folds: dict[int, tuple[WorldEntry, str]] = {}
        """Entry and its case-folded search text by object id; each version of an entry is another object. Holding the entry
        keeps the id unique.
        """
        super().__init__(self._made_columns(), attrgetter("guid"), self._fold, is_folded=True)
        self._unfolded: Iterator[WorldEntry] = iter(())
        self._ahead = QTimer(self, interval=AHEAD_MS)
        self._ahead.timeout.connect(self._fold_ahead)
        self._soon = QTimer(self, singleShot=True, interval=30)
        self._soon.timeout.connect(self._ask)

    def _made_columns(self) -> list[Column[WorldEntry]]:
        def wide(pixels: int) -> int:
            return round(pixels * chrome_size(self._theme.prose_size) / 13)

        entry = Column[WorldEntry]
        return [
            entry("", lambda _one: "", lambda one: not one.enabled, wide(36), checked=lambda one: one.enabled),
            entry(self.tr("Name"), lambda one: one.name or one.content[:80], width=0, colour=self._ink),
            entry(self.tr("Keys"), keys_in_words, width=wide(116), colour=lambda _one: self._theme.palette.muted),
            entry(self.tr("Position"), place_in_words, lambda one: one.position_index, wide(128)),
            entry(self.tr("Tokens"), self._token_words, self._weight, wide(66), right=True),
            entry(self.tr("Priority"), lambda one: str(one.priority), lambda one: one.priority, wide(68), right=True),
            entry(self.tr("Order"), lambda one: str(one.order), lambda one: one.order, wide(58), right=True),
            entry(self.tr("Uses"), self._fired_words, lambda one: self._fired.get(one.guid, 0), wide(64), right=True),
        ]

    # filling

    def show_world(self, world: World | None, *, anew: bool) -> None:
        """Show the entries of a world; entries that are the same objects as before are not updated."""
        entries = list(world.entries) if world is not None else []
        old, self._entries = self._entries, entries
        if anew or len(self._folds) > 2 * len(entries):  # every version that was has left its text
            self._folds.clear()
        self._unfolded = iter(entries)
        self._ahead.start()
        if not anew and len(old) == len(entries):
            changed = [(was, now) for was, now in zip(old, entries, strict=True) if was is not now]
            if len(changed) <= FEW and all(self._stays(was, now) for was, now in changed):
                for _was, now in changed:
                    self.replace(now)
                return
        self.fill(in_order(entries))

    def _stays(self, was: WorldEntry, now: WorldEntry) -> bool:
        """Return whether the new version is the same entry and keeps its place among its neighbours."""
        if was.guid != now.guid or standing(was) == standing(now) or self._sorted_by is not None:
            return was.guid == now.guid and standing(was) == standing(now)
        place = next((place for place, entry in enumerate(self.everything) if entry is was), -1)
        around = [*self.everything[max(0, place - 1) : place], now, *self.everything[place + 1 : place + 2]]
        return place >= 0 and around == in_order(around)

    def _fold(self, entry: WorldEntry) -> str:
        known = self._folds.get(id(entry))
        if known is None:
            known = self._folds[id(entry)] = (entry, searched(entry).casefold())
        return known[1]

    def _fold_ahead(self) -> None:
        """Prepare some search texts, so that all are ready when the user begins to search."""
        some = list(islice(self._unfolded, FOLDED_AT_ONCE))
        for entry in some:
            self._fold(entry)
        if not some:
            self._ahead.stop()

    def set_fired(self, counts: Mapping[UUID, int]) -> None:
        """Set the number of turns in which each entry was active."""
        self._fired = counts
        self._redraw(FIRED)

    def set_tokens(self, counts: Mapping[str, int]) -> None:
        self._tokens.update(counts)
        self._redraw(TOKENS)

    def forget_tokens(self) -> None:
        """Drop all token counts, because another model was loaded."""
        self._tokens.clear()
        self._redraw(TOKENS)

    def _redraw(self, column: int) -> None:
        if self.shown:
            self.dataChanged.emit(self.index(0, column), self.index(len(self.shown) - 1, column))

    def _token_words(self, entry: WorldEntry) -> str:
        if not entry.content:
            return "0"
        known = self._tokens.get(entry.content)
        if known is None:
            self._wanted[entry.content] = None
            if not self._soon.isActive():
                self._soon.start()
            return "…"
        return str(known)

    def _weight(self, entry: WorldEntry) -> int:
        """Return the sort value of the token count, estimated from the length of the text until it is counted."""
        return self._tokens.get(entry.content, len(entry.content) // 4)

    def _fired_words(self, entry: WorldEntry) -> str:
        count = self._fired.get(entry.guid, 0)
        return str(count) if count else ""

    def _ask(self) -> None:
        texts = list(self._wanted)[-AT_ONCE:]  # what was asked for last is what one looks at
        self._wanted.clear()
        if texts:
            self._count_wanted(texts)

    def _ink(self, entry: WorldEntry) -> str:
        return "" if entry.enabled else self._theme.palette.muted

    # dragging

    @property
    def is_in_order(self) -> bool:
        """True if rows can be dragged, which requires prompt order."""
        return self._sorted_by is None or self._sorted_by == (ORDER, False)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled if self.is_in_order else Qt.ItemFlag.NoItemFlags
        return FLAGS[index.column() == ON, self.is_in_order]

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        guids = dict.fromkeys(str(self.shown[index.row()].guid) for index in indexes)
        data = QMimeData()
        data.setData(MIME, QByteArray(",".join(guids).encode()))
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, _column: int, parent: Index) -> bool:
        if action != Qt.DropAction.MoveAction or not data.hasFormat(MIME):
            return False
        guids = {UUID(guid) for guid in bytes(data.data(MIME).data()).decode().split(",")}
        place = row if row >= 0 else parent.row() if parent.isValid() else len(self.shown)
        before = next((entry.guid for entry in self.shown[place:] if entry.guid not in guids), None)
        above = next((entry.guid for entry in reversed(self.shown[:place]) if entry.guid not in guids), None)
        self.moved.emit(guids, before if before is not None or above is None else self._below(above, guids))
        return False  # the rows are filled anew from what the world is then; the view is to take nothing away

    def _below(self, guid: UUID, besides: Collection[UUID]) -> UUID | None:
        """Return the next entry in prompt order, including hidden ones; None at the end."""
        line = [entry.guid for entry in in_order(self.everything)]
        return next((one for one in line[line.index(guid) + 1 :] if one not in besides), None)

    def step_target(self, moved: Collection[UUID], *, downwards: bool) -> tuple[bool, UUID | None]:
        """Return whether entries can move by one visible row, and before which entry they are then; None is the end."""
        line = [entry.guid for entry in self.shown]
        places = [place for place, guid in enumerate(line) if guid in moved]
        neighbour = (places[-1] + 1 if downwards else places[0] - 1) if places and self.is_in_order else -1
        if not 0 <= neighbour < len(line):
            return False, None
        return True, self._below(line[neighbour], moved) if downwards else line[neighbour]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own type
        if role == Qt.ItemDataRole.ToolTipRole and index.isValid() and index.column() in {NAME, KEYS}:
            entry = self.shown[index.row()]
            return f"{entry.name}\n{keys_in_words(entry)}\n\n{entry.content[:400]}"
        if role == Qt.ItemDataRole.AccessibleTextRole and index.isValid() and index.column() == ON:
            return self.tr("on") if self.shown[index.row()].enabled else self.tr("off")
        return super().data(index, role)


def searched(entry: WorldEntry) -> str:
    """Return the text that the search looks in."""
    return "\n".join((entry.name, *entry.keywords_main, *entry.keywords_secondary, *entry.groups, entry.content))
