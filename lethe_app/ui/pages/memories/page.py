"""All that a persona remembers, in one list: to look through by word and by meaning, to change, to add to and to forget."""

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
"""The list is read again this long after the last of several changes."""
FREED_AT_ONCE = 1_000
"""Lines that are freed without a pause; tens of thousands would hold the window up."""


class MemoryReader(QObject):
    """`begin` shows the pieces as they come; `again` reads behind what is shown and puts it right at once."""

    done = Signal()
    """All of them are there, or there again."""

    def __init__(self, rows: FilteredTableModel[MemoryLine], place: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._rows, self._place = rows, place
        self._persona = ""
        self._lane = f"memory list {id(self)}"
        self._is_whole = False
        self._is_stale = False
        self.counts: Counter[MemoryType | MemoryInsertion] = Counter()
        """How many there are of each kind and of each way to come to mind."""
        self._soon = QTimer(self, singleShot=True, interval=CHANGED_MS)
        self._soon.timeout.connect(self.again)
        brain, sessions = place.services.brain, place.services.sessions
        self._stop = [brain.changed.add(self._changed), sessions.changed.add(self._changed)]

    def show_persona(self, persona: str) -> None:
        """Another persona's."""
        self._persona, self._is_whole, self._is_stale = persona, False, False
        self._empty()
        self._place.bridge.spawn(self._read(), lane=self._lane)

    def again(self) -> None:
        """What is shown may no longer be true."""
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
        """Compared piece by piece; lines that are as they were stay, and the ones just read are freed with their piece."""
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
    """Free them a few at a time."""
    while lines:
        del lines[-FREED_AT_ONCE:]
        await asyncio.sleep(0)


TYPED_MS = 350
"""A sentence is compared when nobody has typed for so long."""
WIDTHS = {HOW: 164, PRIORITY: 74, ADDED: 112, LAST: 112, TIMES: 66, UNTIL: 112, DISTANCE: 96}
DISPENSABLE = (HOW, ADDED, LAST, TIMES, PRIORITY, UNTIL)
"""Columns in the order in which they stay while the table grows narrow."""
NAME_WIDTH = 200


class MemoryPage(Page):
    """On the left what to look for and the list, on the right the memory under the cursor."""

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
        self.search = SearchField(self.theme, self.tr("Find in memories"))
        self.by_meaning = QPushButton(self.tr("By meaning"))
        self.by_meaning.setCheckable(True)
        self.by_meaning.setProperty("chip", True)
        self.by_meaning.setToolTip(self.tr("Look for what is nearest to a sentence, whatever its words"))
        self.recall = QPushButton(self.tr("What would this bring up?"))
        self.recall.setProperty("filled", True)
        self.recall.setToolTip(self.tr("Try a sentence as if you said it now"))
        self.chips = Chips()
        self.hint = explanation("")
        self.hint.hide()
        empty = self.tr("No memories yet. They come by talking, and you can write the first one yourself.")
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
        """Go to a memory of that persona's as soon as it is read."""
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
        """Without any filter."""
        self.chips.turn_off()
        self.by_meaning.setChecked(False)
        self.search.clear()
        self._filter()

    def _look(self) -> None:
        """The words changed."""
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
        """By meaning the nearest comes first; by words the order is what it was before."""
        self.search.setPlaceholderText(self.tr("A sentence to compare with") if on else self.tr("Find in memories"))
        self.table.setColumnHidden(DISTANCE, not on)
        self.table.sortByColumn(DISTANCE if on else -1, Qt.SortOrder.AscendingOrder)
        fit(self.table, WIDTHS, DISPENSABLE, NAME_WIDTH)
        self.hint.hide()
        self.search.setFocus()
        self._typed.start(0) if on else self._filter()

    async def _measure(self) -> None:
        """How far everything lies from the sentence."""
        text, persona = self.search.text().strip(), self.whose.persona
        found = await self._services.browsing.distances(persona, text) if text else {}
        self._distances.clear()
        self._distances.update(found)
        has_none = bool(text) and not found
        self.hint.setText(self.tr("Nothing could be compared: meanings are not ready, or there is nothing to compare with."))
        self.hint.setVisible(has_none)
        self.rows.finish()
        self._filter()

    async def _would_recall(self) -> None:
        """What the sentence would bring up if it were said now."""
        text, session = self.search.text().strip(), self._place.session()
        if not text:
            self.hint.setText(self.tr("Write a sentence first, as you would say it."))
            self.hint.show()
            self.search.setFocus()
            return
        self.hint.hide()
        same = session is not None and session.persona_id == self.whose.persona
        found = await self._services.brain.would_recall(self.whose.persona, text, session.guid if session and same else None)
        listed = {line.guid for line in self.rows.everything}
        self.detail.recall.show_memory(self.whose.persona_name, text, found, listed.__contains__)
        self.detail.show_recall()

    # one memory

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
        """A change, done or undone, is seen at once."""
        if self.detail.memory is not None and self.detail.memory.guid == guid:
            self.detail.set_field(name, value)
            self.rows.replace(MemoryLine.from_memory(self.detail.memory))

    def _came_or_went(self, wanted: UUID | None) -> None:
        self._wanted = wanted or self._wanted
        self.reader.again()

    # buttons and menu

    def new(self) -> None:
        """A memory to be written now."""
        memory = MemoryUnit(name=self.tr("New memory"))
        self._to_be_named = memory.guid
        self.edits.add(self.whose.persona, memory, self.tr("adding a memory"))

    def duplicate(self) -> None:
        if self.detail.memory is not None and self.detail.memory.category is not MemoryType.CHAT_SESSION:
            self.edits.duplicate(self.whose.persona, self.detail.memory)

    def forget_memories(self, lines: list[MemoryLine]) -> None:
        """All but conversations, which have a list and a trash of their own."""
        memories = [line for line in lines if not line.is_session]
        if memories:
            self.edits.forget_memories(self.whose.persona, memories)
        elif lines:
            self._place.window.notifier.tell(self.tr("Conversations are deleted in the list of conversations."))

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
