"""Page “Memories”: the memories of a persona, searched by word or meaning, edited, added and forgotten."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.list_items import MemoryLine
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.ui.core.formatting import memories_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.memories.commands import MemoryEdits
from lethe_app.ui.pages.memories.detail import MemoryDetail
from lethe_app.ui.pages.memories.filters import Chips
from lethe_app.ui.pages.memories.table_model import ADDED, DISTANCE, HOW, LAST, PRIORITY, TIMES, UNTIL, fit, keeper, rows_of
from lethe_app.ui.pages.page import Page, explanation
from lethe_app.ui.pages.persona_selector import Whose
from lethe_app.ui.widgets.card_column import side_by_side
from lethe_app.ui.widgets.table import SearchField, Table
from lethe_app.ui.widgets.table_model import FilteredTableModel

CHANGED_MS = 300
"""Delay in milliseconds after which the list is reloaded; further changes within it restart it."""
FREED_AT_ONCE = 1_000
"""Lines freed without returning to the event loop; tens of thousands at once would block the window."""


class MemoryReader(QObject):
    """Loader of the memory list: `show_persona` fills it chunk by chunk, `again` reloads in the background and replaces it
    at once.
    """

    done = Signal()
    """All lines are loaded or reloaded."""

    def __init__(self, rows: FilteredTableModel[MemoryLine], place: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._rows, self._place = rows, place
        self._persona = ""
        self._lane = f"memory list {id(self)}"
        self._is_whole = False
        self._is_stale = False
        self.counts: Counter[MemoryType | MemoryInsertion] = Counter()
        """Number of memories of each type, and of each recall mode without conversations."""
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self.again)
        brain, sessions = place.services.brain, place.services.sessions
        self._stop = [brain.changed.add(self._changed), sessions.changed.add(self._changed)]

    def show_persona(self, persona: str) -> None:
        """Clear the list and load the memories of another persona."""
        self._persona, self._is_whole, self._is_stale = persona, False, False
        self._empty()
        self._place.bridge.spawn(self._read(), lane=self._lane)

    def again(self) -> None:
        """Reload the list because it may be outdated; during the first load, it is reloaded afterwards."""
        if not self._is_whole:
            self._is_stale = True
        elif self._persona:
            self._place.bridge.spawn(self._read_behind(), lane=self._lane)

    def close(self) -> None:
        self._soon.stop()
        self._place.bridge.cancel(self._lane)
        for stop in self._stop:
            stop()
        self._empty()

    def _changed(self, persona: str) -> None:
        if persona == self._persona:
            self._soon.start()

    def _empty(self) -> None:
        self._place.bridge.spawn(let_go(self._rows.fill([])))

    async def _read(self) -> None:
        counts: Counter[MemoryType | MemoryInsertion] = Counter()
        async for lines in self._place.services.browsing.lines(self._persona):
            self._rows.extend(lines)
            _count(counts, lines)
        self._rows.finish()
        self.counts = counts
        self._is_whole = True
        self.done.emit()
        if self._is_stale:
            self._is_stale = False
            await self._read_behind()

    async def _read_behind(self) -> None:
        """Reload all lines and compare them chunk by chunk; unchanged lines keep their objects, so that the new ones are
        freed at once.
        """
        held, fresh, is_same = self._rows.everything, list[MemoryLine](), True
        counts: Counter[MemoryType | MemoryInsertion] = Counter()
        async for lines in self._place.services.browsing.lines(self._persona):
            before = held[len(fresh) : len(fresh) + len(lines)]
            is_same = is_same and before == lines
            fresh += before if is_same else lines
            _count(counts, lines)
        if not is_same or len(fresh) != len(held):
            before = self._rows.fill(fresh)
            self.counts = counts
            self.done.emit()
            await let_go(before)
        else:
            self.done.emit()


def _count(counts: Counter[MemoryType | MemoryInsertion], lines: Iterable[MemoryLine]) -> None:
    for line in lines:
        counts[line.category] += 1
        if not line.is_session:
            counts[line.insertion] += 1


async def let_go(lines: list[MemoryLine]) -> None:
    """Free lines in batches of `FREED_AT_ONCE`, between which the event loop runs."""
    while lines:
        del lines[-FREED_AT_ONCE:]
        await asyncio.sleep(0)


TYPED_MS = 350
"""Pause in typing, in milliseconds, after which the distances to the sentence are computed."""
WIDTHS = {HOW: 164, PRIORITY: 74, ADDED: 112, LAST: 112, TIMES: 66, UNTIL: 112, DISTANCE: 96}
DISPENSABLE = (HOW, ADDED, LAST, TIMES, PRIORITY, UNTIL)
"""Columns that a narrow table hides, the last one first."""
NAME_WIDTH = 200


class MemoryPage(Page):
    """Page with the search field and the list on the left and the selected memory on the right."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, QCoreApplication.translate("MemoryPage", "Memories"))
        self._place, self._services = place, place.services
        self._distances: dict[str, float] = {}
        self._wanted: UUID | None = None
        self._to_be_named: UUID | None = None
        self.rows = rows_of(place.theme, self._distances)
        self.edits = MemoryEdits(self, place, self._put, self._came_or_went)
        self.reader = MemoryReader(self.rows, place, self)
        self._build()
        self._connect()
        self.whose.announce_first()

    def _build(self) -> None:
        self.add_button(self.tr("New memory"), self.new, "plus", primary=True)
        self.whose = Whose(self._place)
        self.search = SearchField(self.theme, self.tr("Search memories"))
        self.by_meaning = QPushButton(self.tr("By meaning"))
        self.by_meaning.setCheckable(True)
        self.by_meaning.setProperty("chip", True)
        self.by_meaning.setToolTip(self.tr("Search for memories with a similar meaning instead of the same words"))
        self.recall = QPushButton(self.tr("Test recall"))
        self.recall.setProperty("filled", True)
        self.recall.setToolTip(self.tr("Show which memories this message would recall"))
        self.chips = Chips()
        self.hint = explanation("")
        self.hint.hide()
        empty = self.tr("No memories yet. They are created as you chat, or you can write one yourself.")
        self.table: Table[MemoryLine] = Table(self.rows, self.theme, self.tr("Memories"), empty)
        self.table.setColumnHidden(DISTANCE, True)
        self.detail = MemoryDetail(self._place, self.edits.is_unsaved, self)
        self.search.below = self.table
        self._lay_out()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(SPACE_2)
        line.addWidget(self.whose)
        line.addWidget(self.search, 1)
        line.addWidget(self.by_meaning)
        line.addWidget(self.recall)
        above = QWidget()
        head = QVBoxLayout(above)
        head.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_2)
        head.setSpacing(SPACE_2)
        head.addLayout(line)
        head.addWidget(self.chips)
        head.addWidget(self.hint)
        split = side_by_side(self.table, self.detail)
        self.body.addWidget(above)
        self.body.addWidget(split, 1)

    def _connect(self) -> None:
        spawn = self._place.bridge.spawn
        self._typed = QTimer(self, singleShot=True, interval=TYPED_MS)
        self._typed.timeout.connect(lambda: spawn(self._measure(), lane="memory distances"))
        self.search.textChanged.connect(lambda _text: self._look())
        self.by_meaning.toggled.connect(self._switch)
        self.recall.clicked.connect(lambda: spawn(self._would_recall(), lane="would recall"))
        self.chips.changed.connect(self._filter)
        self.whose.chosen.connect(self._show_persona)
        self.reader.done.connect(self._was_read)
        self.table.current_changed.connect(self._show_current)
        self.table.opened.connect(lambda _line: self.detail.focus_first_field())
        self.table.delete_wanted.connect(self.forget_memories)
        self.table.menu_wanted.connect(self._show_menu)
        self.table.viewport().installEventFilter(self)
        self.detail.changed.connect(self._edited)
        self.detail.recall.wanted.connect(self._go_to)
        self.detail.duplicate_wanted.connect(self.duplicate)
        self.detail.forget_wanted.connect(self._forget_shown)

    def first_focus(self) -> QWidget:
        return self.search

    def show_memory(self, persona: str, guid: UUID) -> None:
        """Select a memory of the given persona as soon as its list is loaded."""
        self._wanted = guid
        self.whose.choose(persona)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.table.viewport():
            fit(self.table, WIDTHS, DISPENSABLE, NAME_WIDTH)
        return False

    async def may_leave(self) -> bool:
        await self.edits.save()
        return True

    def close_page(self) -> None:
        self.whose.close_field()
        self.reader.close()
        self.edits.is_open = False
        self._place.bridge.spawn(self.edits.save())

    # the list

    def _show_persona(self, persona: str) -> None:
        self.chips.turn_off()
        self._distances.clear()
        self.reader.show_persona(persona)
        self._look()

    def _was_read(self) -> None:
        self.chips.offer(self.reader.counts)
        self._place.bridge.spawn(self._offer_filed(self.whose.persona), lane="memory categories")
        self._tell_count()
        if self._distances:
            self._typed.start()  # another content lies elsewhere
        wanted, self._wanted = self._wanted, None
        if wanted is not None and not self.table.go_to(str(wanted)):
            self._show_all()
            self.table.go_to(str(wanted))
        memory, current = self.detail.memory, self.table.current
        if memory is None or current is None or current.guid != str(memory.guid):
            return
        if self.edits.is_unsaved(memory.guid):
            self.rows.replace(MemoryLine.from_memory(memory))
        else:
            self._place.bridge.spawn(self.detail.load(memory.guid), lane="memory detail")

    async def _offer_filed(self, persona: str) -> None:
        filed = await self._services.browsing.filed(persona)
        if persona == self.whose.persona:
            self.chips.filed.offer(filed)
            self.detail.suggest(self.chips.filed.categories)
            if self.chips.filed.guids is not None:
                self._filter()

    def _tell_count(self) -> None:
        total, shown = self.rows.total, len(self.rows.shown)
        few = self.tr("{shown} of {all}").format(shown=QLocale().toString(shown), all=memories_in_words(total))
        self.subtitle.set_full(memories_in_words(total) if shown == total else few)

    def _show_all(self) -> None:
        """Reset all filters."""
        self.chips.turn_off()
        self.by_meaning.setChecked(False)
        self.search.clear()
        self._filter()

    def _look(self) -> None:
        """Search for the text that was entered, by meaning after a pause in typing."""
        if self.by_meaning.isChecked():
            self._typed.start()
        else:
            self._filter()

    def _filter(self) -> None:
        measured = self._distances if self.by_meaning.isChecked() and self.search.text().strip() else None
        words = "" if self.by_meaning.isChecked() else self.search.text()
        self.rows.filter(words, keeper(self.chips.kinds, self.chips.ways, self.chips.states, measured, self.chips.filed.guids))
        self._tell_count()

    def _switch(self, on: bool) -> None:
        """Switch between search by meaning, sorted by distance, and search by word in the default order."""
        self.search.setPlaceholderText(self.tr("Enter a sentence") if on else self.tr("Search memories"))
        self.table.setColumnHidden(DISTANCE, not on)
        self.table.sortByColumn(DISTANCE if on else -1, Qt.SortOrder.AscendingOrder)
        fit(self.table, WIDTHS, DISPENSABLE, NAME_WIDTH)
        self.hint.hide()
        self.search.setFocus()
        self._typed.start(0) if on else self._filter()

    async def _measure(self) -> None:
        """Compute the distances of the nearest memories to the sentence; memories without a distance are filtered out."""
        text, persona = self.search.text().strip(), self.whose.persona
        found = await self._services.browsing.distances(persona, text) if text else {}
        self._distances.clear()
        self._distances.update(found)
        has_none = bool(text) and not found
        self.hint.setText(self.tr("Search by meaning is not available: no memories are indexed yet."))
        self.hint.setVisible(has_none)
        self.rows.finish()
        self._filter()

    async def _would_recall(self) -> None:
        """Show which memories the entered message would recall now."""
        text, session = self.search.text().strip(), self._place.session()
        if not text:
            self.hint.setText(self.tr("Enter a message to test first."))
            self.hint.show()
            self.search.setFocus()
            return
        self.hint.hide()
        same = session is not None and session.persona_id == self.whose.persona
        found = await self._services.lookup.would_recall(self.whose.persona, text, session.guid if session and same else None)
        listed = {line.guid for line in self.rows.everything}
        self.detail.recall.show_memory(self.whose.persona_name, text, found, listed.__contains__)
        self.detail.show_recall()

    # The selected memory.

    def _show_current(self, line: MemoryLine | None) -> None:
        if line is None:
            self.detail.clear()
        elif self.detail.memory is None or str(self.detail.memory.guid) != line.guid:
            self._place.bridge.spawn(self._load(UUID(line.guid)), lane="memory detail")

    async def _load(self, guid: UUID) -> None:
        await self.edits.save()
        await self.detail.load(guid)
        if guid == self._to_be_named:
            self._to_be_named = None
            self.detail.focus_first_field()

    def _go_to(self, guid: str) -> None:
        if not self.table.go_to(guid):
            self._show_all()
            self.table.go_to(guid)
        self.detail.show_current()
        self.table.setFocus()

    def _edited(self, name: str, value: object) -> None:
        if self.detail.memory is not None:
            self.edits.change(self.detail.memory, name, value)

    def _put(self, guid: UUID, name: str, value: object) -> None:
        """Show a changed field at once, in the detail pane and in the list."""
        if self.detail.memory is not None and self.detail.memory.guid == guid:
            self.detail.set_field(name, value)
            self.rows.replace(MemoryLine.from_memory(self.detail.memory))

    def _came_or_went(self, wanted: UUID | None) -> None:
        self._wanted = wanted or self._wanted
        self.reader.again()

    # buttons and menu

    def new(self) -> None:
        """Add an empty memory and put the focus into its name field."""
        memory = MemoryUnit(name=self.tr("New memory"))
        self._to_be_named = memory.guid
        self.edits.add(self.whose.persona, memory, self.tr("adding a memory"))

    def duplicate(self) -> None:
        if self.detail.memory is not None and self.detail.memory.category is not MemoryType.CHAT_SESSION:
            self.edits.duplicate(self.whose.persona, self.detail.memory)

    def forget_memories(self, lines: list[MemoryLine]) -> None:
        """Move memories to the trash. Conversations are skipped, as they are deleted on their own page."""
        memories = [line for line in lines if not line.is_session]
        if memories:
            self.edits.forget_memories(self.whose.persona, memories)
        elif lines:
            self._place.window.notifier.tell(self.tr("Delete conversations on the Conversations page."))

    def _forget_shown(self) -> None:
        self.forget_memories(self.table.selected)

    def _show_menu(self, place: QPoint) -> None:
        lines = self.table.selected
        if not lines:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries: list[tuple[str, Callable[[], object], bool]] = [
            (self.tr("Open"), self.detail.focus_first_field, True),
            (self.tr("Duplicate"), self.duplicate, len(lines) == 1 and not lines[0].is_session),
            (self.tr("Forget"), lambda: self.forget_memories(lines), any(not line.is_session for line in lines)),
        ]
        for words, slot, can in entries:
            menu.addAction(words, slot).setEnabled(can)
        menu.popup(place)
