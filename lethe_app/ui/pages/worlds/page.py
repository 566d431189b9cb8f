"""Page “Worlds (lorebooks)”: list of worlds, table of entries, forms and test bench."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QSplitter, QWidget

from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.services.worlds.service import WorldSaved
from lethe_app.ui.core.formatting import counted
from lethe_app.ui.core.theme import Theme, chrome_size
from lethe_app.ui.dialogs.dialogs import ConfirmDialog, answered
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.worlds.deletion import WorldDeletion
from lethe_app.ui.pages.worlds.detail import WorldEntryDetail
from lethe_app.ui.pages.worlds.editor_state import WorldBook
from lethe_app.ui.pages.worlds.list import WorldList
from lethe_app.ui.pages.worlds.remember import RememberAction
from lethe_app.ui.pages.worlds.table import EntryTable
from lethe_app.ui.pages.worlds.table_model import EntryRows
from lethe_app.ui.pages.worlds.test_bench import Bench, WorldTrial

WIDE, MEDIUM = 1060, 760
"""Minimum widths in pixels of the layouts with three and with two panes, at the default text size."""
LIST, DETAIL = 236, 372


class WorldPanes(QSplitter):
    """Splitter that shows list, table and detail; in a medium window list and one of the others, in a narrow one a single
    pane.
    """

    fitted = Signal()

    def __init__(self, theme: Theme, list_: QWidget, table: QWidget, detail: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._list, self._table, self._detail = theme, list_, table, detail
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        for widget in (list_, table, detail):
            self.addWidget(widget)
        self.setStretchFactor(1, 1)
        self._front = "table"
        self._mode = self._shown = ""
        self._arrange()

    @property
    def is_wide(self) -> bool:
        return self._mode == "wide"

    @property
    def hides_list(self) -> bool:
        return self._mode == "narrow"

    @property
    def is_detail_over(self) -> bool:
        """True if the detail is shown in place of the table."""
        return not self.is_wide and self._front == "detail"

    def show_detail(self) -> None:
        self._bring("detail")

    def show_table(self) -> None:
        self._bring("table")

    def show_list(self) -> None:
        """Toggle between the list and the table."""
        self._bring("table" if self._front == "list" else "list")

    def _bring(self, front: str) -> None:
        self._front = front
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        scale = chrome_size(self._theme.prose_size) / 13
        width = self.width() / scale
        mode = "wide" if width >= WIDE else "medium" if width >= MEDIUM else "narrow"
        front = self._front if mode != "medium" or self._front != "list" else "table"
        self._list.setVisible(mode != "narrow" or front == "list")
        self._table.setVisible(mode == "wide" or front == "table")
        self._detail.setVisible(mode == "wide" or front == "detail")
        if (mode, front) == (self._mode, self._shown):
            return
        self._mode, self._shown = mode, front
        self._list.setMinimumWidth(round(150 * scale))
        self._detail.setMinimumWidth(round(330 * scale))
        left, right = round(LIST * scale), round(DETAIL * scale)
        rest = max(self.width() - left, 100)
        self.setSizes([left, max(rest - right, 100), right] if mode == "wide" else [left, rest, rest])
        self.fitted.emit()


class WorldPage(Page):
    """Page that saves changes automatically; every edit can be undone while the page is open."""

    def __init__(self, place: PageContext) -> None:
        super().__init__(place.theme, self.tr("Worlds (lorebooks)"))
        self._place, self._worlds = place, place.services.worlds
        self.book = WorldBook(place, self.undo)
        self.rows = EntryRows(self.theme, lambda texts: place.bridge.spawn(self._count(list(texts))))
        self.list = WorldList(self.theme, self._takes_part)
        self.table = EntryTable(self.theme, self.book, self.rows)
        self.detail = WorldEntryDetail(place, self.book)
        self._wants_name = False
        self._remembering = RememberAction(place, self.undo)
        self._farewell = WorldDeletion(place, self.book)
        self._build()
        self.trying = WorldTrial(place, self.book, self.desk)
        self._add_keys()
        self._connect()
        self._forget = place.services.models.changed.add(lambda _state: self.rows.forget_tokens())
        self._opening = place.bridge.spawn(self._open(), lane="worlds")

    def _build(self) -> None:
        self.panes = WorldPanes(self.theme, self.list, self.table, self.detail)
        self.desk = QSplitter(Qt.Orientation.Vertical)
        self.desk.setChildrenCollapsible(False)
        self.desk.setHandleWidth(1)
        self.desk.addWidget(self.panes)
        self.desk.setStretchFactor(0, 1)
        self.body.addWidget(self.desk, 1)
        self.worlds_button = self.add_button(self.tr("Worlds"), self.panes.show_list, "globe")
        self.try_button = self.add_button(self.tr("Test bench"), self._toggle_bench, "play")
        self.try_button.setToolTip(self.tr("Test which entries a text activates  Ctrl+T"))
        self.panes.fitted.connect(self._fit)
        self._fit()

    @property
    def bench(self) -> Bench:
        """The test bench, created when it is first opened."""
        return self.trying.bench

    def _add_keys(self) -> None:
        keys: list[tuple[str, QWidget, Callable[[], object]]] = [
            ("Ctrl+T", self, self._toggle_bench),
            ("Ctrl+S", self, lambda: self._place.bridge.spawn(self._save())),
            ("Ctrl+Return", self, self._new_entry),
            ("F2", self.list, self._rename),
        ]
        for key, where, slot in keys:
            shortcut = QShortcut(QKeySequence(key), where)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)

    def _connect(self) -> None:
        book = self.book
        book.listed.connect(self._show_list)
        book.turned.connect(self._turn)
        book.changed.connect(self._follow)
        book.written.connect(self._written)
        book.deleted.connect(self._tell_deleted)
        self.list.chosen.connect(self._choose_world)
        self.list.create_wanted.connect(self._create)
        self.list.duplicate_wanted.connect(self._duplicate)
        self.list.rename_wanted.connect(self._rename)
        self.list.delete_wanted.connect(self._farewell.ask)
        self.list.entered.connect(self._enter)
        self.table.chosen.connect(self._show_detail)
        self.table.opened.connect(lambda _entry: self._edit())
        self.table.about_wanted.connect(self._show_about)
        self.table.new_wanted.connect(self._new_entry)
        self.table.remember_wanted.connect(self._remembering.ask)
        self.detail.remember_wanted.connect(self._remembering.ask)
        self.detail.delete_wanted.connect(lambda: book.delete_entries(self.table.table.selected))
        self.detail.back_wanted.connect(self._back_to_table)
        self.trying.opened.connect(self._open_tried)

    async def _open(self) -> None:
        await self.detail.show_owners()
        await self.book.load()
        for problem in await self._worlds.problems():
            self._place.window.notifier.report(problem)
        self.detail.measure_by(await self._worlds.trials.said(self._place.session()))
        await self.trying.load()
        self.rows.set_fired(await self._worlds.counts())

    async def open_entry(self, stem: str, guid: UUID) -> None:
        """Show an entry once the page is loaded."""
        if self._opening is not None:
            await self._opening
        self._open_tried(stem, guid)

    # the page itself

    def first_focus(self) -> QWidget:
        return self.list.table

    async def may_leave(self) -> bool:
        if await self._worlds.flush():
            return True
        question = ConfirmDialog(
            self._place.window,
            self.tr("Leave with unsaved changes?"),
            self.tr(
                "Your changes are kept until you close Lethe. Lethe tries to save them again with the next change "
                "and when it is closed."
            ),
            self.tr("Leave"),
        )
        return await answered(question)

    def close_page(self) -> None:
        self._forget()
        self.book.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the test bench or the detail on Esc before the page itself."""
        focus = self.focusWidget()
        if event.key() == Qt.Key.Key_Escape and self.trying.holds(focus):
            self._toggle_bench()
        elif event.key() == Qt.Key.Key_Escape and self.panes.is_detail_over:
            self._back_to_table()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _fit(self) -> None:
        self.worlds_button.setVisible(self.panes.hides_list)
        self.table.edit.setVisible(not self.panes.is_wide)
        self.detail.fit(is_wide=self.panes.is_wide)

    def _make_room(self) -> None:
        """Hide everything else while the test bench is open in a window too narrow for both."""
        self.panes.setVisible(not self.trying.is_open or self.bench.fits_beside(self.width()))

    async def _save(self) -> None:
        await self._worlds.flush()

    def _written(self, kept: WorldSaved) -> None:
        notifier = self._place.window.notifier
        if kept.error is not None:
            self.subtitle.set_full(self.tr("not saved"))
            notifier.report(kept.error)
            return
        self.subtitle.set_full(self.tr("saved"))
        if kept.replaced is not None:
            notifier.tell(
                self.tr("“{file}” was changed by another program.").format(file=f"{kept.stem}.json"),
                self.tr("Your version was saved; the other one is in the Trash as {name}.").format(name=kept.replaced.name),
            )

    async def _count(self, texts: list[str]) -> None:
        self.rows.set_tokens(dict(zip(texts, await self._worlds.tokens(texts), strict=True)))

    # worlds

    def _takes_part(self, stem: str) -> bool:
        return any(stem in names for names in self.book.bound.values())

    def _show_list(self) -> None:
        self.list.fill(list(self.book.held.values()), self.book.stem)
        self.detail.about.show_bound(self.book.bound, self.book.stem)

    def _choose_world(self, stem: str) -> None:
        if stem != self.book.stem:
            self.book.show(stem)

    def _turn(self, world: World | None) -> None:
        """Show another world."""
        self.list.go_to(self.book.stem)
        self.table.search.clear()
        self.table.table.clearSelection()
        self.table.show_world(world, anew=True)
        self.table.setEnabled(world is not None)
        self.detail.show_world(world)
        self.subtitle.set_full(world.description if world is not None else "")
        self._show_detail()
        self.trying.soon()
        if self._wants_name and world is not None:
            self._wants_name = False
            self._rename()

    def _follow(self, world: World) -> None:
        """Show a new version of the world on display."""
        self.subtitle.set_full(self.tr("saving…"))
        self.table.show_world(world, anew=False)
        self.detail.show_world(world)
        self._show_detail()
        self.trying.soon()

    def _create(self) -> None:
        self._wants_name = True
        self.book.create(self._free_name(self.tr("New world")))

    def _duplicate(self) -> None:
        if self.book.world is not None:
            self._wants_name = True
            self.book.duplicate(self._free_name(self.tr("{name} (copy)").format(name=self.book.world.name)))

    def _rename(self) -> None:
        self._show_about()
        self.detail.focus_first_field()

    def _free_name(self, wanted: str) -> str:
        taken = {held.world.name for held in self.book.held.values()}
        names = (wanted if number == 1 else f"{wanted} {number}" for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

    def _enter(self) -> None:
        """Move the focus from the list to the entries."""
        self.panes.show_table()
        self.table.table.setFocus()

    # entries

    def _new_entry(self) -> None:
        if self.book.world is None:
            return
        self.table.search.clear()
        entry = self.book.add_entry("")
        if entry is not None:
            self.table.table.clearSelection()
            self.table.go_to(entry.guid)
            self._edit()

    def _edit(self) -> None:
        """Show the selected entries and focus the first field."""
        self._show_detail()
        self.panes.show_detail()
        self.detail.focus_first_field()

    def _show_about(self) -> None:
        self.table.table.clearSelection()
        self._show_detail()
        self.panes.show_detail()

    def _back_to_table(self) -> None:
        self.panes.show_table()
        self.table.table.setFocus()

    def _show_detail(self) -> None:
        """Show the selected entries, or the settings of the world if there are none."""
        chosen = self.table.table.selected
        self.detail.show_chosen(chosen)
        self.table.edit.setEnabled(bool(chosen))

    def _tell_deleted(self, stem: str, entries: list[WorldEntry]) -> None:
        one = self.tr("“{name}” was deleted.").format(name=entries[0].name or self.tr("An entry"))
        words = one if len(entries) == 1 else counted(len(entries), "", self.tr("{n} entries were deleted."))

        def take_back() -> None:
            self.book.put_back(stem, entries)

        self._place.window.notifier.tell(words, button=self.tr("Undo"), action=take_back)

    # the test bench

    def _toggle_bench(self) -> None:
        """Open the test bench and focus its text, or close it."""
        self.trying.toggle()
        self._make_room()
        if not self.trying.is_open:
            self.table.table.setFocus()

    def _open_tried(self, stem: str, guid: UUID) -> None:
        """Show the entry of a test result, in whichever world it is."""
        self._choose_world(stem)
        if self.panes.isHidden():
            self._toggle_bench()
        self.table.go_to(guid)
        self._edit()
