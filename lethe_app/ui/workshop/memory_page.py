"""All that a persona remembers, in one list: to look through by word and by meaning, to change, to add to and to forget."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.listing import MemoryLine
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.ui.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.words import memories_in_words
from lethe_app.ui.workshop.memory_chips import Chips
from lethe_app.ui.workshop.memory_detail import Detail
from lethe_app.ui.workshop.memory_edits import MemoryEdits
from lethe_app.ui.workshop.memory_reader import MemoryReader
from lethe_app.ui.workshop.memory_rows import ADDED, DISTANCE, HOW, LAST, PRIORITY, TIMES, UNTIL, fit, keeper, rows_of
from lethe_app.ui.workshop.memory_whose import Whose
from lethe_app.ui.workshop.page import Page, explanation
from lethe_app.ui.workshop.place import Place
from lethe_app.ui.workshop.split import side_by_side
from lethe_app.ui.workshop.table import SearchField, Table

TYPED_MS = 350
"""A sentence is compared when nobody has typed for so long."""
WIDTHS = {HOW: 164, PRIORITY: 74, ADDED: 112, LAST: 112, TIMES: 66, UNTIL: 112, DISTANCE: 96}
DISPENSABLE = (HOW, ADDED, LAST, TIMES, PRIORITY, UNTIL)
"""Columns in the order in which they stay while the table grows narrow."""
NAME_WIDTH = 200


class MemoryPage(Page):
    """On the left what to look for and the list, on the right the memory under the cursor."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.theme, QCoreApplication.translate("MemoryPage", "Memories"))
        self._place, self._house = place, place.house
        self._distances: dict[str, float] = {}
        self._wanted: UUID | None = None
        self._to_be_named: UUID | None = None
        self.rows = rows_of(place.theme, self._distances)
        self.edits = MemoryEdits(self, place, self._put, self._came_or_went)
        self.reader = MemoryReader(self.rows, place, self)
        self._build()
        self._connect()
        self.whose.begin()

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
        self.detail = Detail(self._place, self.edits.is_unsaved, self)
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
        self.table.opened.connect(lambda _line: self.detail.begin())
        self.table.delete_wanted.connect(self.forget)
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
        self.reader.begin(persona)
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
            self.rows.replace(MemoryLine.of(memory))
        else:
            self._place.bridge.spawn(self.detail.load(memory.guid), lane="memory detail")

    async def _offer_filed(self, persona: str) -> None:
        filed = await self._house.browsing.filed(persona)
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
        found = await self._house.browsing.distances(persona, text) if text else {}
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
        found = await self._house.brain.would_recall(self.whose.persona, text, session.guid if session and same else None)
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
            self.detail.begin()

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
            self.detail.put(name, value)
            self.rows.replace(MemoryLine.of(self.detail.memory))

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

    def forget(self, lines: list[MemoryLine]) -> None:
        """All but conversations, which have a list and a trash of their own."""
        memories = [line for line in lines if not line.is_session]
        if memories:
            self.edits.forget(self.whose.persona, memories)
        elif lines:
            self._place.window.notifier.tell(self.tr("Conversations are deleted in the list of conversations."))

    def _forget_shown(self) -> None:
        self.forget(self.table.selected)

    def _show_menu(self, place: QPoint) -> None:
        lines = self.table.selected
        if not lines:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries: list[tuple[str, Callable[[], object], bool]] = [
            (self.tr("Open"), self.detail.begin, True),
            (self.tr("Duplicate"), self.duplicate, len(lines) == 1 and not lines[0].is_session),
            (self.tr("Forget"), lambda: self.forget(lines), any(not line.is_session for line in lines)),
        ]
        for words, slot, can in entries:
            menu.addAction(words, slot).setEnabled(can)
        menu.popup(place)
